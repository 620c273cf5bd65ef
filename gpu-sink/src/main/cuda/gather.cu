/* Copies up to ten pieces within the device by one launch: what loss has left of a frame, put together.
 *
 * A piece that is not there has no bytes. Each piece is copied by PARTS blocks, in words of 16 bytes where both ends allow
 * it. Plain loads: what a NIC wrote was made visible before the launch, which drops what the caches held. */
typedef unsigned long long u64;

#define PARTS 8
#define PIECE(n) u64 target##n, u64 source##n, u64 bytes##n
#define TAKE(n) case n: target = target##n; source = source##n; bytes = bytes##n; break

extern "C" __global__ void framecast_gather(PIECE(0), PIECE(1), PIECE(2), PIECE(3), PIECE(4), PIECE(5), PIECE(6), PIECE(7),
        PIECE(8), PIECE(9)) {
    u64 target = 0, source = 0, bytes = 0;
    switch (blockIdx.x / PARTS) {
        TAKE(0); TAKE(1); TAKE(2); TAKE(3); TAKE(4); TAKE(5); TAKE(6); TAKE(7); TAKE(8); TAKE(9);
    }
    const u64 first = (u64) (blockIdx.x % PARTS) * blockDim.x + threadIdx.x;
    const u64 step = (u64) PARTS * blockDim.x;
    const u64 words = (target | source) & 15 ? 0 : bytes / 16;
    for (u64 i = first; i < words; i += step) ((uint4 *) target)[i] = ((const uint4 *) source)[i];
    for (u64 i = words * 16 + first; i < bytes; i += step) ((char *) target)[i] = ((const char *) source)[i];
}
