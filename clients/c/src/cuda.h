#ifndef FC_CUDA_H
#define FC_CUDA_H

#include "framecast.h"

#include <stdint.h>

/* The CUDA driver, looked for when a program first asks for a device: without one this library needs no libcuda. Types
 * are those of cuda.h: CUresult and CUdevice are int, CUdeviceptr has 64 bits, the others are pointers. */
struct fci_cuda_handle {
    char bytes[64];
};

enum { FCI_CUDA_SUCCESS = 0, FCI_CUDA_NOT_READY = 600 };

/* Name of the field, of the function, and its arguments. */
#define FCI_CUDA_CALLS(CALL)                                                                                           \
    CALL(init, cuInit, (unsigned flags))                                                                               \
    CALL(device_count, cuDeviceGetCount, (int *count))                                                                 \
    CALL(device_get, cuDeviceGet, (int *device, int ordinal))                                                          \
    CALL(device_uuid, cuDeviceGetUuid, (uint8_t *uuid, int device))                                                    \
    CALL(can_access_peer, cuDeviceCanAccessPeer, (int *can, int device, int peer))                                     \
    CALL(context_retain, cuDevicePrimaryCtxRetain, (void **context, int device))                                       \
    CALL(context_release, cuDevicePrimaryCtxRelease_v2, (int device))                                                  \
    CALL(context_push, cuCtxPushCurrent_v2, (void *context))                                                           \
    CALL(context_pop, cuCtxPopCurrent_v2, (void **context))                                                            \
    CALL(allocate, cuMemAlloc_v2, (uint64_t *address, size_t bytes))                                                   \
    CALL(deallocate, cuMemFree_v2, (uint64_t address))                                                                 \
    CALL(address_range, cuMemGetAddressRange_v2, (uint64_t *start, size_t *bytes, uint64_t address))                   \
    CALL(host_allocate, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                 \
    CALL(host_free, cuMemFreeHost, (void *memory))                                                                     \
    CALL(host_register, cuMemHostRegister_v2, (void *start, size_t bytes, unsigned flags))                             \
    CALL(host_unregister, cuMemHostUnregister, (void *start))                                                          \
    CALL(copy_to_device, cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, void *stream))            \
    CALL(copy_within, cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t bytes, void *stream))                  \
    CALL(stream_create, cuStreamCreate, (void **stream, unsigned flags))                                               \
    CALL(stream_destroy, cuStreamDestroy_v2, (void *stream))                                                           \
    CALL(stream_wait, cuStreamWaitEvent, (void *stream, void *event, unsigned flags))                                  \
    CALL(event_create, cuEventCreate, (void **event, unsigned flags))                                                  \
    CALL(event_destroy, cuEventDestroy_v2, (void *event))                                                              \
    CALL(event_record, cuEventRecord, (void *event, void *stream))                                                     \
    CALL(event_query, cuEventQuery, (void *event))                                                                     \
    CALL(event_synchronize, cuEventSynchronize, (void *event))                                                         \
    CALL(ipc_open, cuIpcOpenMemHandle_v2, (uint64_t * address, struct fci_cuda_handle handle, unsigned flags))         \
    CALL(ipc_close, cuIpcCloseMemHandle, (uint64_t address))

struct fci_cuda {
#define FCI_CUDA_FIELD(field, name, arguments) int(*field) arguments;
    FCI_CUDA_CALLS(FCI_CUDA_FIELD)
#undef FCI_CUDA_FIELD
};

/* The driver, initialized; NULL with one line where there is none. */
const struct fci_cuda *fci_cuda(fc_error *error);

/* FC_E_DEVICE, with a line that names a call and the driver's answer. */
fc_status fci_cuda_fail(fc_error *error, int ordinal, const char *call, int answer);

#endif
