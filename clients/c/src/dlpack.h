#ifndef FC_DLPACK_H
#define FC_DLPACK_H

#include <stdint.h>

/* DLPack 0.x (https://dmlc.github.io/dlpack/latest/c_api.html), what NumPy 1.22 and PyTorch 1.10 accept. */
typedef struct {
    int32_t device_type;
    int32_t device_id;
} DLDevice;

enum { kDLCPU = 1, kDLCUDA = 2 };

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    /* In elements. */
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

/* DLPack 1.x. */
enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 0, DLPACK_FLAG_READ_ONLY = 1 };

typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

#endif
