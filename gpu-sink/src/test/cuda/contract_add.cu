// The kernel of DeviceBackendContract: target[i] = source[i] + addend, for any grid.
extern "C" __global__ void contract_add(
        unsigned char *target, const unsigned char *source, unsigned long long count, unsigned long long addend) {
    const unsigned long long step = (unsigned long long) gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        target[i] = (unsigned char) (source[i] + addend);
    }
}
