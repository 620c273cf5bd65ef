// The smallest persistent kernel: for every frame that arrives it adds up (byte + 1) * (index + 1), which notices bytes
// that are wrong, missing or in the wrong place, and writes the sum where the host sees it. One launch, however many frames.
//
// results[resultSlots] of 4 words: number of the result + 1, frame id, bytes, sum; partial[entries] of device memory,
// zeroed. Events are counted out as results with 0 bytes and the kind as the sum.
#include "../resources/io/framecast/gpu/arrival/framecast.cuh"

extern "C" __global__ void framecast_byte_sum(
        const void *area, fc_u64 *results, fc_u64 resultSlots, fc_u64 *partial) {
    __shared__ fc_shared shared;
    __shared__ fc_u64 blockSum;
    fc_queue queue;
    fc_frame frame;
    fc_open(&queue, area);
    const fc_u64 step = (fc_u64) gridDim.x * blockDim.x;
    while (fc_wait_block(&queue, fc_any(), &frame, &shared)) {
        if (threadIdx.x == 0) {
            blockSum = 0;
        }
        __syncthreads();
        fc_u64 sum = 0;
        const volatile unsigned char *data = frame.data;
        for (fc_u64 i = (fc_u64) blockIdx.x * blockDim.x + threadIdx.x; i < frame.bytes; i += step) {
            sum += ((fc_u64) data[i] + 1) * (i + 1);
        }
        for (int offset = 16; offset > 0; offset >>= 1) {
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        }
        if ((threadIdx.x & 31) == 0) {
            atomicAdd(&blockSum, sum);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&partial[frame.slot], blockSum);
            if (fc_last(&queue, &frame)) {
                const fc_u64 total = atomicExch(&partial[frame.slot], 0);
                // Entries are given in order, so the sequence numbers the results.
                fc_u64 *result = results + 4 * ((frame.sequence - 1) & (resultSlots - 1));
                const bool isFrame = frame.kind == FC_KIND_FRAME;
                *(volatile fc_u64 *) (result + 1) = frame.frame_id;
                *(volatile fc_u64 *) (result + 2) = isFrame ? frame.bytes : 0;
                *(volatile fc_u64 *) (result + 3) = isFrame ? total : frame.kind;
                fc_store_u64(result, frame.sequence);
                fc_return(&queue, &frame);
            }
        }
    }
}

// The same for one frame, in the ordinary way: a launch for each. What the persistent kernel is measured against.
extern "C" __global__ void framecast_byte_sum_once(
        const unsigned char *data, fc_u64 bytes, fc_u64 *sumOut) {
    __shared__ fc_u64 blockSum;
    if (threadIdx.x == 0) {
        blockSum = 0;
    }
    __syncthreads();
    fc_u64 sum = 0;
    const fc_u64 step = (fc_u64) gridDim.x * blockDim.x;
    // A launch needs no volatile; but then the two kernels would differ in more than how the frame is announced.
    const volatile unsigned char *bytesOfFrame = data;
    for (fc_u64 i = (fc_u64) blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step) {
        sum += ((fc_u64) bytesOfFrame[i] + 1) * (i + 1);
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&blockSum, sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(sumOut, blockSum);
    }
}

// Asks the host to publish `count` times the same device memory, which it changes before: byte i of frame n is
// (i + n * 7 + seed) & 255. Writes the number done, then the last status that was not. One block.
extern "C" __global__ void framecast_request_frames(
        const void *queue, unsigned char *data, fc_u64 bytes, fc_u64 count, fc_u64 channel, fc_u64 seed, fc_u64 *out) {
    __shared__ fc_u32 status;
    fc_requests requests;
    fc_requests_open(&requests, queue);
    fc_u64 done = 0;
    fc_u32 last = 0;
    for (fc_u64 n = 0; n < count; n++) {
        for (fc_u64 i = threadIdx.x; i < bytes; i += blockDim.x) {
            data[i] = (unsigned char) (i + n * 7 + seed);
        }
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0) {
            fc_u32 ticket;
            status = FC_STATUS_CLOSED;
            if (fc_publish(&requests, (fc_u32) channel, data, bytes, FC_REQUEST_TAGGED, (fc_u32) n, &ticket)) {
                status = fc_await(&requests, ticket);
            }
        }
        __syncthreads();
        done += status == FC_STATUS_DONE;
        last = status == FC_STATUS_DONE ? last : status;
        if (status == FC_STATUS_CLOSED) {
            break;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *(volatile fc_u64 *) (out + 1) = last;
        fc_store_u64(out, done);
    }
}
