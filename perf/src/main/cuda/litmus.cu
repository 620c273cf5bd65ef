// The kernels of `framecast litmus`: LitmusKernels holds the same in Java.

__device__ static unsigned long long word(unsigned long long round, unsigned long long index) {
    return (round + 1) * 0x9E3779B97F4A7C15ULL + index * 0xBF58476D1CE4E5B9ULL;
}

// Writes the pattern of a round over `words` 64-bit words.
extern "C" __global__ void litmus_fill(unsigned long long *frame, unsigned long long words, unsigned long long round) {
    const unsigned long long step = (unsigned long long) gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long) blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step) {
        frame[i] = word(round, i);
    }
}

// Adds to result[0] how many words differ from the pattern of a round; the first thread adds one to result[1].
extern "C" __global__ void litmus_check(const unsigned long long *frame, unsigned long long words,
        unsigned long long round, unsigned long long *result) {
    const unsigned long long step = (unsigned long long) gridDim.x * blockDim.x;
    const unsigned long long first = (unsigned long long) blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long wrong = 0;
    for (unsigned long long i = first; i < words; i += step) {
        wrong += frame[i] != word(round, i);
    }
    if (wrong) {
        atomicAdd(result, wrong);
    }
    if (first == 0) {
        atomicAdd(result + 1, 1ULL);
    }
}

// Keeps a stream busy for so many nanoseconds, so that what follows on it is late.
extern "C" __global__ void litmus_late(unsigned long long nanoseconds) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}
