#include "dlpack.h"

#include "framecast.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIMENSIONS_MAX 32

static void delete_tensor(DLManagedTensor *tensor) {
    fc_frame_release(tensor->manager_ctx);
    free(tensor);
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

/* A tensor with room for shape and strides; NULL where memory is short. */
static DLManagedTensor *make(const fc_frame *frame, int dimensions, DLDataType type) {
    DLManagedTensor *tensor = malloc(sizeof *tensor + 2 * (size_t)dimensions * sizeof(int64_t));
    if (tensor == NULL) {
        return NULL;
    }
    int64_t *shape = (int64_t *)(void *)(tensor + 1);
    tensor->dl_tensor = (DLTensor){
        .data = (void *)(uintptr_t)frame->data,
        .device = {.device_type = kDLCPU, .device_id = 0},
        .ndim = dimensions,
        .dtype = type,
        .shape = shape,
        .strides = shape + dimensions,
        .byte_offset = 0};
    tensor->manager_ctx = (void *)(uintptr_t)fc_frame_retain(frame);
    tensor->deleter = delete_tensor;
    return tensor;
}

struct DLManagedTensor *fc_frame_dlpack(const fc_frame *frame, int code, int bits, int lanes, int dimensions,
                                        const int64_t *shape) {
    int64_t plain = (int64_t)frame->bytes;
    if (dimensions == 0) {
        code = 1;
        bits = 8;
        lanes = 1;
        dimensions = 1;
        shape = &plain;
    }
    if (!fits(frame->bytes, bits, lanes, dimensions, shape)) {
        return NULL;
    }
    DLDataType type = {.code = (uint8_t)code, .bits = (uint8_t)bits, .lanes = (uint16_t)lanes};
    DLManagedTensor *tensor = make(frame, dimensions, type);
    if (tensor == NULL) {
        return NULL;
    }
    uint64_t stride = 1;
    for (size_t i = (size_t)dimensions; i-- > 0;) {
        tensor->dl_tensor.shape[i] = shape[i];
        tensor->dl_tensor.strides[i] = (int64_t)stride;
        /* Of a tensor without elements it may wrap. */
        stride *= (uint64_t)shape[i];
    }
    return tensor;
}

struct DLManagedTensor *fc_frame_tensor(const fc_frame *frame) {
    const fc_format *format = fc_frame_format(frame);
    const fc_tensor *given = format == NULL ? NULL : format->tensor;
    if (given == NULL || (uint64_t)given->bytes > frame->bytes) {
        return fc_frame_dlpack(frame, 0, 0, 0, 0, NULL);
    }
    DLDataType type = {.code = given->code, .bits = given->bits, .lanes = given->lanes};
    DLManagedTensor *tensor = make(frame, given->dimensions, type);
    if (tensor != NULL) {
        memcpy(tensor->dl_tensor.shape, given->shape, (size_t)given->dimensions * sizeof(int64_t));
        memcpy(tensor->dl_tensor.strides, given->strides, (size_t)given->dimensions * sizeof(int64_t));
    }
    return tensor;
}
