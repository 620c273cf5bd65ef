/* Frames in a GPU's memory: copies of what lies in the ring, and how long CUDA works on them. */
#include "device.h"

#include "error.h"
#include "share.h"
#include "subscriber.h"

#include <stdlib.h>

/* Of cuda.h. */
#define NON_BLOCKING 1
#define WITHOUT_TIMING 2
#define PORTABLE 1
#define READ_ONLY 8
#define UUID_BYTES 16
#define ROOM_STEP (UINT64_C(2) << 20)

/* CU_STREAM_LEGACY: NULL is the same, but for programs that are compiled otherwise. */
static void *const LEGACY = (void *)1;

static void *stream_of(void *stream) {
    return stream == NULL ? LEGACY : stream;
}

static int read_identity(const struct fci_cuda *cuda, int number, int64_t identity[2]) {
    uint8_t uuid[UUID_BYTES] = {0};
    int answer = cuda->device_uuid(uuid, number);
    for (int half = 0; half < 2; half++) {
        uint64_t value = 0;
        for (int i = 0; i < 8; i++) {
            value = value << 8 | uuid[8 * half + i];
        }
        identity[half] = (int64_t)value;
    }
    return answer;
}

static fc_status open_device(struct fci_device *device, fc_error *error) {
    const struct fci_cuda *cuda = device->cuda;
    int count = 0;
    int answer = cuda->device_count(&count);
    if (answer != FCI_CUDA_SUCCESS) {
        return fci_cuda_fail(error, device->ordinal, "cuDeviceGetCount", answer);
    }
    if (device->ordinal < 0 || device->ordinal >= count) {
        return fci_fail(error, FC_E_DEVICE, "cuda:%d: this process sees %d GPUs; name one below that, and look at"
                        " CUDA_VISIBLE_DEVICES", device->ordinal, count);
    }
    answer = cuda->device_get(&device->number, device->ordinal);
    if (answer == FCI_CUDA_SUCCESS) {
        answer = read_identity(cuda, device->number, device->identity);
    }
    if (answer == FCI_CUDA_SUCCESS) {
        answer = cuda->context_retain(&device->context, device->number);
    }
    if (answer != FCI_CUDA_SUCCESS) {
        device->context = NULL;
        return fci_cuda_fail(error, device->ordinal, "cuDevicePrimaryCtxRetain", answer);
    }
    answer = cuda->context_push(device->context);
    if (answer == FCI_CUDA_SUCCESS) {
        answer = cuda->stream_create(&device->stream, NON_BLOCKING);
        fci_device_leave(device);
    }
    return answer == FCI_CUDA_SUCCESS ? FC_OK : fci_cuda_fail(error, device->ordinal, "cuStreamCreate", answer);
}

fc_status fci_device_open(int ordinal, struct fci_device **to, fc_error *error) {
    const struct fci_cuda *cuda = fci_cuda(error);
    if (cuda == NULL) {
        return FC_E_DEVICE;
    }
    struct fci_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return fci_fail(error, FC_E_RESOURCES, "no memory for a device");
    }
    device->cuda = cuda;
    device->ordinal = ordinal;
    fc_status status = open_device(device, error);
    if (status != FC_OK) {
        fci_device_close(device);
        return status;
    }
    *to = device;
    return FC_OK;
}

void fci_device_close(struct fci_device *device) {
    if (device == NULL) {
        return;
    }
    if (device->context != NULL && fci_device_enter(device)) {
        for (struct fci_pending *each = device->spare; each != NULL; each = each->next) {
            device->cuda->event_destroy(each->event);
        }
        if (device->stream != NULL) {
            device->cuda->stream_destroy(device->stream);
        }
        fci_device_leave(device);
        device->cuda->context_release(device->number);
    }
    while (device->spare != NULL) {
        struct fci_pending *next = device->spare->next;
        free(device->spare);
        device->spare = next;
    }
    free(device);
}

bool fci_device_enter(const struct fci_device *device) {
    return device->cuda->context_push(device->context) == FCI_CUDA_SUCCESS;
}

void fci_device_leave(const struct fci_device *device) {
    void *left;
    device->cuda->context_pop(&left);
}

int fci_device_reach(const struct fci_device *device, const int64_t identity[2]) {
    int count = 0;
    device->cuda->device_count(&count);
    for (int i = 0; i < count; i++) {
        int number;
        int64_t found[2];
        if (device->cuda->device_get(&number, i) == FCI_CUDA_SUCCESS
            && read_identity(device->cuda, number, found) == FCI_CUDA_SUCCESS && found[0] == identity[0]
            && found[1] == identity[1]) {
            int can = number == device->number;
            if (!can) {
                device->cuda->can_access_peer(&can, device->number, number);
            }
            return can ? number : -1;
        }
    }
    return -1;
}

bool fci_device_pin(const struct fci_device *device, const void *start, uint64_t bytes) {
    if (!fci_device_enter(device)) {
        return false;
    }
    int answer = device->cuda->host_register((void *)(uintptr_t)start, bytes, PORTABLE | READ_ONLY);
    fci_device_leave(device);
    return answer == FCI_CUDA_SUCCESS;
}

void fci_device_unpin(const struct fci_device *device, const void *start) {
    if (fci_device_enter(device)) {
        device->cuda->host_unregister((void *)(uintptr_t)start);
        fci_device_leave(device);
    }
}

void *fci_device_allocate_host(const struct fci_device *device, uint64_t bytes) {
    void *memory = NULL;
    if (fci_device_enter(device)) {
        int answer = device->cuda->host_allocate(&memory, bytes, PORTABLE);
        memory = answer == FCI_CUDA_SUCCESS ? memory : NULL;
        fci_device_leave(device);
    }
    return memory;
}

void fci_device_free_host(const struct fci_device *device, void *memory) {
    if (fci_device_enter(device)) {
        device->cuda->host_free(memory);
        fci_device_leave(device);
    }
}

/* Memory of a frame's own, in which later frames find room too. */
static int make_room(const struct fci_device *device, struct fci_device_copy *copy, uint64_t bytes) {
    int answer = FCI_CUDA_SUCCESS;
    if (copy->ready == NULL) {
        answer = device->cuda->event_create(&copy->ready, WITHOUT_TIMING);
    }
    if (answer == FCI_CUDA_SUCCESS && copy->room < bytes) {
        if (copy->room > 0) {
            device->cuda->deallocate(copy->memory);
            copy->room = 0;
        }
        uint64_t room = bytes < ROOM_STEP ? bytes : (bytes + ROOM_STEP - 1) & ~(ROOM_STEP - 1);
        answer = device->cuda->allocate(&copy->memory, room);
        copy->room = answer == FCI_CUDA_SUCCESS ? room : 0;
    }
    return answer;
}

static int copy_from_ring(const struct fci_device *device, struct fci_frame *frame) {
    struct fci_device_copy *copy = &frame->device;
    int answer = device->cuda->copy_to_device(copy->memory, frame->shown.data, frame->shown.bytes, device->stream);
    if (answer == FCI_CUDA_SUCCESS) {
        answer = device->cuda->event_record(copy->ready, device->stream);
    }
    copy->copying = answer == FCI_CUDA_SUCCESS;
    return answer;
}

/* From another process's memory, waited for: the process may die meanwhile, and then the ring is still there. */
static bool copy_from_share(const struct fci_device *device, struct fci_segment *segment, struct fci_frame *frame, int place) {
    struct fci_device_copy *copy = &frame->device;
    uint64_t from = segment->share.address + (uint64_t)place * (uint64_t)segment->share.place_bytes;
    bool copied = device->cuda->copy_within(copy->memory, from, frame->shown.bytes, device->stream) == FCI_CUDA_SUCCESS
                  && device->cuda->event_record(copy->ready, device->stream) == FCI_CUDA_SUCCESS
                  && device->cuda->event_synchronize(copy->ready) == FCI_CUDA_SUCCESS;
    bool lives = fci_share_lives(segment);
    if (!lives) {
        fci_share_refuse(segment);
    }
    return copied && lives;
}

/* In the context. */
static int bring(struct fc_subscriber *subscriber, struct fci_frame *frame) {
    const struct fci_device *device = subscriber->device;
    struct fci_segment *segment = subscriber->segment;
    struct fci_device_copy *copy = &frame->device;
    int place = fci_share_hold(segment, frame->entry, (int64_t)frame->shown.bytes);
    if (place >= 0 && segment->share.in_place) {
        copy->place = place;
        copy->address = segment->share.address + (uint64_t)place * (uint64_t)segment->share.place_bytes;
        frame->shown.flags |= FC_FRAME_DEVICE_SHARED;
        return FCI_CUDA_SUCCESS;
    }
    int answer = make_room(device, copy, frame->shown.bytes);
    copy->address = copy->memory;
    bool shared = answer == FCI_CUDA_SUCCESS && place >= 0 && copy_from_share(device, segment, frame, place);
    if (place >= 0) {
        fci_share_leave(segment, place);
    }
    frame->shown.flags |= shared ? FC_FRAME_DEVICE_PEER : 0U;
    return answer == FCI_CUDA_SUCCESS && !shared ? copy_from_ring(device, frame) : answer;
}

fc_status fci_device_bring(struct fc_subscriber *subscriber, struct fci_frame *frame, fc_error *error) {
    const struct fci_device *device = subscriber->device;
    frame->device.place = -1;
    frame->device.copying = false;
    if (!fci_device_enter(device)) {
        return fci_fail(error, FC_E_DEVICE, "cuda:%d: the context is gone; start the program again", device->ordinal);
    }
    int answer = bring(subscriber, frame);
    fci_device_leave(device);
    if (answer == FCI_CUDA_SUCCESS) {
        return FC_OK;
    }
    fc_error why;
    fci_cuda_fail(&why, device->ordinal, "a copy to the device", answer);
    return fci_fail(error, FC_E_DEVICE, "%s, for a frame of %llu bytes; is memory left there (nvidia-smi)? Hold fewer frames",
                    why.text, (unsigned long long)frame->shown.bytes);
}

bool fci_device_has_read(const struct fc_subscriber *subscriber, const struct fci_frame *frame) {
    const struct fci_device *device = subscriber->device;
    if (device == NULL || !frame->device.copying || subscriber->forked || !fci_device_enter(device)) {
        return true;
    }
    int answer = device->cuda->event_query(frame->device.ready);
    fci_device_leave(device);
    return answer != FCI_CUDA_NOT_READY;
}

int fci_device_wait(const struct fci_device *device, const struct fci_frame *frame, void *stream) {
    if (!frame->device.copying) {
        return FCI_CUDA_SUCCESS;
    }
    int answer = device->cuda->context_push(device->context);
    if (answer == FCI_CUDA_SUCCESS) {
        answer = stream == FC_STREAM_HOST ? device->cuda->event_synchronize(frame->device.ready)
                                          : device->cuda->stream_wait(stream_of(stream), frame->device.ready, 0);
        fci_device_leave(device);
    }
    return answer;
}

void fci_device_free(struct fc_subscriber *subscriber, struct fci_frame *frame) {
    const struct fci_device *device = subscriber->device;
    if (device == NULL || subscriber->forked || !fci_device_enter(device)) {
        return;
    }
    if (frame->device.ready != NULL) {
        device->cuda->event_destroy(frame->device.ready);
    }
    if (frame->device.room > 0) {
        device->cuda->deallocate(frame->device.memory);
    }
    fci_device_leave(device);
}

static struct fci_pending *take_spare(struct fci_device *device) {
    struct fci_pending *taken = device->spare;
    if (taken != NULL) {
        device->spare = taken->next;
        return taken;
    }
    taken = calloc(1, sizeof *taken);
    if (taken != NULL && device->cuda->event_create(&taken->event, WITHOUT_TIMING) != FCI_CUDA_SUCCESS) {
        free(taken);
        return NULL;
    }
    return taken;
}

static void add(struct fc_subscriber *subscriber, struct fci_pending *made, struct fci_frame *frame) {
    struct fci_device *device = subscriber->device;
    if (device->pending == NULL) {
        fci_count(subscriber->waker);
    }
    made->frame = frame;
    made->next = device->pending;
    device->pending = made;
    frame->references++;
}

bool fci_device_defer_on(struct fc_subscriber *subscriber, struct fci_frame *frame, void *stream) {
    struct fci_device *device = subscriber->device;
    if (!fci_device_enter(device)) {
        return false;
    }
    struct fci_pending *made = take_spare(device);
    bool recorded = made != NULL && device->cuda->event_record(made->event, stream_of(stream)) == FCI_CUDA_SUCCESS;
    fci_device_leave(device);
    if (recorded) {
        add(subscriber, made, frame);
    } else if (made != NULL) {
        made->next = device->spare;
        device->spare = made;
    }
    return recorded;
}

bool fci_device_defer(struct fc_subscriber *subscriber, struct fci_frame *frame) {
    return fci_device_defer_on(subscriber, frame, subscriber->device->stream);
}

static void drop(struct fc_subscriber *subscriber, struct fci_pending *done) {
    struct fci_frame *frame = done->frame;
    done->frame = NULL;
    done->next = subscriber->device->spare;
    subscriber->device->spare = done;
    if (fci_frame_unref(frame)) {
        subscriber->references--;
    }
}

void fci_device_reap(struct fc_subscriber *subscriber) {
    struct fci_device *device = subscriber->device;
    if (device == NULL || device->pending == NULL || subscriber->forked) {
        return;
    }
    bool entered = fci_device_enter(device);
    struct fci_pending *looked = device->pending;
    device->pending = NULL;
    while (looked != NULL) {
        struct fci_pending *each = looked;
        looked = each->next;
        if (entered && device->cuda->event_query(each->event) == FCI_CUDA_NOT_READY) {
            each->next = device->pending;
            device->pending = each;
        } else {
            drop(subscriber, each);
        }
    }
    if (entered) {
        fci_device_leave(device);
    }
}

void fci_device_drain(struct fc_subscriber *subscriber) {
    struct fci_device *device = subscriber->device;
    while (device != NULL && device->pending != NULL && !subscriber->forked) {
        struct fci_pending *each = device->pending;
        device->pending = each->next;
        pthread_mutex_unlock(&subscriber->mutex);
        if (fci_device_enter(device)) {
            device->cuda->event_synchronize(each->event);
            fci_device_leave(device);
        }
        pthread_mutex_lock(&subscriber->mutex);
        drop(subscriber, each);
    }
}
