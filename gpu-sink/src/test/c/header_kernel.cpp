// framecast.cuh compiled for the host: the device's half of the litmus test, and the request functions, in the very code
// that kernels use.
#include "framecast.cuh"

#include <unistd.h>

static fc_u64 pattern(fc_u64 frameId, fc_u64 words, fc_u64 index) {
    const fc_u64 mixed = (frameId * words + index + 1) * 0x9e3779b97f4a7c15ull;
    return mixed ^ mixed >> 29;
}

// Takes frames until the host ends it, as block `block`. out: frames, violations.
extern "C" void consume(const void *area, fc_u64 words, fc_u32 block, fc_u32 returnsEarly, fc_u64 *out) {
    fc_host_block = block;
    fc_queue queue;
    fc_frame frame;
    fc_open(&queue, area);
    fc_u64 frames = 0, violations = 0;
    while (fc_wait(&queue, fc_any(), &frame)) {
        if (returnsEarly) fc_release(&queue, &frame);
        violations += frame.frame_id != frames;
        const volatile fc_u64 *data = (const volatile fc_u64 *) frame.data;
        for (fc_u64 i = 0; i < words; i++) {
            // Slow readers meet mistakes.
            if (i == words / 2 && frames % (returnsEarly ? 4 : 64) == 0) usleep(returnsEarly ? 20 : 1);
            violations += data[i] != pattern(frames, words, i);
        }
        frames++;
        if (!returnsEarly) fc_release(&queue, &frame);
    }
    out[0] = frames;
    out[1] = violations;
}

// Takes what matches without waiting; answers the frame's id, or -1. `queue` of fc_open is made anew each time: all that
// must last is in the state.
extern "C" fc_u64 take(const void *area, fc_u32 channel, fc_u32 source, fc_u32 tag, fc_u32 kinds, fc_u32 releases) {
    fc_host_block = 0;
    fc_queue queue;
    fc_frame frame;
    fc_open(&queue, area);
    const fc_match match = {channel, source, tag, kinds};
    if (!fc_test(&queue, match, &frame)) return ~0ull;
    if (releases) fc_release(&queue, &frame);
    return frame.frame_id;
}

extern "C" fc_u64 publish(const void *queue, fc_u32 channel, fc_u64 data, fc_u64 bytes, fc_u32 flags, fc_u32 tag) {
    fc_requests requests;
    fc_u32 ticket;
    fc_requests_open(&requests, queue);
    return fc_publish(&requests, channel, (const void *) data, bytes, flags, tag, &ticket) ? ticket : ~0ull;
}

extern "C" fc_u32 answered(const void *queue, fc_u32 ticket) {
    fc_requests requests;
    fc_requests_open(&requests, queue);
    return fc_answered(&requests, ticket);
}

extern "C" fc_u32 await_answer(const void *queue, fc_u32 ticket) {
    fc_requests requests;
    fc_requests_open(&requests, queue);
    return fc_await(&requests, ticket);
}
