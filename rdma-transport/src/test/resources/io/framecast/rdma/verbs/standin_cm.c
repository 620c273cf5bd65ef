/* A librdmacm without a subnet: enough of it to be granted groups, or to be refused them, as rdma_cma.h has it. Groups get
 * the GID that IP over InfiniBand gives them (RFC 4391) and a local identifier made of the address. One process, few threads.
 *
 *     gcc -O2 -shared -fPIC -o libstandin_cm.so standin_cm.c
 */
#define _GNU_SOURCE
#include "verbs_abi.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PS_UDP = 0x0111, EVENT_JOINED = 12, EVENT_ERROR = 13, MULTICAST_LID = 0xC000 };

struct rdma_event_channel {
    int fd;
    struct rdma_cm_event *waiting;
};

struct rdma_cm_id {
    struct rdma_event_channel *channel;
    int is_bound, groups, unacknowledged;
};

struct rdma_ud_param {
    const void *private_data;
    uint8_t private_data_len;
    struct ibv_ah_attr ah_attr;
    uint32_t qp_num, qkey;
};

struct rdma_cm_event {
    struct rdma_cm_id *id, *listen_id;
    int event, status;
    struct rdma_ud_param param;
};

static long live;
static int refuses, is_silent, failing, planted_errno;
static const char *planted = "";

/* Subnet managers that refuse with an errno, or do not answer; a call that fails at once. */
void standin_refuses(int error) { refuses = error; }
void standin_silent(int silent) { is_silent = silent; }
void standin_bind_fails(int error) { failing = error; }
/* Has the next call of that function fail. */
void standin_fail(const char *function, int error) {
    planted_errno = error;
    planted = strdup(function);
}
long standin_live(void) { return live; }

static int minus(int error) {
    errno = error;
    return -1;
}

static int fails(const char *function) {
    if (!planted_errno || strcmp(planted, function)) return 0;
    errno = planted_errno;
    planted_errno = 0;
    return -1;
}

static void *made(size_t bytes) {
    live++;
    return calloc(1, bytes);
}

struct rdma_event_channel *rdma_create_event_channel(void) {
    if (fails("rdma_create_event_channel")) return NULL;
    struct rdma_event_channel *channel = made(sizeof *channel);
    channel->fd = eventfd(0, EFD_CLOEXEC);
    return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
    close(channel->fd);
    free(channel->waiting);
    free(channel);
    live--;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, int space) {
    (void)context;
    if (fails("rdma_create_id")) return -1;
    if (space != PS_UDP) return minus(EINVAL);
    *id = made(sizeof **id);
    (*id)->channel = channel;
    return 0;
}

/* A real one would wait for ever. */
int rdma_destroy_id(struct rdma_cm_id *id) {
    if (id->unacknowledged) return minus(EBUSY);
    free(id);
    live--;
    return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address) {
    if (fails("rdma_bind_addr")) return -1;
    if (failing) return minus(failing);
    if (address->sa_family != AF_INET && address->sa_family != AF_INET6) return minus(EINVAL);
    id->is_bound = 1;
    return 0;
}

/* ff12:401b:ffff:: and the lowest 28 bits of an IPv4 group; ff12:601b:ffff:: and the lowest 80 of an IPv6 one. */
static void mgid_of(const struct sockaddr *group, union ibv_gid *gid) {
    memset(gid, 0, sizeof *gid);
    if (group->sa_family == AF_INET) {
        memcpy(gid->raw, "\xff\x12\x40\x1b\xff\xff", 6);
        memcpy(gid->raw + 12, &((const struct sockaddr_in *)group)->sin_addr, 4);
        gid->raw[12] &= 0xf;
    } else {
        memcpy(gid->raw, "\xff\x12\x60\x1b\xff\xff", 6);
        memcpy(gid->raw + 6, ((const struct sockaddr_in6 *)group)->sin6_addr.s6_addr + 6, 10);
    }
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *group, void *context) {
    (void)context;
    if (fails("rdma_join_multicast")) return -1;
    if (!id->is_bound) return minus(EINVAL);
    id->groups++;
    if (is_silent) return 0;
    uint64_t one = 1;
    struct rdma_cm_event *event = calloc(1, sizeof *event);
    event->id = id;
    event->event = refuses ? EVENT_ERROR : EVENT_JOINED;
    event->status = -refuses;
    struct ibv_ah_attr *ah = &event->param.ah_attr;
    mgid_of(group, &ah->grh.dgid);
    ah->dlid = MULTICAST_LID | (ah->grh.dgid.raw[15] | (ah->grh.dgid.raw[14] & 0xf) << 8);
    ah->is_global = 1;
    ah->port_num = 1;
    ah->sl = 3;
    ah->grh.hop_limit = 2;
    event->param.qp_num = 0xFFFFFF;
    event->param.qkey = 0x01234567;
    id->channel->waiting = event;
    return write(id->channel->fd, &one, sizeof one) < 0 ? -1 : 0;
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *group) {
    (void)group;
    if (fails("rdma_leave_multicast")) return -1;
    if (!id->groups) return minus(EADDRNOTAVAIL);
    id->groups--;
    return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event) {
    uint64_t count;
    if (fails("rdma_get_cm_event")) return -1;
    if (read(channel->fd, &count, sizeof count) < 0) return -1;
    *event = channel->waiting;
    channel->waiting = NULL;
    (*event)->id->unacknowledged++;
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event) {
    event->id->unacknowledged--;
    free(event);
    return 0;
}
