/* What a lane at each end does per datagram, in C, on the same stand-in: what Java is measured against. Post a batch of
 * prebuilt receives, gather and send as many to a group, reap sends, poll receives, filter by source, note slot and length. */
#include "verbs_abi.h"
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096, GRH_BYTES = 40, BATCH = 64, SENDS_BATCH = 16, SIGNAL_EVERY = 32, QUEUE_KEY = 0x1234567, MULTICAST_QPN = 0xFFFFFF };

struct floor {
    struct ibv_context *near, *far;
    struct ibv_qp *source, *receiver;
    struct ibv_cq *sent, *arrived;
    struct ibv_send_wr *sends;
    struct ibv_recv_wr *receives;
    char *arrived;
    int slots, header_bytes, payload_bytes, stride;
    int *lengths, *sent_lengths, *signalled, *took_slots, *took_bytes;
    uint32_t source_address;
    uint64_t submitted, completed, received_bytes;
};

static struct ibv_qp *start(struct ibv_pd *pd, struct ibv_cq *cq, int slots) {
    struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .cap = {slots + 1, slots, 3, 3, 0}, .qp_type = IBV_QPT_UD};
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QUEUE_KEY};
    if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY)) abort();
    attr.qp_state = IBV_QPS_RTR;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE)) abort();
    attr.qp_state = IBV_QPS_RTS;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN)) abort();
    return qp;
}

static uint32_t key_of(struct ibv_pd *pd, void *memory, size_t bytes) {
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE);
    if (!mr) abort();
    return mr->lkey;
}

/* Pages of its own, as the lanes': where memory lies within its pages must not decide. And memory of its own: what
 * calloc gives is one page of zeros for all until it is written, which stays in the cache. */
static char *memory_of(size_t count, size_t bytes) {
    char *memory = aligned_alloc(PAGE_BYTES, (count * bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (!memory) abort();
    return memset(memory, 1, count * bytes);
}

static void build_sends(struct floor *f, struct ibv_pd *pd, struct ibv_ah *ah) {
    char *headers = memory_of(f->slots, f->header_bytes), *payload = memory_of(f->slots, f->payload_bytes);
    uint32_t header_key = key_of(pd, headers, (size_t)f->slots * f->header_bytes);
    uint32_t payload_key = key_of(pd, payload, (size_t)f->slots * f->payload_bytes);
    struct ibv_sge *sges = calloc(2 * f->slots, sizeof *sges);
    f->sends = calloc(f->slots, sizeof *f->sends);
    for (int i = 0; i < f->slots; i++) {
        sges[2 * i] = (struct ibv_sge){(uint64_t)(headers + i * f->header_bytes), f->header_bytes, header_key};
        sges[2 * i + 1] = (struct ibv_sge){(uint64_t)(payload + i * f->payload_bytes), 0, payload_key};
        struct ibv_send_wr *wr = &f->sends[i];
        wr->next = &f->sends[(i + 1) % f->slots];
        wr->sg_list = &sges[2 * i];
        wr->num_sge = 2;
        wr->opcode = IBV_WR_SEND;
        wr->wr.ud.ah = ah;
        wr->wr.ud.remote_qpn = MULTICAST_QPN;
        wr->wr.ud.remote_qkey = QUEUE_KEY;
        f->lengths[i] = f->payload_bytes;
    }
}

static void build_receives(struct floor *f, struct ibv_pd *pd) {
    char *payload = memory_of(f->slots, f->payload_bytes), *overflow = memory_of(1, 4096);
    f->arrived = memory_of(f->slots, f->stride);
    uint32_t header_key = key_of(pd, f->arrived, (size_t)f->slots * f->stride);
    uint32_t payload_key = key_of(pd, payload, (size_t)f->slots * f->payload_bytes);
    uint32_t overflow_key = key_of(pd, overflow, 4096);
    struct ibv_sge *sges = calloc(3 * f->slots, sizeof *sges);
    f->receives = calloc(f->slots, sizeof *f->receives);
    for (int i = 0; i < f->slots; i++) {
        sges[3 * i] = (struct ibv_sge){(uint64_t)(f->arrived + i * f->stride), f->stride, header_key};
        sges[3 * i + 1] = (struct ibv_sge){(uint64_t)(payload + i * f->payload_bytes), f->payload_bytes, payload_key};
        sges[3 * i + 2] = (struct ibv_sge){(uint64_t)overflow, 4096, overflow_key};
        f->receives[i] = (struct ibv_recv_wr){i, &f->receives[(i + 1) % f->slots], &sges[3 * i], 3};
    }
}

/* Lives as long as the process. */
struct floor *floor_open(int slots, int header_bytes, int payload_bytes) {
    /* One of its own: those of earlier ones are members of theirs, and would be looked at for each datagram. */
    const uint8_t group[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 99, payload_bytes >> 8, payload_bytes};
    struct floor *f = calloc(1, sizeof *f);
    struct ibv_device **devices = ibv_get_device_list(NULL);
    f->near = ibv_open_device(devices[0]);
    f->far = ibv_open_device(devices[1]);
    ibv_free_device_list(devices);
    f->slots = slots, f->header_bytes = header_bytes, f->payload_bytes = payload_bytes;
    f->stride = GRH_BYTES + header_bytes;
    f->lengths = calloc(slots, sizeof *f->lengths);
    f->sent_lengths = calloc(slots, sizeof *f->sent_lengths);
    f->signalled = calloc(slots, sizeof *f->signalled);
    f->took_slots = calloc(slots, sizeof *f->took_slots);
    f->took_bytes = calloc(slots, sizeof *f->took_bytes);
    struct ibv_pd *near = ibv_alloc_pd(f->near), *far = ibv_alloc_pd(f->far);
    f->sent = ibv_create_cq(f->near, slots + 1, NULL, NULL, 0);
    f->arrived = ibv_create_cq(f->far, slots + 1, NULL, NULL, 0);
    f->source = start(near, f->sent, slots);
    f->receiver = start(far, f->arrived, slots);
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1, .hop_limit = 8}};
    memcpy(attr.grh.dgid.raw, group, sizeof group);
    if (ibv_attach_mcast(f->receiver, &attr.grh.dgid, 0)) abort();
    union ibv_gid own;
    ibv_query_gid(f->near, 1, 1, &own);
    memcpy(&f->source_address, own.raw + 12, 4);
    build_sends(f, near, ibv_create_ah(near, &attr));
    build_receives(f, far);
    return f;
}

/* Each of the five is a function of the lane's, called as such. */
static __attribute__((noinline)) int lane_post(struct floor *f, int first, int count) {
    struct ibv_recv_wr *last = &f->receives[(first + count - 1) % f->slots], *bad;
    struct ibv_recv_wr *next = last->next;
    last->next = NULL;
    int error = f->far->ops.post_recv(f->receiver, &f->receives[first], &bad);
    last->next = next;
    return error ? 0 : count;
}

static __attribute__((noinline)) void lane_reap(struct floor *f) {
    struct ibv_wc wc[SENDS_BATCH];
    int count;
    do {
        count = f->near->ops.poll_cq(f->sent, SENDS_BATCH, wc);
        for (int i = 0; i < count; i++) {
            if (wc[i].status) abort();
            f->completed = wc[i].wr_id;
        }
    } while (count == SENDS_BATCH);
}

static __attribute__((noinline)) int lane_multicast(struct floor *f, int first, int count) {
    if (count > f->slots - (int)(f->submitted - f->completed)) lane_reap(f);
    struct ibv_send_wr *last = NULL, *bad;
    for (int i = 1, slot = first; i <= count; i++, slot = slot + 1 == f->slots ? 0 : slot + 1) {
        int bytes = f->lengths[slot];
        if (bytes < 0 || bytes > f->payload_bytes || bytes + f->header_bytes > 4096) abort();
        last = &f->sends[slot];
        uint64_t number = f->submitted + i;
        int signals = i == count || number % SIGNAL_EVERY == 0;
        /* What stands already is not written. */
        if (bytes != f->sent_lengths[slot]) last->sg_list[1].length = f->sent_lengths[slot] = bytes;
        if (signals) last->wr_id = number;
        if (signals != f->signalled[slot])
            f->signalled[slot] = signals, last->send_flags = signals ? IBV_SEND_SIGNALED : 0;
    }
    struct ibv_send_wr *next = last->next;
    last->next = NULL;
    if (f->near->ops.post_send(f->source, &f->sends[first], &bad)) abort();
    last->next = next;
    f->submitted += count;
    return count;
}

static __attribute__((noinline)) int lane_poll(struct floor *f, int max) {
    struct ibv_wc wc[BATCH];
    int added = 0, count;
    do {
        count = f->far->ops.poll_cq(f->arrived, max - added < BATCH ? max - added : BATCH, wc);
        for (int i = 0; i < count; i++) {
            int slot = wc[i].wr_id, bytes = wc[i].byte_len - GRH_BYTES;
            uint32_t from;
            if (wc[i].status) abort();
            memcpy(&from, f->arrived + (size_t)slot * f->stride + 32, sizeof from);
            if (wc[i].src_qp != f->source->qp_num || from != f->source_address || bytes < f->header_bytes ||
                bytes > f->header_bytes + f->payload_bytes) {
                lane_post(f, slot, 1);
                continue;
            }
            f->took_slots[added] = slot;
            f->took_bytes[added++] = bytes;
            f->received_bytes += bytes;
        }
    } while (count == BATCH && added < max);
    return added;
}

/* The datagrams that came as they should. */
long floor_rounds(struct floor *f, int rounds, int batch) {
    long arrived = 0;
    for (int round = 0; round < rounds; round++) {
        int first = round % (f->slots / batch) * batch;
        lane_post(f, first, batch);
        lane_multicast(f, first, batch);
        int count = lane_poll(f, f->slots);
        for (int i = 0; i < count; i++)
            arrived += f->took_slots[i] == first + i && f->took_bytes[i] == f->header_bytes + f->payload_bytes;
    }
    lane_reap(f);
    return arrived;
}
