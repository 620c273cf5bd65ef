/* A libibverbs without devices: enough of it, in memory, to run the bindings and what stands on them on any machine.
 * Three RoCE-like devices on one fabric inside the process. What it copies of real ones, as seen on Soft-RoCE: attach by
 * exact GID, the sender's own group copies, silent loss when no receive is posted, silent loss above the MTU although the
 * send succeeds, queue pairs that stop at the first error and flush, a send queue whose silent requests are freed by
 * a later completion only. Stricter than those: what they would hang or crash on is EBUSY or EINVAL here.
 *
 *     gcc -O2 -shared -fPIC -o libstandin.so standin.c
 */
#define _GNU_SOURCE
#include "verbs_abi.h"
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    DEVICES_MAX = 8,
    GIDS_MAX = 6,
    SGE_MAX = 32,
    QP_MAX = 4096,
    QP_FIRST = 17,
    MR_MAX = 1 << 16,
    GROUPS_MAX = 64,
    MEMBERS_MAX = 56,
    WR_MAX = 1 << 16,
    CQE_MAX = 1 << 20,
    EVENTS_MAX = 64,
    GRH_BYTES = 40,
    MULTICAST_QPN = 0xFFFFFF,
    MULTICAST_LID = 0xC000
};

struct receive {
    uint64_t wr_id;
    int num_sge;
    struct ibv_sge sge[SGE_MAX];
};

struct receive_queue {
    struct receive *ring;
    uint32_t max, max_sge, posted, taken;
};

struct events {
    int fd;
    int count;
    struct ibv_async_event list[EVENTS_MAX];
};

struct context {
    struct ibv_context base;
    struct events events;
    int objects;
};

struct domain {
    struct ibv_pd base;
    int objects;
};

struct region {
    struct ibv_mr base;
    int access;
    int is_mapped;
    char *memory;
};

struct channel {
    struct ibv_comp_channel base;
    struct events events;
};

struct completion {
    struct ibv_wc wc;
    struct queue_pair *sender;
    uint32_t released;
};

struct completion_queue {
    struct ibv_cq base;
    struct completion *ring;
    uint32_t head, tail;
    int armed, is_overrun, is_broken, users;
    unsigned unacknowledged;
};

struct shared_queue {
    struct ibv_srq base;
    struct receive_queue receives;
    int users;
};

enum { LATE_MAX = 256 };

struct late_send {
    struct ibv_send_wr wr;
    struct ibv_sge sge[SGE_MAX];
};

struct queue_pair {
    struct ibv_qp base;
    struct ibv_qp_attr attr;
    struct receive_queue receives;
    uint32_t posted, released;
    int groups, signals_all, blocks_loopback;
    /* Those not come to yet. */
    struct late_send *late;
    uint32_t late_count;
    int late_polls;
};

struct address {
    struct ibv_ah base;
    struct ibv_ah_attr attr;
    /* Kept by the kernel while it is used, whatever becomes of the table. */
    union ibv_gid from;
};

struct group {
    union ibv_gid gid;
    uint16_t lid;
    int count;
    struct queue_pair *members[MEMBERS_MAX];
};

struct piece {
    char *memory;
    uint32_t length;
};

static struct ibv_device devices[DEVICES_MAX];
static int connect_fails, connect_hangs;
static int extended = 1, flags_refused, iwarp, subnet, device_count = 3, mtu_bytes = 4096, port_state = IBV_PORT_ACTIVE, ah_hangs, ah_fails, takes_dma_buf, drop_every, knows_devices, sends_late, failing_errno, gone_errno;
static int requests_max = WR_MAX, completions_max = CQE_MAX;
static const char *failing = "";
static struct queue_pair *queue_pairs[QP_MAX];
static struct region *regions[MR_MAX];
static uint32_t next_qp, next_region;
static struct group groups[GROUPS_MAX];
static int interface_index = 1, ipv4_index = 1, looks_up_gids, twins;
static long live, overruns, swallowed, delivered, dropped, connected_class, connected_count, connecting;
static long sent, signalled, send_calls, receive_calls, poll_calls, attached, registrations, overruns_receiving, flagged, blocked, refusals;
static int lock_word;

static void lock(void) {
    for (int spins = 0; __atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE); spins++)
        if (spins > 100) sched_yield();
}

static void unlock(void) { __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE); }

/* ---- what tests turn and read -------------------------------------------------------------------------------- */

void standin_devices(int count) { device_count = count; }
void standin_mtu(int bytes) { mtu_bytes = bytes; }
/* Contexts with a verbs_context before them, from then on; 0 for those without, 2 for those of a library that knew less. */
void standin_extended(int how) { extended = how; }
/* Devices that make no queue pairs with flags, with that error. */
void standin_flags_refused(int error) { flags_refused = error; }
/* Queue pairs asked for with flags, and copies kept away. */
long standin_flagged(void) { return flagged; }
long standin_blocked(void) { return blocked; }
/* Devices of iWARP. */
void standin_iwarp(int are) { iwarp = are; }
/* InfiniBand: no addresses but GIDs, and nothing goes anywhere without local identifiers. */
void standin_subnet(int managed) { subnet = managed; }
/* Neighbours that do not answer, until turned off. */
void standin_ah_hangs(int hangs) { __atomic_store_n(&ah_hangs, hangs, __ATOMIC_SEQ_CST); }
void standin_ah_fails(int error) { __atomic_store_n(&ah_fails, error, __ATOMIC_SEQ_CST); }
/* Reliable connections that the kernel refuses to make, with that error; 0 for none. */
void standin_connect_fails(int error) { __atomic_store_n(&connect_fails, error, __ATOMIC_SEQ_CST); }
/* Peers whose neighbour does not answer: connecting to them waits until turned off. */
void standin_connect_hangs(int hangs) { __atomic_store_n(&connect_hangs, hangs, __ATOMIC_SEQ_CST); }
void standin_port_state(int state) { port_state = state; }
/* The network interface that devices say they are on. */
void standin_interface(int index) { interface_index = index; }
/* Where tables have the address of IPv4, 1 to 5; 6 where it is gone. */
void standin_ipv4_index(int index) { ipv4_index = index; }
/* Tables as cards have them: each address of RoCE v1 first, at 0 and 1, then of v2, and a global one of IPv6 at 4. */
void standin_twins(int have) { twins = have, ipv4_index = have ? 3 : 1; }
/* Devices that look for the sender's address in the table for each datagram, as Soft-RoCE does; others keep what was there. */
void standin_looks_up_gids(int looks) { looks_up_gids = looks; }
void standin_takes_dma_buf(int takes) { takes_dma_buf = takes; }
/* Devices that come to a send only when its completions are looked for that often, and forget what they have not come to
 * when the queue pair goes; 0 for those that send at once. */
void standin_sends_late(int polls) { sends_late = polls; }
/* Whether a driver like nvidia-peermem is there. What is registered so must not be written to. */
void standin_knows_devices(int knows) { knows_devices = knows; }
/* Loses every n-th delivery; 0 for none. */
void standin_drop_every(int n) { drop_every = n; }
/* Devices with short queues; 0 for the usual. */
void standin_requests_max(int n) { requests_max = n ? n : WR_MAX; }
void standin_completions_max(int n) { completions_max = n ? n : CQE_MAX; }
/* Has the next call of that function fail. The name must stay. */
void standin_fail(const char *function, int error) {
    failing_errno = error;
    failing = strdup(function);
}
/* Devices that were removed: they refuse everything with that error, until 0. What is destroyed then is gone, whatever
 * is answered, as kernels have released it. */
void standin_gone(int error) { __atomic_store_n(&gone_errno, error, __ATOMIC_SEQ_CST); }
long standin_live(void) { return live; }
long standin_overruns(void) { return overruns; }
/* Of those, the ones at queue pairs that had receives before, and have never sent anything. */
long standin_overruns_receiving(void) { return overruns_receiving; }
long standin_swallowed(void) { return swallowed; }
long standin_delivered(void) { return delivered; }
long standin_dropped(void) { return dropped; }
/* Datagrams posted to be sent, and those among them whose completion was asked for. */
long standin_sent(void) { return sent; }
long standin_send_calls(void) { return send_calls; }
long standin_receive_calls(void) { return receive_calls; }
long standin_poll_calls(void) { return poll_calls; }
long standin_signalled(void) { return signalled; }
/* Queue pairs attached to groups so far. */
long standin_attached(void) { return attached; }
/* Regions registered so far. */
long standin_registrations(void) { return registrations; }
long standin_refusals(void) { return refusals; }
/* Traffic class of the reliable connection that was made last. */
long standin_connected_class(void) { return connected_class; }
/* Those being connected now. */
long standin_connecting(void) { return __atomic_load_n(&connecting, __ATOMIC_SEQ_CST); }
/* Reliable queue pairs that became ready to receive, ever. */
long standin_connected(void) { return connected_count; }

static int answer(void) { return __atomic_load_n(&gone_errno, __ATOMIC_SEQ_CST); }

static int refuses(const char *function) {
    if (!failing_errno || strcmp(failing, function)) return 0;
    errno = failing_errno;
    failing_errno = 0;
    return errno;
}

/* Who takes an event without the errno asks again for it. */
static int refuses_event(const char *function) {
    static int asked;
    int error = refuses(function);
    if (!error) return 0;
    failing_errno = asked ? 0 : error;
    asked = !asked;
    return error;
}

static int fails(const char *function) {
    int error = answer();
    if (error) errno = error;
    return error ? error : refuses(function);
}

static void *refused(int error) {
    errno = error;
    return NULL;
}

static void *made(size_t bytes) {
    __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
    return calloc(1, bytes);
}

static void gone(void *object) {
    __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
    free(object);
}

/* ---- events -------------------------------------------------------------------------------------------------- */

static void event_add(struct events *events, struct ibv_async_event event) {
    uint64_t one = 1;
    if (events->count == EVENTS_MAX) return;
    events->list[events->count++] = event;
    if (write(events->fd, &one, sizeof one) < 0) abort();
}

static int event_take(struct events *events, struct ibv_async_event *event) {
    for (;;) {
        uint64_t one;
        if (read(events->fd, &one, sizeof one) < 0) return -1;
        lock();
        int found = events->count > 0;
        if (found) {
            *event = events->list[0];
            memmove(events->list, events->list + 1, --events->count * sizeof *event);
        }
        unlock();
        if (found) return 0;
    }
}

static void event_forget(struct events *events, const void *object) {
    int kept = 0;
    for (int i = 0; i < events->count; i++)
        if (events->list[i].element.cq != object) events->list[kept++] = events->list[i];
    events->count = kept;
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

struct ibv_device **ibv_get_device_list(int *count) {
    if (fails("ibv_get_device_list")) return NULL;
    struct ibv_device **list = calloc(device_count + 1, sizeof *list);
    for (int i = 0; i < device_count; i++) {
        devices[i].node_type = iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
        devices[i].transport_type = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
        snprintf(devices[i].name, sizeof devices[i].name, "standin%d", i);
        list[i] = &devices[i];
    }
    if (count) *count = device_count;
    return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }
const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }
uint64_t ibv_get_device_guid(struct ibv_device *device) { return 0x0100000000000000 * (device - devices + 1); }

static int poll_cq(struct ibv_cq *, int, struct ibv_wc *);
static int req_notify_cq(struct ibv_cq *, int);
static struct ibv_qp *create_qp_ex(struct ibv_context *, struct ibv_qp_init_attr_ex *);
static int post_srq_recv(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
static int post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
static int post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);

struct ibv_context *ibv_open_device(struct ibv_device *device) {
    if (fails("ibv_open_device")) return NULL;
    const size_t before = offsetof(struct verbs_context, context);
    struct verbs_context *extension = made(before + sizeof(struct context));
    struct context *context = (struct context *)((char *)extension + before);
    extension->create_qp_ex = create_qp_ex;
    extension->sz = extended == 2 ? sizeof *extension - before + sizeof extension->sz : sizeof *extension;
    context->base.abi_compat = extended ? __VERBS_ABI_IS_EXTENDED : NULL;
    context->base.device = device;
    context->base.ops.poll_cq = poll_cq;
    context->base.ops.req_notify_cq = req_notify_cq;
    context->base.ops.post_srq_recv = post_srq_recv;
    context->base.ops.post_send = post_send;
    context->base.ops.post_recv = post_recv;
    context->base.cmd_fd = -1;
    context->base.async_fd = context->events.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    context->base.num_comp_vectors = 1;
    return &context->base;
}

int ibv_close_device(struct ibv_context *base) {
    struct context *context = (struct context *)base;
    if (refuses("ibv_close_device")) return errno;
    if (context->objects) return EBUSY;
    close(base->async_fd);
    gone((char *)context - offsetof(struct verbs_context, context));
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr) {
    if (fails("ibv_query_device")) return errno;
    memset(attr, 0, sizeof *attr);
    strcpy(attr->fw_ver, "stand-in 1");
    attr->node_guid = ibv_get_device_guid(context->device);
    attr->max_mr_size = -1;
    attr->max_qp = QP_MAX;
    attr->max_qp_wr = requests_max;
    attr->max_sge = SGE_MAX;
    attr->max_cq = 4096;
    attr->max_cqe = completions_max;
    attr->atomic_cap = IBV_ATOMIC_HCA;
    attr->max_mcast_grp = GROUPS_MAX;
    attr->max_mcast_qp_attach = MEMBERS_MAX;
    attr->max_total_mcast_qp_attach = GROUPS_MAX * MEMBERS_MAX;
    attr->max_srq_wr = requests_max;
    attr->max_pkeys = 1;
    attr->phys_port_cnt = 1;
    return 0;
}

static int mtu_code(void) { return __builtin_ctz(mtu_bytes / 128); }

static uint16_t lid_of(const struct ibv_context *context) { return 0x10 + (context->device - devices); }

int ibv_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr) {
    if (fails("ibv_query_port")) return errno;
    if (port != 1) return EINVAL;
    memset(attr, 0, sizeof *attr);
    attr->state = port_state;
    attr->max_mtu = IBV_MTU_4096;
    attr->active_mtu = mtu_code();
    attr->gid_tbl_len = GIDS_MAX;
    attr->max_msg_sz = 1 << 31;
    attr->pkey_tbl_len = 1;
    attr->link_layer = subnet ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
    attr->lid = subnet ? lid_of(context) : 0;
    return 0;
}

/* fe80::ff:fe00:i and ::ffff:10.77.0.i, perhaps with twins of v1, and fd77::i. */
static int is_link_local(int index) { return index == 0 || (twins && index == 2); }
static int is_ipv4(int index) { return index == ipv4_index || (twins && index == 1); }
static int is_global(int index) { return twins && index == 4; }
static int type_of(int index) { return twins && index < 2 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2; }

static int has_gid(int index) {
    return index < GIDS_MAX && (is_link_local(index) || (!subnet && (is_ipv4(index) || is_global(index))));
}

static union ibv_gid gid_of(const struct ibv_context *context, int index) {
    union ibv_gid gid = {{0}};
    if (is_link_local(index)) memcpy(gid.raw, "\xfe\x80\0\0\0\0\0\0\0\0\0\xff\xfe\0\0", 15);
    if (is_ipv4(index)) memcpy(gid.raw + 10, "\xff\xff\x0a\x4d\0", 5);
    if (is_global(index)) memcpy(gid.raw, "\xfd\x77", 2);
    if (has_gid(index)) gid.raw[15] = context->device - devices + 1;
    return gid;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid) {
    if (refuses("ibv_query_gid")) return -1;
    if (port != 1 || index < 0 || index >= GIDS_MAX) {
        errno = EINVAL;
        return -1;
    }
    *gid = gid_of(context, index);
    return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
                      uint32_t flags, size_t bytes) {
    if (refuses("_ibv_query_gid_ex")) return errno;
    if (port != 1 || index >= GIDS_MAX || flags || bytes != sizeof *entry) return EINVAL;
    if (!has_gid(index)) return ENODATA;
    if (subnet) {
        *entry = (struct ibv_gid_entry){gid_of(context, index), index, port, IBV_GID_TYPE_IB, 0};
        return 0;
    }
    /* The loopback interface, which may join groups without harm. */
    *entry = (struct ibv_gid_entry){gid_of(context, index), index, port, type_of(index), interface_index};
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, uint16_t *pkey) {
    (void)context;
    if (refuses("ibv_query_pkey")) return -1;
    if (port != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = 0xffff;
    return 0;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event) {
    if (refuses_event("ibv_get_async_event")) return -1;
    return event_take(&((struct context *)context)->events, event);
}

void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }

/* ---- memory -------------------------------------------------------------------------------------------------- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
    if (fails("ibv_alloc_pd")) return NULL;
    struct domain *domain = made(sizeof *domain);
    domain->base.context = context;
    ((struct context *)context)->objects++;
    return &domain->base;
}

int ibv_dealloc_pd(struct ibv_pd *base) {
    struct domain *domain = (struct domain *)base;
    if (refuses("ibv_dealloc_pd")) return errno;
    if (domain->objects) return EBUSY;
    ((struct context *)base->context)->objects--;
    gone(domain);
    return answer();
}

static struct ibv_mr *registered(struct ibv_pd *pd, uint64_t start, size_t length, int access, char *memory) {
    if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) && !(access & IBV_ACCESS_LOCAL_WRITE))
        return refused(EINVAL);
    lock();
    uint32_t slot = 0;
    for (int tries = 0; tries < MR_MAX && regions[slot = ++next_region % MR_MAX]; tries++) continue;
    struct region *region = regions[slot] ? NULL : (regions[slot] = made(sizeof *region));
    unlock();
    if (!region) return refused(ENOMEM);
    region->base = (struct ibv_mr){pd->context, pd, (void *)start, length, slot, slot << 8 | 1, slot << 8 | 2};
    region->access = access;
    region->memory = memory;
    __atomic_add_fetch(&registrations, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&((struct domain *)pd)->objects, 1, __ATOMIC_RELAXED);
    return &region->base;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) {
    if (fails("ibv_reg_mr")) return NULL;
    /* No process has memory there: a device's, which only a driver of that device knows. */
    if ((uint64_t)address >> 47 && !knows_devices) return refused(EFAULT);
    return registered(pd, (uint64_t)address, length, access, address);
}

/* A memfd stands for the dma-buf: memory that requests know by another address than the process does. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access) {
    if (fails("ibv_reg_dmabuf_mr")) return NULL;
    if (!takes_dma_buf) {
        __atomic_add_fetch(&refusals, 1, __ATOMIC_RELAXED);
        return refused(EOPNOTSUPP);
    }
    const uint64_t within = offset % 4096;
    if (within != iova % 4096) return refused(EINVAL);
    char *memory = mmap(NULL, length + within, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset - within);
    if (memory == MAP_FAILED) return NULL;
    struct ibv_mr *region = registered(pd, iova, length, access, memory + within);
    if (region)
        ((struct region *)region)->is_mapped = 1;
    else
        munmap(memory, length + within);
    return region;
}

int ibv_dereg_mr(struct ibv_mr *base) {
    struct region *region = (struct region *)base;
    if (refuses("ibv_dereg_mr")) return errno;
    lock();
    regions[base->handle] = NULL;
    unlock();
    __atomic_sub_fetch(&((struct domain *)base->pd)->objects, 1, __ATOMIC_RELAXED);
    const uint64_t within = region->is_mapped ? (uint64_t)region->memory % 4096 : 0;
    if (region->is_mapped) munmap(region->memory - within, base->length + within);
    gone(region);
    return answer();
}

static char *reach(const struct ibv_pd *pd, uint32_t key, int is_remote, uint64_t address, uint64_t length, int access) {
    struct region *region = regions[(key >> 8) % MR_MAX];
    if (!region || key != (is_remote ? region->base.rkey : region->base.lkey) || region->base.pd != pd) return NULL;
    uint64_t offset = address - (uint64_t)region->base.addr;
    if (offset > region->base.length || length > region->base.length - offset) return NULL;
    return (region->access & access) == access ? region->memory + offset : NULL;
}

/* ---- completions --------------------------------------------------------------------------------------------- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
    if (fails("ibv_create_comp_channel")) return NULL;
    struct channel *channel = made(sizeof *channel);
    channel->base.context = context;
    channel->base.fd = channel->events.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    ((struct context *)context)->objects++;
    return &channel->base;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *base) {
    if (refuses("ibv_destroy_comp_channel")) return errno;
    if (base->refcnt) return EBUSY;
    close(base->fd);
    ((struct context *)base->context)->objects--;
    gone(base);
    return answer();
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
                             int vector) {
    if (fails("ibv_create_cq")) return NULL;
    if (cqe < 1 || cqe > completions_max || vector) return refused(EINVAL);
    struct completion_queue *cq = made(sizeof *cq);
    cq->base = (struct ibv_cq){context, channel, cq_context, 0, cqe};
    cq->ring = calloc(cqe, sizeof *cq->ring);
    if (channel) channel->refcnt++;
    ((struct context *)context)->objects++;
    return &cq->base;
}

int ibv_destroy_cq(struct ibv_cq *base) {
    struct completion_queue *cq = (struct completion_queue *)base;
    if (refuses("ibv_destroy_cq")) return errno;
    if (cq->users || cq->unacknowledged) return EBUSY;
    lock();
    if (base->channel) {
        event_forget(&((struct channel *)base->channel)->events, cq);
        base->channel->refcnt--;
    }
    unlock();
    ((struct context *)base->context)->objects--;
    free(cq->ring);
    gone(cq);
    return answer();
}

int ibv_get_cq_event(struct ibv_comp_channel *base, struct ibv_cq **cq, void **cq_context) {
    struct ibv_async_event event;
    if (refuses_event("ibv_get_cq_event")) return -1;
    if (event_take(&((struct channel *)base)->events, &event)) return -1;
    *cq = event.element.cq;
    *cq_context = (*cq)->cq_context;
    ((struct completion_queue *)*cq)->unacknowledged++;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count) { ((struct completion_queue *)cq)->unacknowledged -= count; }

static void complete(struct completion_queue *cq, const struct ibv_wc *wc, struct queue_pair *sender, int is_solicited) {
    if (cq->head - cq->tail == (uint32_t)cq->base.cqe) {
        struct ibv_async_event event = {.element.cq = &cq->base, .event_type = IBV_EVENT_CQ_ERR};
        if (!cq->is_overrun++) event_add(&((struct context *)cq->base.context)->events, event);
        return;
    }
    struct completion *slot = &cq->ring[cq->head++ % cq->base.cqe];
    slot->wc = *wc;
    slot->sender = sender;
    slot->released = sender ? sender->posted : 0;
    if (cq->armed && (cq->armed == 1 || is_solicited || wc->status)) {
        struct ibv_async_event event = {.element.cq = &cq->base};
        cq->armed = 0;
        if (cq->base.channel) event_add(&((struct channel *)cq->base.channel)->events, event);
    }
}

static void send_late(const struct ibv_cq *cq);

static int poll_cq(struct ibv_cq *base, int count, struct ibv_wc *wc) {
    poll_calls++;
    struct completion_queue *cq = (struct completion_queue *)base;
    int taken = 0;
    if (cq->is_broken) return -cq->is_broken;
    lock();
    if (sends_late) send_late(base);
    for (; taken < count && cq->tail != cq->head; taken++, cq->tail++) {
        struct completion *slot = &cq->ring[cq->tail % base->cqe];
        wc[taken] = slot->wc;
        if (slot->sender) slot->sender->released = slot->released;
    }
    unlock();
    return taken;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only) {
    if (refuses("ibv_req_notify_cq")) return errno;
    lock();
    ((struct completion_queue *)cq)->armed = solicited_only ? 2 : 1;
    unlock();
    return 0;
}

/* ---- queues -------------------------------------------------------------------------------------------------- */

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr) {
    if (fails("ibv_create_srq")) return NULL;
    if (!attr->attr.max_wr || attr->attr.max_wr > (uint32_t)requests_max || attr->attr.max_sge > SGE_MAX) return refused(EINVAL);
    struct shared_queue *srq = made(sizeof *srq);
    srq->base = (struct ibv_srq){pd->context, attr->srq_context, pd, 0};
    srq->receives.max = attr->attr.max_wr;
    srq->receives.max_sge = attr->attr.max_sge;
    srq->receives.ring = calloc(srq->receives.max, sizeof *srq->receives.ring);
    __atomic_add_fetch(&((struct domain *)pd)->objects, 1, __ATOMIC_RELAXED);
    return &srq->base;
}

int ibv_destroy_srq(struct ibv_srq *base) {
    struct shared_queue *srq = (struct shared_queue *)base;
    if (refuses("ibv_destroy_srq")) return errno;
    if (srq->users) return EBUSY;
    __atomic_sub_fetch(&((struct domain *)base->pd)->objects, 1, __ATOMIC_RELAXED);
    free(srq->receives.ring);
    gone(srq);
    return answer();
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init) {
    if (fails("ibv_create_qp")) return NULL;
    if (init->qp_type != IBV_QPT_UD && init->qp_type != IBV_QPT_RC) return refused(EOPNOTSUPP);
    if (init->cap.max_send_wr > (uint32_t)requests_max || init->cap.max_recv_wr > (uint32_t)requests_max || init->cap.max_send_sge > SGE_MAX ||
        init->cap.max_recv_sge > SGE_MAX || init->cap.max_inline_data > 512)
        return refused(EINVAL);
    struct queue_pair *qp = made(sizeof *qp);
    lock();
    uint32_t slot = 0;
    for (int tries = 0; tries < QP_MAX && queue_pairs[slot = next_qp++ % QP_MAX]; tries++) continue;
    if (queue_pairs[slot]) {
        unlock();
        gone(qp);
        return refused(ENOMEM);
    }
    queue_pairs[slot] = qp;
    qp->base = (struct ibv_qp){pd->context, init->qp_context, pd,  init->send_cq,   init->recv_cq,
                               init->srq,   slot,             slot + QP_FIRST, IBV_QPS_RESET, init->qp_type};
    qp->attr.cap = init->cap;
    qp->signals_all = init->sq_sig_all;
    qp->receives.max = init->cap.max_recv_wr;
    qp->receives.max_sge = init->cap.max_recv_sge;
    qp->receives.ring = calloc(init->cap.max_recv_wr + 1, sizeof *qp->receives.ring);
    ((struct completion_queue *)init->send_cq)->users++;
    ((struct completion_queue *)init->recv_cq)->users++;
    if (init->srq) ((struct shared_queue *)init->srq)->users++;
    __atomic_add_fetch(&((struct domain *)pd)->objects, 1, __ATOMIC_RELAXED);
    unlock();
    return &qp->base;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init) {
    (void)context;
    flagged++;
    if (fails("ibv_create_qp_ex")) return NULL;
    if (flags_refused) return refused(flags_refused);
    if (init->comp_mask != (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS) || init->xrcd ||
        init->create_flags != IBV_QP_CREATE_BLOCK_SELF_MCAST_LB || init->qp_type != IBV_QPT_UD)
        return refused(EINVAL);
    struct ibv_qp *qp = ibv_create_qp(init->pd, (struct ibv_qp_init_attr *)init);
    if (qp) ((struct queue_pair *)qp)->blocks_loopback = 1;
    return qp;
}

static void forget_sends(struct completion_queue *cq, const struct queue_pair *qp) {
    for (uint32_t i = cq->tail; i != cq->head; i++)
        if (cq->ring[i % cq->base.cqe].sender == qp) cq->ring[i % cq->base.cqe].sender = NULL;
}

int ibv_destroy_qp(struct ibv_qp *base) {
    struct queue_pair *qp = (struct queue_pair *)base;
    if (refuses("ibv_destroy_qp")) return errno;
    if (qp->groups) return EBUSY;
    lock();
    queue_pairs[base->handle] = NULL;
    forget_sends((struct completion_queue *)base->send_cq, qp);
    ((struct completion_queue *)base->send_cq)->users--;
    ((struct completion_queue *)base->recv_cq)->users--;
    if (base->srq) ((struct shared_queue *)base->srq)->users--;
    __atomic_sub_fetch(&((struct domain *)base->pd)->objects, 1, __ATOMIC_RELAXED);
    unlock();
    free(qp->receives.ring);
    free(qp->late);
    gone(qp);
    return answer();
}

static struct queue_pair *find_qp(uint32_t number) {
    return number < QP_FIRST || number - QP_FIRST >= QP_MAX ? NULL : queue_pairs[number - QP_FIRST];
}

static void stop(struct queue_pair *qp) {
    struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR, .qp_num = qp->base.qp_num};
    qp->base.state = IBV_QPS_ERR;
    for (; qp->receives.taken != qp->receives.posted; qp->receives.taken++) {
        wc.wr_id = qp->receives.ring[qp->receives.taken % qp->receives.max].wr_id;
        complete((struct completion_queue *)qp->base.recv_cq, &wc, NULL, 0);
    }
}

static int mask_needed(const struct queue_pair *qp, int state) {
    int is_ud = qp->base.qp_type == IBV_QPT_UD;
    switch (state) {
    case IBV_QPS_INIT:
        return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (is_ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
    case IBV_QPS_RTR:
        return IBV_QP_STATE | (is_ud ? 0
                                     : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    default:
        return IBV_QP_STATE | IBV_QP_SQ_PSN |
               (is_ud ? 0 : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
    }
}

int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask) {
    struct queue_pair *qp = (struct queue_pair *)base;
    if (fails("ibv_modify_qp")) return errno;
    if (!(mask & IBV_QP_STATE)) return EINVAL;
    if ((mask & IBV_QP_AV) && !has_gid(attr->ah_attr.grh.sgid_index)) return EINVAL;
    if ((mask & IBV_QP_AV) && __atomic_load_n(&connect_fails, __ATOMIC_SEQ_CST)) return connect_fails;
    if (mask & IBV_QP_AV) {
        __atomic_add_fetch(&connecting, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&connect_hangs, __ATOMIC_SEQ_CST)) usleep(1000);
        __atomic_sub_fetch(&connecting, 1, __ATOMIC_SEQ_CST);
    }
    int error = 0;
    lock();
    if (attr->qp_state == IBV_QPS_RESET) {
        base->state = IBV_QPS_RESET;
        qp->receives.taken = qp->receives.posted;
        forget_sends((struct completion_queue *)base->send_cq, qp);
        qp->released = qp->posted;
    } else if (attr->qp_state == IBV_QPS_ERR) {
        stop(qp);
    } else if (attr->qp_state != base->state + 1 || attr->qp_state > IBV_QPS_RTS ||
               mask != mask_needed(qp, attr->qp_state) ||
               (attr->qp_state == IBV_QPS_INIT && (attr->port_num != 1 || attr->pkey_index)) ||
               ((mask & IBV_QP_PATH_MTU) && (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > mtu_code()))) {
        error = EINVAL;
    } else {
        base->state = attr->qp_state;
        if (mask & IBV_QP_QKEY) qp->attr.qkey = attr->qkey;
        if (mask & IBV_QP_ACCESS_FLAGS) qp->attr.qp_access_flags = attr->qp_access_flags;
        if (mask & IBV_QP_DEST_QPN) qp->attr.dest_qp_num = attr->dest_qp_num;
        if (mask & IBV_QP_AV) connected_class = (qp->attr.ah_attr = attr->ah_attr).grh.traffic_class, connected_count++;
        if (mask & IBV_QP_RNR_RETRY) qp->attr.rnr_retry = attr->rnr_retry;
    }
    unlock();
    return error;
}

int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init) {
    (void)mask;
    if (fails("ibv_query_qp")) return errno;
    memset(init, 0, sizeof *init);
    *attr = ((struct queue_pair *)base)->attr;
    attr->qp_state = attr->cur_qp_state = base->state;
    init->cap = attr->cap;
    init->qp_type = base->qp_type;
    return 0;
}

/* ---- groups and addresses ------------------------------------------------------------------------------------ */

static int is_ipv4_gid(const union ibv_gid *gid) {
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return !memcmp(gid->raw, mapped, 12);
}

static int is_multicast(const union ibv_gid *gid) {
    return gid->raw[0] == 0xff || (is_ipv4_gid(gid) && gid->raw[12] >> 4 == 0xe);
}

static struct group *find_group(const union ibv_gid *gid) {
    for (int i = 0; i < GROUPS_MAX; i++)
        if (groups[i].count && groups[i].gid.words[0] == gid->words[0] && groups[i].gid.words[1] == gid->words[1])
            return &groups[i];
    return NULL;
}

int ibv_attach_mcast(struct ibv_qp *base, const union ibv_gid *gid, uint16_t lid) {
    struct queue_pair *qp = (struct queue_pair *)base;
    if (fails("ibv_attach_mcast")) return errno;
    if (base->qp_type != IBV_QPT_UD || !is_multicast(gid) || (subnet ? lid < MULTICAST_LID : lid != 0)) return EINVAL;
    lock();
    struct group *group = find_group(gid);
    for (int i = 0; !group && i < GROUPS_MAX; i++)
        if (!groups[i].count) group = &groups[i];
    int error = !group || group->count == MEMBERS_MAX ? ENOMEM : 0;
    if (!error) {
        group->gid = *gid;
        group->lid = lid;
        group->members[group->count++] = qp;
        qp->groups++;
        attached++;
    }
    unlock();
    return error;
}

int ibv_detach_mcast(struct ibv_qp *base, const union ibv_gid *gid, uint16_t lid) {
    struct queue_pair *qp = (struct queue_pair *)base;
    int error = EINVAL;
    (void)lid;
    lock();
    struct group *group = find_group(gid);
    for (int i = 0; group && i < group->count; i++)
        if (group->members[i] == qp) {
            group->members[i] = group->members[--group->count];
            qp->groups--;
            error = 0;
            break;
        }
    unlock();
    /* As kernels do, which forget the attachment before they ask the device. */
    if (fails("ibv_detach_mcast")) return errno;
    return error;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr) {
    if (fails("ibv_create_ah")) return NULL;
    if (attr->port_num != 1 || !attr->is_global || !has_gid(attr->grh.sgid_index)) return refused(EINVAL);
    if (!subnet != !attr->dlid) return refused(EINVAL);
    while (__atomic_load_n(&ah_hangs, __ATOMIC_SEQ_CST) && !is_multicast(&attr->grh.dgid)) usleep(1000);
    if (ah_fails && !is_multicast(&attr->grh.dgid)) return refused(ah_fails);
    struct address *address = made(sizeof *address);
    address->base = (struct ibv_ah){pd->context, pd, 0};
    address->attr = *attr;
    address->from = gid_of(pd->context, attr->grh.sgid_index);
    __atomic_add_fetch(&((struct domain *)pd)->objects, 1, __ATOMIC_RELAXED);
    return &address->base;
}

int ibv_destroy_ah(struct ibv_ah *ah) {
    if (refuses("ibv_destroy_ah")) return errno;
    __atomic_sub_fetch(&((struct domain *)ah->pd)->objects, 1, __ATOMIC_RELAXED);
    gone(ah);
    return answer();
}

/* ---- receiving ----------------------------------------------------------------------------------------------- */

static int receives_post(struct receive_queue *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
    for (; wr; wr = wr->next) {
        int error = (uint32_t)wr->num_sge > queue->max_sge                ? EINVAL
                    : queue->posted - queue->taken == queue->max ? ENOMEM
                                                                 : 0;
        if (error) {
            *bad = wr;
            return error;
        }
        struct receive *receive = &queue->ring[queue->posted++ % queue->max];
        receive->wr_id = wr->wr_id;
        receive->num_sge = wr->num_sge;
        memcpy(receive->sge, wr->sg_list, wr->num_sge * sizeof *wr->sg_list);
    }
    return 0;
}

static int post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
    receive_calls++;
    struct queue_pair *qp = (struct queue_pair *)base;
    *bad = wr;
    if (refuses("ibv_post_recv")) return errno;
    if (base->state == IBV_QPS_RESET || base->srq) return EINVAL;
    lock();
    int error = receives_post(&qp->receives, wr, bad);
    if (base->state == IBV_QPS_ERR) stop(qp);
    unlock();
    return error;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
    *bad = wr;
    if (refuses("ibv_post_recv")) return errno;
    lock();
    int error = receives_post(&((struct shared_queue *)srq)->receives, wr, bad);
    unlock();
    return error;
}

static struct receive *receive_take(struct queue_pair *qp) {
    struct receive_queue *queue = qp->base.srq ? &((struct shared_queue *)qp->base.srq)->receives : &qp->receives;
    return queue->taken == queue->posted ? NULL : &queue->ring[queue->taken++ % queue->max];
}

/* Copies the pieces into a scatter list. */
static int scatter(const struct queue_pair *qp, const struct receive *receive, const struct piece *from, int pieces) {
    uint32_t at = 0;
    for (int i = 0, k = 0; k < pieces; i++) {
        if (i == receive->num_sge) {
            while (k < pieces && from[k].length == 0) k++;
            return k == pieces ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR;
        }
        const struct ibv_sge *sge = &receive->sge[i];
        char *to = reach(qp->base.pd, sge->lkey, 0, sge->addr, sge->length, IBV_ACCESS_LOCAL_WRITE);
        if (!to && sge->length) return IBV_WC_LOC_PROT_ERR;
        for (uint32_t room = sge->length; room && k < pieces;) {
            uint32_t part = from[k].length - at < room ? from[k].length - at : room;
            memcpy(to, from[k].memory + at, part);
            to += part, room -= part, at += part;
            if (at == from[k].length) k++, at = 0;
        }
    }
    return IBV_WC_SUCCESS;
}

static int receive_ends(struct queue_pair *qp, const struct receive *receive, struct ibv_wc *wc, int is_solicited) {
    wc->wr_id = receive->wr_id;
    wc->qp_num = qp->base.qp_num;
    complete((struct completion_queue *)qp->base.recv_cq, wc, NULL, is_solicited);
    if (wc->status) stop(qp);
    return wc->status;
}

static int is_receiving(const struct queue_pair *qp) {
    return qp && qp->base.state >= IBV_QPS_RTR && qp->base.state <= IBV_QPS_SQE;
}

static void deliver(struct queue_pair *qp, const struct ibv_send_wr *wr, struct ibv_wc wc, struct piece *from, int pieces) {
    if (!is_receiving(qp) || qp->base.qp_type != IBV_QPT_UD || qp->attr.qkey != wr->wr.ud.remote_qkey) return;
    if (drop_every && (delivered + dropped + 1) % drop_every == 0) {
        dropped++;
        return;
    }
    struct receive *receive = receive_take(qp);
    if (!receive) {
        overruns++;
        if (!qp->posted && qp->receives.posted) overruns_receiving++;
        return;
    }
    delivered++;
    wc.status = scatter(qp, receive, from, pieces);
    receive_ends(qp, receive, &wc, wr->send_flags & IBV_SEND_SOLICITED);
}

/* ---- sending ------------------------------------------------------------------------------------------------- */

/* What stands before a datagram: the IPv6 header, or 20 zeros and the IPv4 header. */
static void route(char *header, const struct address *ah, uint32_t length) {
    union ibv_gid from = ah->from;
    memset(header, 0, GRH_BYTES);
    if (is_ipv4_gid(&ah->from)) {
        uint16_t total = htons(20 + length);
        header[20] = 0x45;
        header[21] = ah->attr.grh.traffic_class;
        memcpy(header + 22, &total, sizeof total);
        header[28] = ah->attr.grh.hop_limit;
        header[29] = 17;
        memcpy(header + 32, from.raw + 12, 4);
        memcpy(header + 36, ah->attr.grh.dgid.raw + 12, 4);
    } else {
        uint16_t payload = htons(length);
        header[0] = 0x60 | ah->attr.grh.traffic_class >> 4;
        header[1] = ah->attr.grh.traffic_class << 4;
        memcpy(header + 4, &payload, sizeof payload);
        header[6] = 17;
        header[7] = ah->attr.grh.hop_limit;
        memcpy(header + 8, from.raw, 16);
        memcpy(header + 24, ah->attr.grh.dgid.raw, 16);
    }
}

static int send_datagram(struct queue_pair *qp, const struct ibv_send_wr *wr, struct piece *from, int pieces) {
    const struct address *ah = (const struct address *)wr->wr.ud.ah;
    char header[GRH_BYTES];
    uint32_t length = 0;
    for (int i = 1; i < pieces; i++) length += from[i].length;
    if (length > (uint32_t)mtu_bytes) {
        swallowed++;
        return IBV_WC_SUCCESS;
    }
    if (ah->base.pd != qp->base.pd) return IBV_WC_LOC_QP_OP_ERR;
    if (looks_up_gids && !has_gid(ah->attr.grh.sgid_index)) return IBV_WC_LOC_QP_OP_ERR;
    route(header, ah, length);
    from[0] = (struct piece){header, GRH_BYTES};
    struct ibv_wc wc = {.opcode = IBV_WC_RECV, .byte_len = length + GRH_BYTES, .src_qp = qp->base.qp_num, .wc_flags = IBV_WC_GRH};
    if (wr->opcode == IBV_WR_SEND_WITH_IMM) wc.imm_data = wr->imm_data, wc.wc_flags |= IBV_WC_WITH_IMM;
    if (wr->wr.ud.remote_qpn != MULTICAST_QPN) {
        struct queue_pair *peer = find_qp(wr->wr.ud.remote_qpn);
        union ibv_gid to = ah->attr.grh.dgid;
        for (int i = 0; peer && i < GIDS_MAX; i++) {
            union ibv_gid gid = gid_of(peer->base.context, i);
            if (has_gid(i) && !memcmp(&gid, &to, sizeof gid) && (!subnet || ah->attr.dlid == lid_of(peer->base.context)))
                return deliver(peer, wr, wc, from, pieces), IBV_WC_SUCCESS;
        }
        return IBV_WC_SUCCESS;
    }
    struct group *group = find_group(&ah->attr.grh.dgid);
    if (group && group->lid != ah->attr.dlid) group = NULL;
    for (int i = 0; group && i < group->count; i++)
        if (group->members[i] == qp && qp->blocks_loopback)
            blocked++;
        else
            deliver(group->members[i], wr, wc, from, pieces);
    return IBV_WC_SUCCESS;
}

static int receive_message(struct queue_pair *peer, const struct ibv_send_wr *wr, struct piece *from, int pieces) {
    struct receive *receive = receive_take(peer);
    if (!receive) return IBV_WC_RNR_RETRY_EXC_ERR;
    int is_write = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    struct ibv_wc wc = {.opcode = is_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV};
    for (int i = 1; i < pieces; i++) wc.byte_len += from[i].length;
    if (is_write || wr->opcode == IBV_WR_SEND_WITH_IMM) wc.imm_data = wr->imm_data, wc.wc_flags = IBV_WC_WITH_IMM;
    from[0].length = 0;
    if (!is_write) wc.status = scatter(peer, receive, from, pieces);
    return receive_ends(peer, receive, &wc, wr->send_flags & IBV_SEND_SOLICITED) ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_SUCCESS;
}

static int write_remote(struct queue_pair *peer, const struct ibv_send_wr *wr, struct piece *from, int pieces) {
    uint64_t length = 0;
    for (int i = 1; i < pieces; i++) length += from[i].length;
    char *to = reach(peer->base.pd, wr->wr.rdma.rkey, 1, wr->wr.rdma.remote_addr, length, IBV_ACCESS_REMOTE_WRITE);
    if (!(peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) || (!to && length)) return IBV_WC_REM_ACCESS_ERR;
    for (int i = 1; i < pieces; to += from[i++].length) memcpy(to, from[i].memory, from[i].length);
    return wr->opcode == IBV_WR_RDMA_WRITE ? IBV_WC_SUCCESS : receive_message(peer, wr, from, pieces);
}

static int read_remote(struct queue_pair *peer, const struct ibv_send_wr *wr, struct piece *into, int pieces) {
    uint64_t length = 0;
    for (int i = 1; i < pieces; i++) length += into[i].length;
    char *from = reach(peer->base.pd, wr->wr.rdma.rkey, 1, wr->wr.rdma.remote_addr, length, IBV_ACCESS_REMOTE_READ);
    if (!(peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) || (!from && length)) return IBV_WC_REM_ACCESS_ERR;
    for (int i = 1; i < pieces; from += into[i++].length) memcpy(into[i].memory, from, into[i].length);
    return IBV_WC_SUCCESS;
}

static int atomic_remote(struct queue_pair *peer, const struct ibv_send_wr *wr, struct piece *into, int pieces) {
    uint64_t address = wr->wr.atomic.remote_addr;
    if (pieces != 2 || into[1].length != 8 || address % 8) return IBV_WC_REM_INV_REQ_ERR;
    uint64_t *word = (uint64_t *)reach(peer->base.pd, wr->wr.atomic.rkey, 1, address, 8, IBV_ACCESS_REMOTE_ATOMIC);
    if (!word || !(peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC)) return IBV_WC_REM_ACCESS_ERR;
    uint64_t old = wr->wr.atomic.compare_add;
    if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        old = __atomic_fetch_add(word, wr->wr.atomic.compare_add, __ATOMIC_SEQ_CST);
    else
        __atomic_compare_exchange_n(word, &old, wr->wr.atomic.swap, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    memcpy(into[1].memory, &old, sizeof old);
    return IBV_WC_SUCCESS;
}

static int connected(struct queue_pair *qp, const struct ibv_send_wr *wr, struct piece *pieces, int count) {
    struct queue_pair *peer = find_qp(qp->attr.dest_qp_num);
    if (!is_receiving(peer) || peer->base.qp_type != IBV_QPT_RC || peer->attr.dest_qp_num != qp->base.qp_num)
        return IBV_WC_RETRY_EXC_ERR;
    int status;
    switch (wr->opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM: status = write_remote(peer, wr, pieces, count); break;
    case IBV_WR_RDMA_READ: status = read_remote(peer, wr, pieces, count); break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD: status = atomic_remote(peer, wr, pieces, count); break;
    default: return receive_message(peer, wr, pieces, count);
    }
    if (status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR) {
        struct ibv_async_event event = {.element.qp = &peer->base, .event_type = IBV_EVENT_QP_ACCESS_ERR};
        event_add(&((struct context *)peer->base.context)->events, event);
        stop(peer);
    }
    return status;
}

/* Carries out one request. Piece 0 is left for the routing header. */
static int perform(struct queue_pair *qp, const struct ibv_send_wr *wr) {
    struct piece pieces[SGE_MAX + 1] = {{NULL, 0}};
    int is_read = wr->opcode == IBV_WR_RDMA_READ || wr->opcode >= IBV_WR_ATOMIC_CMP_AND_SWP;
    for (int i = 0; i < wr->num_sge; i++) {
        const struct ibv_sge *sge = &wr->sg_list[i];
        char *memory = (char *)sge->addr;
        if (!(wr->send_flags & IBV_SEND_INLINE))
            memory = reach(qp->base.pd, sge->lkey, 0, sge->addr, sge->length, is_read ? IBV_ACCESS_LOCAL_WRITE : 0);
        if (!memory && sge->length) return IBV_WC_LOC_PROT_ERR;
        pieces[i + 1] = (struct piece){memory, sge->length};
    }
    return qp->base.qp_type == IBV_QPT_UD ? send_datagram(qp, wr, pieces, wr->num_sge + 1)
                                          : connected(qp, wr, pieces, wr->num_sge + 1);
}

static int is_wrong(const struct queue_pair *qp, const struct ibv_send_wr *wr) {
    uint32_t length = 0;
    if ((uint32_t)wr->num_sge > qp->attr.cap.max_send_sge) return EINVAL;
    if (qp->base.qp_type == IBV_QPT_UD && wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM) return EINVAL;
    if (wr->send_flags & IBV_SEND_INLINE) {
        for (int i = 0; i < wr->num_sge; i++) length += wr->sg_list[i].length;
        if (length > qp->attr.cap.max_inline_data) return EINVAL;
    }
    return qp->posted - qp->released == qp->attr.cap.max_send_wr ? ENOMEM : 0;
}

static void carry_out(struct queue_pair *qp, const struct ibv_send_wr *wr) {
    static const int opcodes[] = {IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE, IBV_WC_SEND,     IBV_WC_SEND,
                                  IBV_WC_RDMA_READ,  IBV_WC_COMP_SWAP,  IBV_WC_FETCH_ADD};
    int status = qp->base.state == IBV_QPS_ERR ? IBV_WC_WR_FLUSH_ERR : perform(qp, wr);
    if (status || qp->signals_all || (wr->send_flags & IBV_SEND_SIGNALED)) {
        struct ibv_wc wc = {.wr_id = wr->wr_id, .status = status, .opcode = opcodes[wr->opcode], .qp_num = qp->base.qp_num};
        complete((struct completion_queue *)qp->base.send_cq, &wc, qp, 0);
    }
    if (status && qp->base.state != IBV_QPS_ERR) stop(qp);
}

static int is_put_off(struct queue_pair *qp, const struct ibv_send_wr *wr) {
    if (!sends_late || qp->base.qp_type != IBV_QPT_UD || qp->late_count == LATE_MAX) return 0;
    if (!qp->late) qp->late = calloc(LATE_MAX, sizeof *qp->late);
    struct late_send *late = &qp->late[qp->late_count++];
    late->wr = *wr;
    memcpy(late->sge, wr->sg_list, wr->num_sge * sizeof *wr->sg_list);
    late->wr.sg_list = late->sge;
    qp->late_polls = 0;
    return 1;
}

static void send_late(const struct ibv_cq *cq) {
    for (int i = 0; i < QP_MAX; i++) {
        struct queue_pair *qp = queue_pairs[i];
        if (!qp || qp->base.send_cq != cq || !qp->late_count || ++qp->late_polls < sends_late) continue;
        for (uint32_t k = 0; k < qp->late_count; k++) carry_out(qp, &qp->late[k].wr);
        qp->late_count = 0;
    }
}

static int post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
    send_calls++;
    struct queue_pair *qp = (struct queue_pair *)base;
    int error = base->state < IBV_QPS_RTS ? EINVAL : refuses("ibv_post_send");
    if (error) {
        *bad = wr;
        return error;
    }
    lock();
    for (; wr && !error; wr = wr->next) {
        error = is_wrong(qp, wr);
        if (error) {
            *bad = wr;
            break;
        }
        qp->posted++;
        if (base->qp_type == IBV_QPT_UD) {
            sent++;
            if (wr->send_flags & IBV_SEND_SIGNALED) signalled++;
        }
        if (!is_put_off(qp, wr)) carry_out(qp, wr);
    }
    unlock();
    return error;
}

/* ---- more of what tests turn --------------------------------------------------------------------------------- */

/* An event of a port, for the owner of this queue pair's context. */
void standin_port_event(struct ibv_qp *qp, int type) {
    struct ibv_async_event event = {.element.port_num = 1, .event_type = type};
    lock();
    event_add(&((struct context *)qp->context)->events, event);
    unlock();
}

void standin_device_event(uint32_t qp_number, int type) {
    struct queue_pair *qp = find_qp(qp_number);
    if (qp) standin_port_event(&qp->base, type);
}

/* A queue pair that fails by itself, as when its device does. */
void standin_break_qp(int qp_number) {
    lock();
    struct queue_pair *qp = find_qp(qp_number);
    if (qp) stop(qp);
    unlock();
}

/* A queue pair whose sends complete nowhere any more: its completion queue answers each poll with a negative number. */
void standin_break_polls(int qp_number) {
    lock();
    struct queue_pair *qp = find_qp(qp_number);
    if (qp) ((struct completion_queue *)qp->base.send_cq)->is_broken = ENOMEM;
    unlock();
}

/* All reliable connections fail by themselves; datagrams go on. */
void standin_break_connections(int unused) {
    (void)unused;
    lock();
    for (uint32_t i = 0; i < QP_MAX; i++)
        if (queue_pairs[i] && queue_pairs[i]->base.qp_type == IBV_QPT_RC) stop(queue_pairs[i]);
    unlock();
}
