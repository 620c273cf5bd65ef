/* Follows a stream with a GPU, and prints the CRC-32C of all frames as they were read back from its memory: by the driver of
 * this machine, or its stub. */
#include "../examples/crc32c.h"
#include "framecast.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int (*copy_to_host)(void *to, uint64_t from, size_t bytes, void *stream);
static int (*synchronize)(void *stream);
/* CU_STREAM_LEGACY. */
static void *const LEGACY = (void *)1;
static int (*push)(void *context);
static int (*retain)(void **context, int device);

static void find(void *library, void *to, const char *name) {
    *(void **)to = dlsym(library, name);
    if (*(void **)to == NULL) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
}

int main(int count, char **words) {
    fc_error error;
    fc_subscriber *subscriber;
    fc_options options = FC_OPTIONS_DEFAULT;
    options.leader_wait_ms = 30000;
    if (count != 2 || fc_subscribe(words[1], &options, &subscriber, &error) != FC_OK) {
        fprintf(stderr, "%s\n", count == 2 ? error.text : "usage: device_follower URI");
        return 2;
    }
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    find(library, &copy_to_host, "cuMemcpyDtoHAsync_v2");
    find(library, &synchronize, "cuStreamSynchronize");
    find(library, &push, "cuCtxPushCurrent_v2");
    find(library, &retain, "cuDevicePrimaryCtxRetain");
    void *context;
    if (retain(&context, fc_cuda_device(subscriber)) != 0 || push(context) != 0) {
        return 1;
    }
    crc32c_make_tables();
    uint32_t crc = 0;
    unsigned long long frames = 0;
    unsigned long long peer = 0;
    unsigned long long shared = 0;
    const fc_frame *frame;
    fc_status status;
    while ((status = fc_next(subscriber, -1, &frame, &error)) == FC_OK) {
        const void *address;
        uint8_t *read = malloc(frame->bytes);
        if (read == NULL || fc_frame_device(frame, FC_STREAM_HOST, &address, &error) != FC_OK
            || copy_to_host(read, (uint64_t)(uintptr_t)address, frame->bytes, LEGACY) != 0 || synchronize(LEGACY) != 0) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
        crc = crc32c(crc, read, frame->bytes);
        frames++;
        peer += (frame->flags & FC_FRAME_DEVICE_PEER) != 0;
        shared += (frame->flags & FC_FRAME_DEVICE_SHARED) != 0;
        free(read);
        fc_frame_release(frame);
    }
    printf("crc32c %08x frames %llu from the ring %llu by another process %llu read there %llu: %s\n", crc, frames,
           frames - peer - shared, peer, shared, fc_status_text(status));
    fc_close(subscriber);
    return status == FC_END_OF_STREAM ? 0 : 3;
}
