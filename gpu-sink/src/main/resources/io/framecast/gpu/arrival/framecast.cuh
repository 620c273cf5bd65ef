// framecast.cuh: frames that arrive while a kernel runs, and requests from a kernel to publish.
//
// A persistent kernel gets the address of an arrival area (Arrival.address()) as an argument and then lives on its own:
//
//     extern "C" __global__ void consume(const void *area) {
//         __shared__ fc_shared shared;
//         fc_queue queue;
//         fc_frame frame;
//         fc_open(&queue, area);
//         while (fc_wait_block(&queue, fc_any(), &frame, &shared)) {
//             if (frame.kind == FC_KIND_FRAME) { ... every thread reads frame.data[0 .. frame.bytes) ... }
//             fc_release_block(&queue, &frame);
//         }
//     }
//
// Rules. All threads of a block call the _block functions together and with the same arguments; the others are for one
// thread of the block. Every block of the grid sees every entry, in order, and must release it; it goes back to the host
// when the last block has. A kernel must be resident as a whole: launch no more blocks than the device holds at once.
// Everything taken must be released, events too. fc_wait answers 0 when the host wants the kernel to end: return then.
// Frames not released by a kernel that ended are given to the next one that is launched on the area.
//
// Memory order. Host: writes the record and word 1 of the entry, then word 0, which holds the sequence, with release
// order. Device: reads word 0 with ld.acquire.sys; when the sequence is the expected one, everything that it reads afterwards
// is at least as new as the entry, in the record as in the frame. Back: all threads' reads, then __syncthreads, then
// __threadfence_system and st.release.sys of the sequence into the slot's return word; the host reads that with acquire
// order and only then lets the frame's memory, and the entry, be overwritten. Nothing relies on 16-byte accesses being
// single-copy atomic.
//
// Needs compute capability 7.0. Compiled by a host compiler the functions work on host memory, for tests.
#ifndef FRAMECAST_CUH
#define FRAMECAST_CUH

typedef unsigned int fc_u32;
typedef unsigned long long fc_u64;

enum {
    FC_VERSION = 1,
    // The area: header, entries [ENTRIES], records [ENTRIES], return words [ENTRIES]. Little-endian.
    FC_HEADER_BYTES = 256,
    FC_VERSION_OFFSET = 0,
    FC_ENTRIES_OFFSET = 4,
    FC_CONSUMERS_OFFSET = 8,
    FC_FIRST_OFFSET = 12,
    FC_RESUME_OFFSET = 16,
    FC_STATE_OFFSET = 24,
    FC_STOP_OFFSET = 128,
    // An entry: word 0 = sequence | slot << 32 | kind << 56, word 1 = source | channel << 16 | tag << 32.
    FC_ENTRY_BYTES = 16,
    FC_SLOT_BITS = 24,
    // A record: what does not fit an entry.
    FC_RECORD_BYTES = 64,
    FC_RECORD_ADDRESS = 0,
    FC_RECORD_LENGTH = 8,
    FC_RECORD_FRAME_ID = 16,
    FC_RECORD_SESSION = 24,
    FC_RECORD_TIMESTAMP = 32,
    FC_RECORD_COUNT = 40,
    FC_RECORD_FLAGS = 48,
    FC_RECORD_REASON = 52,
    FC_RETURN_BYTES = 4,
    // The device's own memory: counts of blocks done [ENTRIES] of 4 bytes, then a cursor for each block.
    FC_CURSOR_BYTES = 16,
    FC_KIND_FRAME = 1,
    FC_KIND_LOSS = 2,
    FC_KIND_JOINED = 3,
    FC_KIND_ENDED = 4,
    FC_KIND_LOST = 5,
    FC_KIND_OVER = 6,
    FC_FLAG_KEYFRAME = 1,
    FC_STOP_DRAIN = 1,
    FC_STOP_NOW = 2,
    FC_ANY_CHANNEL = 65535,
    FC_ANY_SOURCE = 65535,
    // The request queue: header, requests [REQUESTS], answers [REQUESTS].
    FC_REQUEST_HEADER_BYTES = 256,
    FC_REQUESTS_OFFSET = 4,
    FC_TICKETS_OFFSET = 8,
    FC_REQUEST_STOP_OFFSET = 128,
    FC_REQUEST_BYTES = 64,
    FC_REQUEST_ADDRESS = 8,
    FC_REQUEST_LENGTH = 16,
    FC_REQUEST_TIMESTAMP = 24,
    FC_REQUEST_CHANNEL = 32,
    FC_REQUEST_FLAGS = 36,
    FC_REQUEST_TAG = 40,
    FC_REQUEST_TAGGED = 2,
    FC_ANSWER_BYTES = 16,
    FC_STATUS_DONE = 1,
    FC_STATUS_REFUSED = 2,
    FC_STATUS_CLOSED = 3,
    FC_STATUS_FORGOTTEN = 4
};
// Matches every tag, so no frame should have it. Not in the enum, for it does not fit an int.
#define FC_ANY_TAG 0xffffffffu

#if defined(__CUDACC__)
#define FC_CALL static __device__ __forceinline__

FC_CALL fc_u32 fc_load_u32(const void *at) {
    fc_u32 value;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

FC_CALL fc_u64 fc_load_u64(const void *at) {
    fc_u64 value;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

FC_CALL void fc_store_u32(void *at, fc_u32 value) {
    asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

FC_CALL void fc_store_u64(void *at, fc_u64 value) {
    asm volatile("st.release.sys.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
}

FC_CALL fc_u32 fc_add_u32(void *at, fc_u32 value) { return atomicAdd((fc_u32 *) at, value); }
FC_CALL void fc_fence() { __threadfence_system(); }
FC_CALL fc_u32 fc_block() { return blockIdx.x; }

// Polling goes over PCIe; other blocks' loads should get through.
FC_CALL void fc_pause() { asm volatile("nanosleep.u32 100;"); }
#else
#include <sched.h>
#define FC_CALL static inline

FC_CALL fc_u32 fc_load_u32(const void *at) { return __atomic_load_n((const fc_u32 *) at, __ATOMIC_ACQUIRE); }
FC_CALL fc_u64 fc_load_u64(const void *at) { return __atomic_load_n((const fc_u64 *) at, __ATOMIC_ACQUIRE); }
FC_CALL void fc_store_u32(void *at, fc_u32 value) { __atomic_store_n((fc_u32 *) at, value, __ATOMIC_RELEASE); }
FC_CALL void fc_store_u64(void *at, fc_u64 value) { __atomic_store_n((fc_u64 *) at, value, __ATOMIC_RELEASE); }
FC_CALL fc_u32 fc_add_u32(void *at, fc_u32 value) { return __atomic_fetch_add((fc_u32 *) at, value, __ATOMIC_ACQ_REL); }
FC_CALL void fc_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static thread_local fc_u32 fc_host_block = 0;
FC_CALL fc_u32 fc_block() { return fc_host_block; }
FC_CALL void fc_pause() { sched_yield(); }
#endif

// The entries to take: of a channel, source and tag, or of any; and of which kinds, one bit each.
struct fc_match {
    fc_u32 channel;
    fc_u32 source;
    fc_u32 tag;
    fc_u32 kinds;
};

// One entry, with what its record says.
struct fc_frame {
    fc_u32 sequence;
    fc_u32 slot;
    fc_u32 kind;
    fc_u32 channel;
    fc_u32 source;
    fc_u32 tag;
    fc_u32 flags;
    fc_u32 reason;             // loss: LossReason's ordinal; lost: 0; over: Subscriber.State's ordinal
    const unsigned char *data; // device memory; null for events
    fc_u64 bytes;
    fc_u64 frame_id;           // loss: the first one lost; joined: the first one given
    fc_u64 session;
    fc_u64 timestamp_ns;       // the source's clock
    fc_u64 count;              // loss: frames lost
};

// One block's view of an area. In registers; what must outlive the kernel is in the area.
struct fc_queue {
    unsigned char *area;
    unsigned char *state;  // counts of blocks done
    unsigned char *cursor; // this block's: head and tail, from `first`; then taken bits, then copies of entries
    fc_u32 entries;
    fc_u32 consumers;
    fc_u32 first;  // positions begin here
    fc_u32 resume; // those before may have been returned by an earlier kernel
};

struct fc_shared {
    fc_frame frame;
    fc_u32 found;
};

FC_CALL fc_match fc_any() {
    fc_match match = {FC_ANY_CHANNEL, FC_ANY_SOURCE, FC_ANY_TAG, ~0u};
    return match;
}

FC_CALL fc_match fc_frames_of(fc_u32 channel, fc_u32 source, fc_u32 tag) {
    fc_match match = {channel, source, tag, 1u << FC_KIND_FRAME};
    return match;
}

FC_CALL unsigned char *fc_entry(const fc_queue *q, fc_u32 position) {
    return q->area + FC_HEADER_BYTES + (fc_u64) (position & (q->entries - 1)) * FC_ENTRY_BYTES;
}

FC_CALL unsigned char *fc_record(const fc_queue *q, fc_u32 slot) {
    return q->area + FC_HEADER_BYTES + (fc_u64) q->entries * FC_ENTRY_BYTES + (fc_u64) slot * FC_RECORD_BYTES;
}

FC_CALL unsigned char *fc_return_word(const fc_queue *q, fc_u32 slot) {
    return q->area + FC_HEADER_BYTES + (fc_u64) q->entries * (FC_ENTRY_BYTES + FC_RECORD_BYTES)
        + (fc_u64) slot * FC_RETURN_BYTES;
}

FC_CALL fc_u32 *fc_taken_word(const fc_queue *q, fc_u32 position) {
    return (fc_u32 *) (q->cursor + FC_CURSOR_BYTES) + ((position & (q->entries - 1)) >> 5);
}

FC_CALL fc_u64 *fc_copy(const fc_queue *q, fc_u32 position) {
    const fc_u32 bits = (q->entries + 127) / 128 * 16;
    return (fc_u64 *) (q->cursor + FC_CURSOR_BYTES + bits) + 2 * (fc_u64) (position & (q->entries - 1));
}

// Begins. Once per block, by every thread that will call the functions below.
FC_CALL void fc_open(fc_queue *q, const void *area) {
    q->area = (unsigned char *) area;
    q->entries = *(const fc_u32 *) (q->area + FC_ENTRIES_OFFSET);
    q->consumers = *(const fc_u32 *) (q->area + FC_CONSUMERS_OFFSET);
    q->resume = *(const fc_u32 *) (q->area + FC_RESUME_OFFSET);
    q->state = (unsigned char *) *(const fc_u64 *) (q->area + FC_STATE_OFFSET);
    const fc_u64 bits = (q->entries + 127) / 128 * 16;
    const fc_u64 cursor = FC_CURSOR_BYTES + bits + (fc_u64) q->entries * FC_ENTRY_BYTES;
    const fc_u64 counts = ((fc_u64) q->entries * 4 + 15) / 16 * 16;
    q->cursor = q->state + counts + fc_block() * cursor;
    q->first = *(const fc_u32 *) (q->area + FC_FIRST_OFFSET);
}

// The order of the host: 0 go on, FC_STOP_DRAIN no entry comes any more, FC_STOP_NOW end at once. A kernel that
// works long on a frame looks here meanwhile.
FC_CALL fc_u32 fc_stopping(const fc_queue *q) { return fc_load_u32(q->area + FC_STOP_OFFSET); }

// Takes over entries that have arrived: copies them to the device's own memory, so that what does not match now is not
// read over PCIe again.
FC_CALL void fc_fetch(const fc_queue *q) {
    fc_u32 *cursor = (fc_u32 *) q->cursor;
    while (cursor[0] - cursor[1] < q->entries) {
        const fc_u32 position = q->first + cursor[0];
        const unsigned char *entry = fc_entry(q, position);
        const fc_u64 word = fc_load_u64(entry);
        if ((fc_u32) word != position + 1) {
            return;
        }
        fc_u64 *copy = fc_copy(q, position);
        copy[0] = word;
        copy[1] = fc_load_u64(entry + 8);
        const fc_u32 bit = 1u << (position & 31);
        // An earlier kernel may have returned it.
        const bool old = (int) (q->resume - position) > 0
            && fc_load_u32(fc_return_word(q, position & (q->entries - 1))) == position + 1;
        fc_u32 *taken = fc_taken_word(q, position);
        *taken = old ? *taken | bit : *taken & ~bit;
        cursor[0]++;
    }
}

FC_CALL bool fc_matches(fc_u64 word0, fc_u64 word1, const fc_match *match) {
    const fc_u32 source = (fc_u32) word1 & 0xffffu;
    const fc_u32 channel = (fc_u32) word1 >> 16;
    const fc_u32 tag = (fc_u32) (word1 >> 32);
    return (match->kinds >> (fc_u32) (word0 >> 56) & 1u)
        && (match->channel == FC_ANY_CHANNEL || match->channel == channel)
        && (match->source == FC_ANY_SOURCE || match->source == source)
        && (match->tag == FC_ANY_TAG || match->tag == tag);
}

FC_CALL void fc_view(const fc_queue *q, fc_u64 word0, fc_u64 word1, fc_frame *frame) {
    frame->sequence = (fc_u32) word0;
    frame->slot = (fc_u32) (word0 >> 32) & ((1u << FC_SLOT_BITS) - 1);
    frame->kind = (fc_u32) (word0 >> 56);
    frame->source = (fc_u32) word1 & 0xffffu;
    frame->channel = (fc_u32) word1 >> 16;
    frame->tag = (fc_u32) (word1 >> 32);
    // Volatile: the record's slot held another one a lap ago.
    const volatile unsigned char *record = fc_record(q, frame->slot);
    frame->data = (const unsigned char *) *(const volatile fc_u64 *) (record + FC_RECORD_ADDRESS);
    frame->bytes = *(const volatile fc_u64 *) (record + FC_RECORD_LENGTH);
    frame->frame_id = *(const volatile fc_u64 *) (record + FC_RECORD_FRAME_ID);
    frame->session = *(const volatile fc_u64 *) (record + FC_RECORD_SESSION);
    frame->timestamp_ns = *(const volatile fc_u64 *) (record + FC_RECORD_TIMESTAMP);
    frame->count = *(const volatile fc_u64 *) (record + FC_RECORD_COUNT);
    frame->flags = *(const volatile fc_u32 *) (record + FC_RECORD_FLAGS);
    frame->reason = *(const volatile fc_u32 *) (record + FC_RECORD_REASON);
}

// Takes the oldest entry that matches and was not taken before; the others keep their order. 1 when there was one.
FC_CALL int fc_test(fc_queue *q, fc_match match, fc_frame *frame) {
    fc_fetch(q);
    fc_u32 *cursor = (fc_u32 *) q->cursor;
    for (fc_u32 position = q->first + cursor[1]; position != q->first + cursor[0]; position++) {
        fc_u32 *taken = fc_taken_word(q, position);
        const fc_u32 bit = 1u << (position & 31);
        const fc_u64 *copy = fc_copy(q, position);
        if ((*taken & bit) || !fc_matches(copy[0], copy[1], &match)) {
            continue;
        }
        fc_view(q, copy[0], copy[1], frame);
        *taken |= bit;
        fc_u32 tail = q->first + cursor[1];
        while (tail != q->first + cursor[0] && (*fc_taken_word(q, tail) >> (tail & 31) & 1u)) {
            tail++;
        }
        cursor[1] = tail - q->first;
        return 1;
    }
    return 0;
}

// Waits for an entry that matches. 0: the host wants the kernel to end. Entries that no call matches stay queued and
// hold their credit: when they fill the ring, nothing arrives any more.
FC_CALL int fc_wait(fc_queue *q, fc_match match, fc_frame *frame) {
    for (;;) {
        const fc_u32 stop = fc_stopping(q);
        if (stop == FC_STOP_NOW) {
            return 0;
        }
        // Entries written before the order to drain are seen after it.
        if (fc_test(q, match, frame)) {
            return 1;
        }
        if (stop == FC_STOP_DRAIN) {
            return 0;
        }
        fc_pause();
    }
}

// Whether this block is the last to be done with an entry; it alone may then fc_return it. For kernels that combine what
// their blocks found; the others call fc_release.
FC_CALL int fc_last(const fc_queue *q, const fc_frame *frame) {
    fc_fence();
    if (q->consumers > 1) {
        fc_u32 *done = (fc_u32 *) q->state + frame->slot;
        if (fc_add_u32(done, 1) != q->consumers - 1) {
            return 0;
        }
        *done = 0;
        fc_fence();
    }
    return 1;
}

FC_CALL void fc_return(const fc_queue *q, const fc_frame *frame) {
    fc_fence();
    fc_store_u32(fc_return_word(q, frame->slot), frame->sequence);
}

// Gives an entry, and the memory of its frame, back. In any order.
FC_CALL void fc_release(const fc_queue *q, const fc_frame *frame) {
    if (fc_last(q, frame)) {
        fc_return(q, frame);
    }
}

// ---- Requests: a kernel asks the host to publish device memory. Any thread of any block.

struct fc_requests {
    unsigned char *queue;
    fc_u32 requests;
};

// Begins; `queue` is DeviceRequests.address().
FC_CALL void fc_requests_open(fc_requests *r, const void *queue) {
    r->queue = (unsigned char *) queue;
    r->requests = *(const fc_u32 *) (r->queue + FC_REQUESTS_OFFSET);
}

FC_CALL unsigned char *fc_answer(const fc_requests *r, fc_u32 ticket) {
    return r->queue + FC_REQUEST_HEADER_BYTES + (fc_u64) r->requests * FC_REQUEST_BYTES
        + (fc_u64) (ticket & (r->requests - 1)) * FC_ANSWER_BYTES;
}

// The answer to a ticket: 0 while there is none, else an FC_STATUS. It is kept until as many further requests were made
// as the queue holds; then it is FC_STATUS_FORGOTTEN.
FC_CALL fc_u32 fc_answered(const fc_requests *r, fc_u32 ticket) {
    const fc_u64 answer = fc_load_u64(fc_answer(r, ticket));
    const int ahead = (int) ((fc_u32) answer - (ticket + 1));
    return ahead < 0 ? 0 : ahead > 0 ? (fc_u32) FC_STATUS_FORGOTTEN : (fc_u32) (answer >> 32);
}

// Asks the host to publish `bytes` bytes at `data`, which must stay as they are until the answer. Waits while the queue is
// full. 1 and a ticket; or 0 when the host has closed the queue. `channel` is what DeviceRequests.bind gave.
FC_CALL int fc_publish(fc_requests *r, fc_u32 channel, const void *data, fc_u64 bytes, fc_u32 flags, fc_u32 tag,
                       fc_u32 *ticket) {
    // The counter is device memory or, where there is one, mapped host memory; one block's threads and others' share it.
    fc_u32 *tickets = (fc_u32 *) *(const fc_u64 *) (r->queue + FC_TICKETS_OFFSET);
    const fc_u32 mine = fc_add_u32(tickets, 1);
    // The slot is free when the request before has its answer.
    while ((int) ((fc_u32) fc_load_u64(fc_answer(r, mine)) - (mine + 1 - r->requests)) < 0) {
        if (fc_load_u32(r->queue + FC_REQUEST_STOP_OFFSET)) {
            return 0;
        }
        fc_pause();
    }
    unsigned char *request = r->queue + FC_REQUEST_HEADER_BYTES + (fc_u64) (mine & (r->requests - 1)) * FC_REQUEST_BYTES;
    *(volatile fc_u64 *) (request + FC_REQUEST_ADDRESS) = (fc_u64) data;
    *(volatile fc_u64 *) (request + FC_REQUEST_LENGTH) = bytes;
    *(volatile fc_u64 *) (request + FC_REQUEST_TIMESTAMP) = 0;
    *(volatile fc_u32 *) (request + FC_REQUEST_CHANNEL) = channel;
    *(volatile fc_u32 *) (request + FC_REQUEST_FLAGS) = flags;
    *(volatile fc_u32 *) (request + FC_REQUEST_TAG) = tag;
    // The frame's bytes, and the request, before the sequence.
    fc_fence();
    fc_store_u32(request, mine + 1);
    *ticket = mine;
    return 1;
}

// Waits for the answer to a ticket.
FC_CALL fc_u32 fc_await(const fc_requests *r, fc_u32 ticket) {
    for (;;) {
        const fc_u32 status = fc_answered(r, ticket);
        if (status) {
            return status;
        }
        if (fc_load_u32(r->queue + FC_REQUEST_STOP_OFFSET)) {
            return FC_STATUS_CLOSED;
        }
        fc_pause();
    }
}

#if defined(__CUDACC__)
// fc_wait for a whole block: one thread waits, all get the frame. The leader's acquire and the barrier behind it order
// every thread's later reads.
FC_CALL int fc_wait_block(fc_queue *q, fc_match match, fc_frame *frame, fc_shared *shared) {
    __syncthreads();
    if (threadIdx.x == 0) {
        shared->found = fc_wait(q, match, &shared->frame);
    }
    __syncthreads();
    *frame = shared->frame;
    return shared->found;
}

FC_CALL void fc_release_block(fc_queue *q, const fc_frame *frame) {
    __syncthreads();
    if (threadIdx.x == 0) {
        fc_release(q, frame);
    }
}
#endif
#endif
