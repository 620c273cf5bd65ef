#include "dlpack.h"

#include "framecast.h"
#include "subscriber.h"

#include <stdlib.h>
#include <string.h>

#define DIMENSIONS_MAX 32

/* A tensor of both versions: consumers see one of the first two, whose context is the whole. */
struct export {
    DLManagedTensor plain;
    DLManagedTensorVersioned versioned;
    const fc_frame *frame;
    void *stream;
    int64_t extents[];
};

static void delete_export(struct export *made) {
    fc_frame_release_on(made->frame, made->stream);
    free(made);
}

static void delete_plain(DLManagedTensor *tensor) {
    delete_export(tensor->manager_ctx);
}

static void delete_versioned(DLManagedTensorVersioned *tensor) {
    delete_export(tensor->manager_ctx);
}

/* Whether the elements fit into the frame. */
static bool fits(uint64_t bytes, int bits, int lanes, int dimensions, const int64_t *shape) {
    if (bits < 1 || bits > 128 || lanes < 1 || lanes > 1024 || dimensions < 1 || dimensions > DIMENSIONS_MAX) {
        return false;
    }
    uint64_t size = ((uint64_t)bits * (uint64_t)lanes + 7) / 8;
    uint64_t most = bytes / size;
    for (int i = 0; i < dimensions; i++) {
        if (shape[i] < 0 || (uint64_t)shape[i] > most) {
            return false;
        }
        /* Rows of no elements leave room for any number of them, and none is read. */
        most = shape[i] == 0 ? INT64_MAX : most / (uint64_t)shape[i];
    }
    return true;
}

/* A tensor in host memory with room for shape and strides; NULL where memory is short. */
static struct export *make(const fc_frame *frame, int dimensions, DLDataType type) {
    struct export *made = calloc(1, sizeof *made + 2 * (size_t)dimensions * sizeof(int64_t));
    if (made == NULL) {
        return NULL;
    }
    DLTensor tensor = {
        .data = (void *)(uintptr_t)frame->data,
        .device = {.device_type = kDLCPU, .device_id = 0},
        .ndim = dimensions,
        .dtype = type,
        .shape = made->extents,
        .strides = made->extents + dimensions,
        .byte_offset = 0};
    made->plain = (DLManagedTensor){.dl_tensor = tensor, .manager_ctx = made, .deleter = delete_plain};
    made->versioned = (DLManagedTensorVersioned){
        .version = {.major = DLPACK_MAJOR, .minor = DLPACK_MINOR},
        .manager_ctx = made,
        .deleter = delete_versioned,
        /* Nor is it flagged as copied: that would be a tensor of the consumer's alone, and a frame gives any number. */
        .flags = (frame->flags & FC_FRAME_COPIED) != 0 ? 0 : DLPACK_FLAG_READ_ONLY,
        .dl_tensor = tensor};
    made->frame = fc_frame_retain(frame);
    made->stream = FC_STREAM_HOST;
    return made;
}

static struct export *export_rows(const fc_frame *frame, DLDataType type, int dimensions, const int64_t *shape) {
    if (!fits(frame->bytes, type.bits, type.lanes, dimensions, shape)) {
        return NULL;
    }
    struct export *made = make(frame, dimensions, type);
    if (made == NULL) {
        return NULL;
    }
    uint64_t stride = 1;
    for (size_t i = (size_t)dimensions; i-- > 0;) {
        made->extents[i] = shape[i];
        made->extents[(size_t)dimensions + i] = (int64_t)stride;
        /* Of a tensor without elements it may wrap. */
        stride *= (uint64_t)shape[i];
    }
    return made;
}

static struct export *export_bytes(const fc_frame *frame) {
    int64_t bytes = (int64_t)frame->bytes;
    return export_rows(frame, (DLDataType){.code = 1, .bits = 8, .lanes = 1}, 1, &bytes);
}

static struct export *export_format(const fc_frame *frame) {
    const fc_format *format = fc_frame_format(frame);
    const fc_tensor *given = format == NULL ? NULL : format->tensor;
    if (given == NULL || (uint64_t)given->bytes > frame->bytes) {
        return export_bytes(frame);
    }
    DLDataType type = {.code = given->code, .bits = given->bits, .lanes = given->lanes};
    struct export *made = make(frame, given->dimensions, type);
    if (made != NULL) {
        size_t bytes = (size_t)given->dimensions * sizeof(int64_t);
        memcpy(made->extents, given->shape, bytes);
        memcpy(made->extents + given->dimensions, given->strides, bytes);
    }
    return made;
}

/* NULL where the frame is not in device memory, or the stream is none. */
static struct export *export_to_stream(const fc_frame *frame, void *stream) {
    const void *address;
    if (fc_frame_device(frame, stream, &address, NULL) != FC_OK) {
        return NULL;
    }
    struct export *made = export_format(frame);
    if (made != NULL) {
        /* A consumer without a stream of its own is taken to use the default one. */
        made->stream = stream == FC_STREAM_HOST ? NULL : stream;
        DLDevice device = {.device_type = kDLCUDA, .device_id = fci_frame_ordinal(frame)};
        made->plain.dl_tensor.data = made->versioned.dl_tensor.data = (void *)(uintptr_t)address;
        made->plain.dl_tensor.device = made->versioned.dl_tensor.device = device;
        bool own = (frame->flags & FC_FRAME_DEVICE_SHARED) == 0;
        made->versioned.flags = own ? 0 : DLPACK_FLAG_READ_ONLY;
    }
    return made;
}

static struct DLManagedTensor *plain(struct export *made) {
    return made == NULL ? NULL : &made->plain;
}

static struct DLManagedTensorVersioned *versioned(struct export *made) {
    return made == NULL ? NULL : &made->versioned;
}

struct DLManagedTensor *fc_frame_dlpack(const fc_frame *frame, int code, int bits, int lanes, int dimensions,
                                        const int64_t *shape) {
    if (dimensions == 0) {
        return plain(export_bytes(frame));
    }
    if (code < 0 || code > UINT8_MAX || bits < 1 || bits > UINT8_MAX || lanes < 1 || lanes > UINT16_MAX) {
        return NULL;
    }
    DLDataType type = {.code = (uint8_t)code, .bits = (uint8_t)bits, .lanes = (uint16_t)lanes};
    return plain(export_rows(frame, type, dimensions, shape));
}

struct DLManagedTensor *fc_frame_tensor(const fc_frame *frame) {
    return plain(export_format(frame));
}

struct DLManagedTensorVersioned *fc_frame_tensor_versioned(const fc_frame *frame) {
    return versioned(export_format(frame));
}

struct DLManagedTensor *fc_frame_cuda_tensor(const fc_frame *frame, void *stream) {
    return plain(export_to_stream(frame, stream));
}

struct DLManagedTensorVersioned *fc_frame_cuda_tensor_versioned(const fc_frame *frame, void *stream) {
    return versioned(export_to_stream(frame, stream));
}
