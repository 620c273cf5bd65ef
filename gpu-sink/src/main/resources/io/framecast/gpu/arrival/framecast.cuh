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
// thread of the block, always the same. Every block of the grid sees every entry, in order, and must release it; it goes
// back to the host when the last block has. A kernel must be resident as a whole: launch no more blocks than the device
// holds at once. Everything taken must be released, events too. fc_wait answers 0 when the host wants the kernel to end:
// return then. Frames not released by a kernel that ended are given to the next one that is launched on the area.
//
// Memory order. Host: writes the record and word 1 of the entry, then word 0, which holds the sequence, with release
// order. Device: reads word 0 with ld.acquire.sys; when the sequence is the expected one, everything that it reads afterwards
// is at least as new as the entry, in the record as in the frame. Back: all threads' reads, then __syncthreads, then one
// thread of each block counts with atom.acq_rel.gpu, and that of the last block stores the sequence into the slot's return
// word with st.release.sys; the host reads that with acquire order and only then lets the frame's memory, and the entry, be
// overwritten. Nothing relies on 16-byte accesses being single-copy atomic.
//
// Cost, as measured on an H100. A load from host memory is a trip over PCIe of 1.1 us, and one that is volatile or relaxed
// waits for the one before it: so the record is read by plain loads behind the acquire, in one trip. Loads of several blocks
// wait for each other, 3.4 us for each block of 64: so where there are several, the one that looks first brings the entry to
// the device's memory, the relay, and stores its word 0 with st.release.gpu, which the others load with ld.acquire.gpu. A
// release at system scope takes 0.65 us.
//
// Needs compute capability 7.0. Compiled by a host compiler the functions work on host memory, for tests.
#ifndef FRAMECAST_CUH
#define FRAMECAST_CUH

typedef unsigned int fc_u32;
typedef unsigned long long fc_u64;

enum {
    FC_VERSION = 2,
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
    // The device's own memory: counts of blocks done [ENTRIES] of 4 bytes, the relay's lock and order to end, its entries
    // with their records [ENTRIES], then a cursor for each block.
    FC_LOCK_BYTES = 64,
    FC_LOCK_STOP = 32,
    FC_RELAY_BYTES = 80,
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
#define FC_STATE_ADDRESS(address) (address)

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

// Between blocks.
FC_CALL fc_u64 fc_load_gpu_u64(const void *at) {
    fc_u64 value;
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

FC_CALL fc_u32 fc_load_gpu_u32(const void *at) {
    fc_u32 value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

FC_CALL void fc_store_gpu_u64(void *at, fc_u64 value) {
    asm volatile("st.release.gpu.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
}

FC_CALL void fc_store_gpu_u32(void *at, fc_u32 value) {
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

FC_CALL fc_u32 fc_add_u32(void *at, fc_u32 value) {
    fc_u32 before;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(value) : "memory");
    return before;
}

FC_CALL bool fc_lock(void *at) {
    fc_u32 before;
    asm volatile("atom.acquire.gpu.exch.b32 %0, [%1], 1;" : "=r"(before) : "l"(at) : "memory");
    return !before;
}

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
FC_CALL fc_u64 fc_load_gpu_u64(const void *at) { return fc_load_u64(at); }
FC_CALL fc_u32 fc_load_gpu_u32(const void *at) { return fc_load_u32(at); }
FC_CALL void fc_store_gpu_u64(void *at, fc_u64 value) { fc_store_u64(at, value); }
FC_CALL void fc_store_gpu_u32(void *at, fc_u32 value) { fc_store_u32(at, value); }
FC_CALL fc_u32 fc_add_u32(void *at, fc_u32 value) { return __atomic_fetch_add((fc_u32 *) at, value, __ATOMIC_ACQ_REL); }
FC_CALL bool fc_lock(void *at) { return !__atomic_exchange_n((fc_u32 *) at, 1, __ATOMIC_ACQUIRE); }
// Where the host finds device memory, which a test may have elsewhere.
#ifndef FC_STATE_ADDRESS
#define FC_STATE_ADDRESS(address) (address)
#endif
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

// One block's view of an area. In registers; what must outlive it is in the device's memory too.
struct fc_queue {
    unsigned char *area;
    unsigned char *state;  // counts of blocks done
    unsigned char *lock;   // of the relay, and before it
    unsigned char *cursor; // this block's: head and tail, from `first`; then taken bits
    fc_u32 entries;
    fc_u32 consumers;
    fc_u32 first;  // positions begin here
    fc_u32 resume; // those before may have been returned by an earlier kernel
    fc_u32 head;   // entries seen, and of these the ones before which all were taken; from `first`
    fc_u32 tail;
    fc_u32 waits;
    fc_u32 looks;
};

// An entry with its record, as words.
struct fc_words {
    fc_u64 entry[2];
    fc_u64 record[7];
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

FC_CALL unsigned char *fc_relay(const fc_queue *q, fc_u32 position) {
    return q->lock + FC_LOCK_BYTES + (fc_u64) (position & (q->entries - 1)) * FC_RELAY_BYTES;
}

// Begins. Once per block, by every thread that will call the functions below. Where the host is of another version than this
// header, fc_wait answers 0 at once: compile the kernel anew.
FC_CALL void fc_open(fc_queue *q, const void *area) {
    q->area = (unsigned char *) area;
    const bool known = *(const fc_u32 *) (q->area + FC_VERSION_OFFSET) == FC_VERSION;
    q->entries = known ? *(const fc_u32 *) (q->area + FC_ENTRIES_OFFSET) : 0;
    q->consumers = *(const fc_u32 *) (q->area + FC_CONSUMERS_OFFSET);
    q->resume = *(const fc_u32 *) (q->area + FC_RESUME_OFFSET);
    q->state = (unsigned char *) FC_STATE_ADDRESS(*(const fc_u64 *) (q->area + FC_STATE_OFFSET));
    const fc_u64 bits = (q->entries + 127) / 128 * 16;
    q->lock = q->state + ((fc_u64) q->entries * 4 + 15) / 16 * 16;
    q->cursor = q->lock + FC_LOCK_BYTES + (fc_u64) q->entries * FC_RELAY_BYTES + fc_block() * (FC_CURSOR_BYTES + bits);
    q->first = *(const fc_u32 *) (q->area + FC_FIRST_OFFSET);
    q->head = known ? ((const fc_u32 *) q->cursor)[0] : 0;
    q->tail = known ? ((const fc_u32 *) q->cursor)[1] : 0;
    q->waits = 0;
    q->looks = 0;
}

// The order of the host: 0 go on, FC_STOP_DRAIN no entry comes any more, FC_STOP_NOW end at once. A kernel that
// works long on a frame looks here meanwhile.
FC_CALL fc_u32 fc_stopping(const fc_queue *q) { return fc_load_u32(q->area + FC_STOP_OFFSET); }

FC_CALL bool fc_matches(const fc_words *words, const fc_match *match) {
    const fc_u32 source = (fc_u32) words->entry[1] & 0xffffu;
    const fc_u32 channel = (fc_u32) words->entry[1] >> 16;
    const fc_u32 tag = (fc_u32) (words->entry[1] >> 32);
    return (match->kinds >> (fc_u32) (words->entry[0] >> 56) & 1u)
        && (match->channel == FC_ANY_CHANNEL || match->channel == channel)
        && (match->source == FC_ANY_SOURCE || match->source == source)
        && (match->tag == FC_ANY_TAG || match->tag == tag);
}

FC_CALL void fc_view(const fc_words *words, fc_frame *frame) {
    frame->sequence = (fc_u32) words->entry[0];
    frame->slot = (fc_u32) (words->entry[0] >> 32) & ((1u << FC_SLOT_BITS) - 1);
    frame->kind = (fc_u32) (words->entry[0] >> 56);
    frame->source = (fc_u32) words->entry[1] & 0xffffu;
    frame->channel = (fc_u32) words->entry[1] >> 16;
    frame->tag = (fc_u32) (words->entry[1] >> 32);
    frame->data = (const unsigned char *) words->record[FC_RECORD_ADDRESS / 8];
    frame->bytes = words->record[FC_RECORD_LENGTH / 8];
    frame->frame_id = words->record[FC_RECORD_FRAME_ID / 8];
    frame->session = words->record[FC_RECORD_SESSION / 8];
    frame->timestamp_ns = words->record[FC_RECORD_TIMESTAMP / 8];
    frame->count = words->record[FC_RECORD_COUNT / 8];
    frame->flags = (fc_u32) words->record[FC_RECORD_FLAGS / 8];
    frame->reason = (fc_u32) (words->record[FC_RECORD_FLAGS / 8] >> 32);
}

// The words of an entry that the relay has.
FC_CALL void fc_read_relay(const fc_queue *q, fc_u32 position, fc_words *words) {
    const fc_u64 *relay = (const fc_u64 *) fc_relay(q, position);
    for (int i = 0; i < 2; i++) words->entry[i] = relay[i];
    for (int i = 0; i < 7; i++) words->record[i] = relay[2 + i];
}

// Reads an entry that another block brought.
FC_CALL bool fc_relayed(const fc_queue *q, fc_u32 position, fc_words *words) {
    const fc_u64 word0 = fc_load_gpu_u64(fc_relay(q, position));
    // Zeros are no entry, also where the sequence is 0.
    if (!word0 || (fc_u32) word0 != position + 1) {
        return false;
    }
    fc_read_relay(q, position, words);
    return true;
}

// Reads an entry from the host, if it has arrived, and puts it into the relay.
FC_CALL bool fc_fetch(const fc_queue *q, fc_u32 position, fc_words *words) {
    const unsigned char *entry = fc_entry(q, position);
    words->entry[0] = fc_load_u64(entry);
    if ((fc_u32) words->entry[0] != position + 1) {
        return false;
    }
    // All of these loads are one trip.
    const fc_u64 *record = (const fc_u64 *) fc_record(q, (fc_u32) (words->entry[0] >> 32) & ((1u << FC_SLOT_BITS) - 1));
    words->entry[1] = *(const fc_u64 *) (entry + 8);
    for (int i = 0; i < 7; i++) words->record[i] = record[i];
    fc_u64 *relay = (fc_u64 *) fc_relay(q, position);
    relay[1] = words->entry[1];
    for (int i = 0; i < 7; i++) relay[2 + i] = words->record[i];
    if (q->consumers > 1) {
        fc_store_gpu_u64(relay, words->entry[0]);
    } else {
        relay[0] = words->entry[0];
    }
    return true;
}

// The outcome of a look; fc_busy: another block is looking.
enum fc_found { fc_none, fc_taken, fc_busy };

// Looks whether an entry has arrived.
FC_CALL fc_found fc_look(fc_queue *q, fc_u32 position, fc_words *words) {
    if (q->consumers == 1) {
        return fc_fetch(q, position, words) ? fc_taken : fc_none;
    }
    if (fc_relayed(q, position, words)) {
        return fc_taken;
    }
    if (!fc_lock(q->lock)) {
        return fc_busy;
    }
    if (!(q->looks++ & 15)) {
        fc_store_gpu_u32(q->lock + FC_LOCK_STOP, fc_stopping(q));
    }
    // Another block may have brought it before this one had the lock.
    const bool arrived = fc_relayed(q, position, words) || fc_fetch(q, position, words);
    fc_store_gpu_u32(q->lock, 0);
    return arrived ? fc_taken : fc_none;
}

FC_CALL void fc_keep_cursor(const fc_queue *q) {
    ((fc_u32 *) q->cursor)[0] = q->head;
    ((fc_u32 *) q->cursor)[1] = q->tail;
}

// Takes the oldest of the entries that were seen and matched no call before.
FC_CALL bool fc_take_seen(fc_queue *q, const fc_match *match, fc_frame *frame) {
    for (fc_u32 at = q->tail; at != q->head; at++) {
        fc_u32 *taken = fc_taken_word(q, q->first + at);
        const fc_u32 bit = 1u << ((q->first + at) & 31);
        fc_words words;
        if (*taken & bit) {
            continue;
        }
        fc_read_relay(q, q->first + at, &words);
        if (!fc_matches(&words, match)) {
            continue;
        }
        fc_view(&words, frame);
        *taken |= bit;
        while (q->tail != q->head && (*fc_taken_word(q, q->first + q->tail) >> ((q->first + q->tail) & 31) & 1u)) {
            q->tail++;
        }
        fc_keep_cursor(q);
        return true;
    }
    return false;
}

FC_CALL fc_found fc_take(fc_queue *q, const fc_match *match, fc_frame *frame) {
    if (fc_take_seen(q, match, frame)) {
        return fc_taken;
    }
    while (q->head - q->tail < q->entries) {
        const fc_u32 position = q->first + q->head;
        fc_words words;
        const fc_found found = fc_look(q, position, &words);
        if (found != fc_taken) {
            return found;
        }
        // An earlier kernel may have returned it.
        const bool old = (int) (q->resume - position) > 0
            && fc_load_u32(fc_return_word(q, position & (q->entries - 1))) == position + 1;
        const bool takes = !old && fc_matches(&words, match);
        const bool next = q->head == q->tail;
        q->head++;
        if (next && (takes || old)) {
            q->tail++;
        } else {
            fc_u32 *taken = fc_taken_word(q, position);
            const fc_u32 bit = 1u << (position & 31);
            *taken = takes || old ? *taken | bit : *taken & ~bit;
        }
        fc_keep_cursor(q);
        if (takes) {
            fc_view(&words, frame);
            return fc_taken;
        }
    }
    return fc_none;
}

// Takes the oldest entry that matches and was not taken before; the others keep their order. 1 when there was one.
FC_CALL int fc_test(fc_queue *q, fc_match match, fc_frame *frame) { return fc_take(q, &match, frame) == fc_taken; }

// Waits for an entry that matches. 0: the host wants the kernel to end. Entries that no call matches stay queued and
// hold their credit: when they fill the ring, nothing arrives any more.
FC_CALL int fc_wait(fc_queue *q, fc_match match, fc_frame *frame) {
    for (;;) {
        // The order to end costs a trip of its own, so not every look is for it.
        fc_u32 stop = 0;
        if (!(q->waits++ & 15)) {
            stop = q->consumers > 1 ? fc_load_gpu_u32(q->lock + FC_LOCK_STOP) : fc_stopping(q);
        }
        if (stop == FC_STOP_NOW || !q->entries) {
            return 0;
        }
        // Entries written before the order to drain are seen after it.
        const fc_found found = fc_take(q, &match, frame);
        if (found == fc_taken) {
            return 1;
        }
        if (stop == FC_STOP_DRAIN && found == fc_none) {
            return 0;
        }
        fc_pause();
    }
}

// Whether this block is the last to be done with an entry; it alone may then fc_return it. For kernels that combine what
// their blocks found; the others call fc_release.
FC_CALL int fc_last(const fc_queue *q, const fc_frame *frame) {
    if (q->consumers > 1) {
        fc_u32 *done = (fc_u32 *) q->state + frame->slot;
        if (fc_add_u32(done, 1) != q->consumers - 1) {
            return 0;
        }
        // None counts here before the entry comes again, which follows its return.
        *done = 0;
    }
    return 1;
}

FC_CALL void fc_return(const fc_queue *q, const fc_frame *frame) {
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
