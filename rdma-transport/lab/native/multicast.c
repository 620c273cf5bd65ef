/*
 * Multicasts datagrams by unreliable-datagram queue pairs from one RDMA device to others (RoCE), as the transport does:
 * gathered from a header and a payload, scattered into three registered buffers (global routing header, header,
 * payload), by linked work requests of which one in BATCH is signalled. Checks all that arrives. It shows that a fabric
 * carries what the transport needs, and what that costs in C.
 *
 *   multicast [-n DATAGRAMS] [-p PAYLOAD-BYTES] [-g GROUP] [-r ROUNDS] [-l] [-i] [-s] SENDER RECEIVER…
 *
 *   -l  datagrams may be lost or doubled: that is counted, the exit status reports other errors
 *   -i  each round waits for a line on standard input: so that rounds of two programs alternate
 *   -s  each receiver takes its receives from a shared receive queue, instead of its queue pair's own
 *
 * Those that come after one sent later are counted as late, which is never an error: nothing promises their order, and
 * the kernel changes it where the sending thread moves from one CPU to another.
 *
 * One line for each round. Exit status 1 where something arrived wrong or (without -l) did not arrive, 2 where a call
 * failed, 77 where a port is InfiniBand, whose groups are made by a subnet manager.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    GRH_BYTES = 40,
    HEADER_BYTES = 40,
    WINDOW = 256, /* datagrams that the sender is ahead of the slowest receiver */
    SLOTS = 2 * WINDOW,
    BATCH = 16,
    QKEY = 0x0fca57,
    MULTICAST_QPN = 0xffffff,
    RECEIVERS_MAX = 8,
    QUIET_MS = 5000, /* after which what is missing is lost; an emulated CPU may stand still for long */
    LOSSY_QUIET_MS = 2000
};

struct header {
    uint64_t magic, sequence;
    uint8_t rest[HEADER_BYTES - 16];
};

struct endpoint {
    const char *name;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_srq *shared; /* where its receives are, or NULL */
    int gid_index;
    char interface[IF_NAMESIZE];
    /* [SLOTS][GRH_BYTES], [SLOTS][HEADER_BYTES], [SLOTS][payload_bytes] */
    uint8_t *grh, *header, *payload;
    struct ibv_mr *grh_mr, *header_mr, *payload_mr;
    struct ibv_recv_wr receive[SLOTS];
    struct ibv_sge receive_list[SLOTS][3];
    struct ibv_send_wr send[SLOTS];
    struct ibv_sge send_list[SLOTS][2];
    int unposted, next_slot; /* receives consumed since the last batch was posted, and where that batch begins */
    uint8_t *seen;
    uint64_t arrived, doubled, late, wrong;
    uint64_t highest;
};

static const uint64_t MAGIC = 0x4c41424652414d45u;
static int payload_bytes = 1024, datagrams = 2000, rounds = 1, lossy, in_turns, shared;
static struct endpoint sender, receivers[RECEIVERS_MAX];
static int receiver_count;
static uint8_t *pattern; /* byte i is i: the payload of slot s is what begins at 7 s, modulo 256 */

static void fail(const char *what, const char *on, int error) {
    fprintf(stderr, "multicast: %s: %s: %s\n", on, what, error ? strerror(error) : "failed");
    exit(2);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int is_mapped(const union ibv_gid *gid) {
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return memcmp(gid->raw, prefix, sizeof prefix) == 0;
}

/* The device's RoCE v2 GID of the family of the group, and the interface it is on. */
static void find_gid(struct endpoint *e, const struct ibv_port_attr *port, int mapped) {
    for (int i = 0; i < port->gid_tbl_len; i++) {
        struct ibv_gid_entry entry;
        if (ibv_query_gid_ex(e->context, 1, (uint32_t)i, &entry, 0) || entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
        if (is_mapped(&entry.gid) != mapped) continue;
        e->gid_index = i;
        if (!if_indextoname(entry.ndev_ifindex, e->interface)) fail("the GID's interface", e->name, errno);
        return;
    }
    fail(mapped ? "no RoCE v2 GID of an IPv4 address" : "no RoCE v2 GID of an IPv6 address", e->name, 0);
}

static struct ibv_context *open_device(const char *name) {
    struct ibv_context *context = NULL;
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    for (int i = 0; i < count; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0) context = ibv_open_device(list[i]);
    if (!context) fail("cannot be opened", name, count ? errno : ENODEV);
    ibv_free_device_list(list);
    return context;
}

static struct ibv_mr *allocate(struct endpoint *e, uint8_t **memory, size_t bytes) {
    *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*memory) fail("memory", e->name, ENOMEM);
    memset(*memory, 0xee, bytes);
    struct ibv_mr *region = ibv_reg_mr(e->pd, *memory, bytes, IBV_ACCESS_LOCAL_WRITE);
    if (!region) fail("ibv_reg_mr", e->name, errno);
    return region;
}

static void open_endpoint(struct endpoint *e, const char *name, int mapped) {
    e->name = name;
    e->context = open_device(name);
    struct ibv_port_attr port;
    int error = ibv_query_port(e->context, 1, &port);
    if (error) fail("ibv_query_port", name, error);
    if (port.link_layer != IBV_LINK_LAYER_ETHERNET) {
        fprintf(stderr, "multicast: %s: port 1 is InfiniBand: not tried\n", name);
        exit(77);
    }
    if (port.state != IBV_PORT_ACTIVE) fail("port 1 is not active", name, ENETDOWN);
    /* A longer one is dropped by Soft-RoCE with a completion that says success. */
    if (HEADER_BYTES + payload_bytes > 128 << port.active_mtu) fail("payload above the port's MTU", name, EMSGSIZE);
    find_gid(e, &port, mapped);
    e->pd = ibv_alloc_pd(e->context);
    if (!e->pd) fail("ibv_alloc_pd", name, errno);
    e->cq = ibv_create_cq(e->context, SLOTS + BATCH, NULL, NULL, 0);
    if (!e->cq) fail("ibv_create_cq", name, errno);
    struct ibv_qp_init_attr init = {.send_cq = e->cq,
                                    .recv_cq = e->cq,
                                    .cap = {WINDOW, SLOTS, 2, 3, 0},
                                    .qp_type = IBV_QPT_UD};
    if (shared) {
        struct ibv_srq_init_attr queue = {.attr = {.max_wr = SLOTS, .max_sge = 3}};
        e->shared = init.srq = ibv_create_srq(e->pd, &queue);
        if (!e->shared) fail("ibv_create_srq", name, errno);
        init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
    }
    e->qp = ibv_create_qp(e->pd, &init);
    if (!e->qp) fail("ibv_create_qp", name, errno);
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    error = ibv_modify_qp(e->qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    if (error) fail("to INIT", name, error);
    attributes.qp_state = IBV_QPS_RTR;
    if ((error = ibv_modify_qp(e->qp, &attributes, IBV_QP_STATE))) fail("to RTR", name, error);
    attributes.qp_state = IBV_QPS_RTS;
    if ((error = ibv_modify_qp(e->qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN))) fail("to RTS", name, error);
    e->grh_mr = allocate(e, &e->grh, (size_t)SLOTS * GRH_BYTES);
    e->header_mr = allocate(e, &e->header, (size_t)SLOTS * HEADER_BYTES);
    e->payload_mr = allocate(e, &e->payload, (size_t)SLOTS * (size_t)payload_bytes);
}

static struct ibv_sge element(uint8_t *memory, int slot, int bytes, const struct ibv_mr *region) {
    return (struct ibv_sge){(uintptr_t)(memory + (size_t)slot * (size_t)bytes), (uint32_t)bytes, region->lkey};
}

/* Posts `count` receives from next_slot on: they are linked for good, so that a batch costs one cut. */
static void post_receives(struct endpoint *e, int count) {
    struct ibv_recv_wr *last = &e->receive[(e->next_slot + count - 1) % SLOTS], *bad, *next = last->next;
    last->next = NULL;
    struct ibv_recv_wr *batch = &e->receive[e->next_slot];
    int error = e->shared ? ibv_post_srq_recv(e->shared, batch, &bad) : ibv_post_recv(e->qp, batch, &bad);
    if (error) fail("receives cannot be posted", e->name, error);
    last->next = next;
    e->next_slot = (e->next_slot + count) % SLOTS;
    e->unposted -= count;
}

static void open_receiver(struct endpoint *e, const char *name, union ibv_gid *group, int mapped) {
    open_endpoint(e, name, mapped);
    for (int i = 0; i < SLOTS; i++) {
        e->receive_list[i][0] = element(e->grh, i, GRH_BYTES, e->grh_mr);
        e->receive_list[i][1] = element(e->header, i, HEADER_BYTES, e->header_mr);
        e->receive_list[i][2] = element(e->payload, i, payload_bytes, e->payload_mr);
        e->receive[i] = (struct ibv_recv_wr){(uint64_t)i, &e->receive[(i + 1) % SLOTS], e->receive_list[i], 3};
    }
    e->unposted = SLOTS;
    post_receives(e, SLOTS);
    int error = ibv_attach_mcast(e->qp, group, 0);
    if (error) fail("ibv_attach_mcast", name, error);
    /* Attached alone, it gets nothing and no error: the interface must be a member too. The sockets stay open. */
    int member = socket(mapped ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
    if (mapped) {
        struct ip_mreqn v4 = {.imr_ifindex = (int)if_nametoindex(e->interface)};
        memcpy(&v4.imr_multiaddr, group->raw + 12, 4);
        error = setsockopt(member, IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof v4);
    } else {
        struct ipv6_mreq v6 = {.ipv6mr_interface = if_nametoindex(e->interface)};
        memcpy(&v6.ipv6mr_multiaddr, group->raw, 16);
        error = setsockopt(member, IPPROTO_IPV6, IPV6_JOIN_GROUP, &v6, sizeof v6);
    }
    /* Two receivers may share an interface: membership of one socket is enough, and no error for another. */
    if (error) fail("membership of the group", e->interface, errno);
    e->seen = calloc((size_t)datagrams, 1);
    if (!e->seen) fail("memory", name, ENOMEM);
}

static void open_sender(const char *name, union ibv_gid *group, int mapped) {
    struct endpoint *e = &sender;
    open_endpoint(e, name, mapped);
    struct ibv_ah_attr to = {.is_global = 1, .port_num = 1};
    to.grh.dgid = *group;
    to.grh.sgid_index = (uint8_t)e->gid_index;
    to.grh.hop_limit = 1;
    struct ibv_ah *address = ibv_create_ah(e->pd, &to);
    if (!address) fail("ibv_create_ah", name, errno);
    for (int i = 0; i < SLOTS; i++) {
        e->send_list[i][0] = element(e->header, i, HEADER_BYTES, e->header_mr);
        e->send_list[i][1] = element(e->payload, i, payload_bytes, e->payload_mr);
        struct ibv_send_wr *request = &e->send[i];
        *request = (struct ibv_send_wr){.wr_id = (uint64_t)i, .next = &e->send[(i + 1) % SLOTS]};
        request->sg_list = e->send_list[i];
        request->num_sge = 2;
        request->opcode = IBV_WR_SEND;
        request->send_flags = (i + 1) % BATCH ? 0 : IBV_SEND_SIGNALED;
        request->wr.ud.ah = address;
        request->wr.ud.remote_qpn = MULTICAST_QPN;
        request->wr.ud.remote_qkey = QKEY;
        memcpy(e->payload + (size_t)i * (size_t)payload_bytes, pattern + (7 * i) % 256, (size_t)payload_bytes);
    }
}

/* Sequences of one round begin at `first`, so that none of another round is taken for one of this. */
static void take(struct endpoint *e, const struct ibv_wc *completion, uint64_t first) {
    size_t slot = (size_t)completion->wr_id;
    const struct header *header = (const struct header *)(e->header + slot * HEADER_BYTES);
    uint64_t sequence = header->sequence - first;
    const uint8_t *payload = e->payload + slot * (size_t)payload_bytes;
    if (completion->status || header->magic != MAGIC || sequence >= (uint64_t)datagrams ||
        completion->byte_len != (uint32_t)(GRH_BYTES + HEADER_BYTES + payload_bytes) ||
        !(completion->wc_flags & IBV_WC_GRH) || completion->src_qp != sender.qp->qp_num ||
        memcmp(payload, pattern + (7 * (sequence % SLOTS)) % 256, (size_t)payload_bytes) != 0) {
        if (!e->wrong++) {
            fprintf(stderr, "multicast: %s: wrong: %s, %u bytes, queue pair %u\n", e->name,
                    ibv_wc_status_str(completion->status), completion->byte_len, completion->src_qp);
        }
        return;
    }
    if (e->seen[sequence]) {
        e->doubled++;
        return;
    }
    e->seen[sequence] = 1;
    e->arrived++;
    if (sequence < e->highest) e->late++;
    else e->highest = sequence;
}

static int poll_receiver(struct endpoint *e, uint64_t first) {
    struct ibv_wc completions[BATCH];
    int count = ibv_poll_cq(e->cq, BATCH, completions);
    if (count < 0) fail("ibv_poll_cq", e->name, errno);
    for (int i = 0; i < count; i++) take(e, &completions[i], first);
    e->unposted += count;
    if (e->unposted >= BATCH) post_receives(e, BATCH);
    return count;
}

static int poll_sender(void) {
    struct ibv_wc completions[BATCH];
    int count = ibv_poll_cq(sender.cq, BATCH, completions);
    if (count < 0) fail("ibv_poll_cq", sender.name, errno);
    for (int i = 0; i < count; i++)
        if (completions[i].status) fail(ibv_wc_status_str(completions[i].status), sender.name, EIO);
    return count * BATCH;
}

static void post_batch(uint64_t first, uint64_t sent, int count) {
    int slot = (int)(sent % SLOTS);
    for (int i = 0; i < count; i++) {
        struct header *header = (struct header *)(sender.header + (size_t)(slot + i) * HEADER_BYTES);
        header->magic = MAGIC;
        header->sequence = first + sent + (uint64_t)i;
    }
    struct ibv_send_wr *last = &sender.send[slot + count - 1], *bad, *next = last->next;
    last->next = NULL;
    int error = ibv_post_send(sender.qp, &sender.send[slot], &bad);
    if (error) fail("ibv_post_send", sender.name, error);
    last->next = next;
}

/* Sends all and waits until all arrived, or nothing new does. Returns the seconds until the last arrival. */
static double run(uint64_t first) {
    uint64_t sent = 0, completed = 0, given_up = 0;
    double begin = now(), progress = begin;
    for (;;) {
        uint64_t slowest = UINT64_MAX;
        int news = 0;
        for (int i = 0; i < receiver_count; i++) {
            news += poll_receiver(&receivers[i], first);
            if (receivers[i].arrived < slowest) slowest = receivers[i].arrived;
        }
        completed += (uint64_t)poll_sender();
        if (slowest == (uint64_t)datagrams) return now() - begin;
        if (news) {
            progress = now();
        } else if (now() > progress + (lossy ? LOSSY_QUIET_MS : QUIET_MS) * 1e-3) {
            if (sent == (uint64_t)datagrams) return progress - begin;
            given_up = sent; /* what is missing of these is lost, and holds the sender up no longer */
            progress = now();
        }
        if (slowest < given_up) slowest = given_up;
        if (sent < (uint64_t)datagrams && sent - slowest <= WINDOW - BATCH && sent - completed <= WINDOW - BATCH) {
            post_batch(first, sent, BATCH);
            sent += BATCH;
        }
    }
}

static int report(int round, double seconds) {
    int status = 0;
    printf("round %d: %d datagrams of %d + %d bytes in %.3f s, %.0f ns each:", round, datagrams, HEADER_BYTES,
           payload_bytes, seconds, seconds / datagrams * 1e9);
    for (int i = 0; i < receiver_count; i++) {
        struct endpoint *e = &receivers[i];
        printf("%s %s %lu lost %lu late %lu doubled %lu wrong %lu", i ? "," : "", e->name, e->arrived,
               (uint64_t)datagrams - e->arrived, e->late, e->doubled, e->wrong);
        if (e->wrong || (!lossy && (e->arrived != (uint64_t)datagrams || e->doubled))) status = 1;
        e->arrived = e->late = e->doubled = e->wrong = e->highest = 0;
        memset(e->seen, 0, (size_t)datagrams);
    }
    printf("\n");
    fflush(stdout);
    return status;
}

int main(int argc, char **argv) {
    const char *group_name = "239.77.1.2";
    union ibv_gid group = {.raw = {[10] = 0xff, [11] = 0xff}};
    int option, status = 0;
    while ((option = getopt(argc, argv, "n:p:g:r:lis")) != -1) {
        switch (option) {
        case 'n': datagrams = (atoi(optarg) + BATCH - 1) / BATCH * BATCH; break;
        case 'p': payload_bytes = atoi(optarg); break;
        case 'g': group_name = optarg; break;
        case 'r': rounds = atoi(optarg); break;
        case 'l': lossy = 1; break;
        case 'i': in_turns = 1; break;
        case 's': shared = 1; break;
        default: return 2;
        }
    }
    int mapped = inet_pton(AF_INET, group_name, group.raw + 12) == 1;
    if ((!mapped && inet_pton(AF_INET6, group_name, &group) != 1) || payload_bytes < 1 || datagrams < 1 ||
        argc - optind < 2 || argc - optind > RECEIVERS_MAX + 1) {
        fprintf(stderr, "multicast: expected [options] SENDER RECEIVER…\n");
        return 2;
    }
    pattern = malloc((size_t)payload_bytes + 256);
    if (!pattern) fail("memory", "pattern", ENOMEM);
    for (int i = 0; i < payload_bytes + 256; i++) pattern[i] = (uint8_t)i;
    for (int i = optind + 1; i < argc; i++) open_receiver(&receivers[receiver_count++], argv[i], &group, mapped);
    open_sender(argv[optind], &group, mapped);
    for (int round = 1; round <= rounds; round++) {
        for (int c = '\n'; in_turns && (c = getchar()) != '\n';)
            if (c == EOF) return status;
        double seconds = run((uint64_t)round << 32);
        status |= report(round, seconds);
    }
    return status;
}
