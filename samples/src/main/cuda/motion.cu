// Motion between two frames: how many bytes differ by more than a threshold, and the sum of all differences. Whole
// numbers, so that any grid, the emulated device and the host give exactly the same.
//
// result[0] += changed bytes, result[1] += sum of absolute differences; the caller clears both.

__device__ __forceinline__ void add_byte(
        unsigned current, unsigned previous, unsigned threshold, unsigned &changed, unsigned long long &sum) {
    const unsigned difference = current > previous ? current - previous : previous - current;
    changed += difference > threshold ? 1u : 0u;
    sum += difference;
}

__device__ __forceinline__ void add_word(
        unsigned current, unsigned previous, unsigned threshold, unsigned &changed, unsigned long long &sum) {
    if (current == previous) {
        return;
    }
    for (int shift = 0; shift < 32; shift += 8) {
        add_byte(current >> shift & 0xffu, previous >> shift & 0xffu, threshold, changed, sum);
    }
}

extern "C" __global__ void motion(
        const unsigned char *current,
        const unsigned char *previous,
        unsigned long long bytes,
        unsigned long long threshold,
        unsigned long long *result) {
    const unsigned long long first = (unsigned long long) blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long step = (unsigned long long) gridDim.x * blockDim.x;
    const unsigned limit = (unsigned) threshold;
    unsigned changed = 0;
    unsigned long long sum = 0;

    // 16 bytes per load where both frames allow it; frames start at slots, so they nearly always do.
    const bool aligned = (((unsigned long long) current | (unsigned long long) previous) & 15) == 0;
    const unsigned long long vectors = aligned ? bytes / 16 : 0;
    const uint4 *currentVectors = (const uint4 *) current;
    const uint4 *previousVectors = (const uint4 *) previous;
    for (unsigned long long i = first; i < vectors; i += step) {
        const uint4 a = currentVectors[i];
        const uint4 b = previousVectors[i];
        add_word(a.x, b.x, limit, changed, sum);
        add_word(a.y, b.y, limit, changed, sum);
        add_word(a.z, b.z, limit, changed, sum);
        add_word(a.w, b.w, limit, changed, sum);
    }
    for (unsigned long long i = vectors * 16 + first; i < bytes; i += step) {
        add_byte(current[i], previous[i], limit, changed, sum);
    }

    // One addition to global memory per block: warps add up by shuffles, the block in shared memory.
    __shared__ unsigned long long blockChanged;
    __shared__ unsigned long long blockSum;
    if (threadIdx.x == 0) {
        blockChanged = 0;
        blockSum = 0;
    }
    __syncthreads();
    unsigned long long changedTotal = changed;
    for (int offset = 16; offset > 0; offset >>= 1) {
        changedTotal += __shfl_down_sync(0xffffffffu, changedTotal, offset);
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&blockChanged, changedTotal);
        atomicAdd(&blockSum, sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&result[0], blockChanged);
        atomicAdd(&result[1], blockSum);
    }
}
