/* Frames in the ring, or copies of frames where the ring may be written again. */
#include "error.h"
#include "subscriber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs and the Python package know these places. Later fields come behind the last. */
_Static_assert(offsetof(fc_frame, bytes) == 8 && offsetof(fc_frame, number) == 16 && offsetof(fc_frame, session) == 24
                   && offsetof(fc_frame, timestamp_ns) == 32 && offsetof(fc_frame, clock_error_ns) == 48
                   && offsetof(fc_frame, flags) == 56 && offsetof(fc_frame, metadata) == 64
                   && offsetof(fc_frame, lost) == 72,
               "the ABI of fc_frame");
_Static_assert(offsetof(fc_stats, lost) == 16 && offsetof(fc_stats, sessions) == 64
                   && offsetof(fc_stats, leader_process) == 88 && sizeof(fc_stats) == 96,
               "the ABI of fc_stats");
_Static_assert(offsetof(fc_options, leader_wait_ms) == 8 && offsetof(fc_options, on_wait) == 32
                   && offsetof(fc_options, cuda_device) == 40 && sizeof(fc_error) == 512,
               "the ABI of fc_options and fc_error");

static struct fci_frame *own(const fc_frame *frame) {
    return (struct fci_frame *)(uintptr_t)frame;
}

static struct fci_frame *take_spare(struct fc_subscriber *subscriber) {
    struct fci_frame *frame = subscriber->spare;
    if (frame != NULL) {
        subscriber->spare = frame->next;
        return frame;
    }
    return calloc(1, sizeof *frame);
}

static void give_spare(struct fc_subscriber *subscriber, struct fci_frame *frame) {
    fci_format_unref(frame->format);
    frame->format = NULL;
    frame->next = subscriber->spare;
    subscriber->spare = frame;
}

void fci_frame_free_copy(struct fc_subscriber *subscriber, struct fci_frame *frame) {
    if (!frame->copy_is_pinned) {
        free(frame->copy);
    } else if (!subscriber->forked) {
        fci_device_free_host(subscriber->device, frame->copy);
    }
    frame->copy = NULL;
    frame->copy_bytes = 0;
}

/* A device copies out of pinned memory by itself. */
static bool make_copy(struct fc_subscriber *subscriber, struct fci_frame *frame, uint64_t bytes) {
    fci_frame_free_copy(subscriber, frame);
    frame->copy = subscriber->device == NULL ? NULL : fci_device_allocate_host(subscriber->device, bytes);
    frame->copy_is_pinned = frame->copy != NULL;
    if (frame->copy == NULL) {
        frame->copy = malloc(bytes);
    }
    frame->copy_bytes = frame->copy == NULL ? 0 : bytes;
    return frame->copy != NULL;
}

static bool copy_out(struct fc_subscriber *subscriber, struct fci_frame *frame, const uint8_t *from, uint64_t bytes) {
    if (frame->copy_bytes < bytes && !make_copy(subscriber, frame, bytes)) {
        return false;
    }
    memcpy(frame->copy, from, bytes);
    return true;
}

/* False where memory is short. */
static bool take_format(struct fc_subscriber *subscriber, struct fci_frame *frame, int64_t place) {
    uint8_t bytes[FC_LAYOUT_FORMAT_BYTES_MAX];
    size_t length = fci_format_copy(subscriber->segment, place, bytes);
    if (length > 0) {
        frame->format = fci_formats_take(&subscriber->formats, place, bytes, length);
    }
    return length == 0 || frame->format != NULL;
}

static void fail(struct fc_subscriber *subscriber, uint64_t bytes) {
    fc_error why = {.status = FC_E_RESOURCES, .text = ""};
    snprintf(why.text, sizeof why.text, "no memory for a frame of %llu bytes; raise ulimit -v, or hold fewer frames",
             (unsigned long long)bytes);
    fci_end(subscriber, &why);
}

bool fci_is_full(const struct fc_subscriber *subscriber) {
    return subscriber->copied_bytes >= subscriber->copied_max;
}

void fci_count_copy(struct fc_subscriber *subscriber, struct fci_frame *frame) {
    frame->counted = true;
    subscriber->copied++;
    subscriber->copied_bytes += frame->shown.bytes;
}

static void report_held(struct fc_subscriber *subscriber) {
    if (subscriber->segment != NULL) {
        fci_tell_held(subscriber->segment, subscriber->stats.held, subscriber->copied);
    }
}

struct fci_frame *fci_frame_make(struct fc_subscriber *subscriber, int64_t number, const struct fci_entry *entry) {
    struct fci_segment *segment = subscriber->segment;
    struct fci_frame *frame = take_spare(subscriber);
    uint64_t bytes = (uint64_t)entry->bytes;
    const uint8_t *data = segment->ring + entry->offset;
    /* Beside frames that are kept the ring is read elsewhere. */
    bool covered = !segment->unheld && fci_keep_covers(segment, data, bytes);
    bool copied = segment->unheld || covered;
    const uint8_t *from = covered ? fci_keep_ring(segment, entry->offset) : data;
    if (frame == NULL || (copied && !copy_out(subscriber, frame, from, bytes))
        || !take_format(subscriber, frame, entry->format)) {
        if (frame != NULL) {
            give_spare(subscriber, frame);
        }
        fail(subscriber, bytes);
        return NULL;
    }
    memcpy(frame->metadata, fci_metadata(segment, number), (size_t)entry->metadata_bytes);
    uint32_t flags = (entry->keyframe ? FC_FRAME_KEYFRAME : 0U) | (entry->in_place ? FC_FRAME_IN_PLACE : 0U);
    frame->shown = (fc_frame){
        .data = copied ? frame->copy : data,
        .bytes = bytes,
        .number = entry->number,
        .session = segment->session,
        .timestamp_ns = entry->timestamp_ns,
        .clock_offset_ns = fci_clock_offset(segment),
        .clock_error_ns = fci_clock_error(segment),
        .flags = flags | (copied ? FC_FRAME_COPIED : 0U),
        .metadata_bytes = (uint32_t)entry->metadata_bytes,
        .metadata = frame->metadata};
    frame->subscriber = subscriber;
    frame->entry = number;
    frame->references = 1;
    frame->counted = false;
    fc_error why;
    if (subscriber->device != NULL && fci_device_bring(subscriber, frame, &why) != FC_OK) {
        give_spare(subscriber, frame);
        fci_end(subscriber, &why);
        return NULL;
    }
    /* One that is read in another process's memory needs the segment's words. */
    frame->segment = copied && (subscriber->device == NULL || frame->device.place < 0) ? NULL : segment;
    if (frame->segment != NULL) {
        segment->references++;
    }
    fci_keep_give(segment, frame, entry->offset, entry->format);
    if (covered) {
        fci_count_copy(subscriber, frame);
        fci_release(segment, number);
    }
    subscriber->references++;
    subscriber->stats.held++;
    report_held(subscriber);
    return frame;
}

/* With the lock; the subscriber's reference stays. */
static void put_back(struct fci_frame *frame) {
    struct fc_subscriber *subscriber = frame->subscriber;
    struct fci_segment *segment = frame->segment;
    if (segment != NULL) {
        segment->foreign |= subscriber->forked;
        if (subscriber->device != NULL && frame->device.place >= 0) {
            fci_share_leave(segment, frame->device.place);
        }
        if (fci_keep_give_back(segment, frame)) {
            fci_release(segment, frame->entry);
        }
        fci_unref_segment(subscriber, segment);
    }
    if (frame->counted) {
        subscriber->copied_bytes -= frame->shown.bytes;
    }
    if (subscriber->full) {
        subscriber->full = false;
        fci_count(subscriber->news);
    }
    subscriber->stats.held--;
    report_held(subscriber);
    give_spare(subscriber, frame);
}

void fci_frame_drop(struct fci_frame *frame) {
    struct fc_subscriber *subscriber = frame->subscriber;
    if (fci_frame_unref(frame)) {
        subscriber->references--;
    }
}

/* Its bytes go when they are copied. */
bool fci_frame_unref(struct fci_frame *frame) {
    struct fc_subscriber *subscriber = frame->subscriber;
    if (--frame->references > 0) {
        return false;
    }
    if (!fci_device_has_read(subscriber, frame) && fci_device_defer(subscriber, frame)) {
        return false;
    }
    put_back(frame);
    return true;
}

const fc_format *fc_frame_format(const fc_frame *frame) {
    const struct fci_format *format = own(frame)->format;
    return format != NULL && format->sound ? &format->shown : NULL;
}

const fc_frame *fc_frame_retain(const fc_frame *frame) {
    struct fci_frame *held = own(frame);
    pthread_mutex_lock(&held->subscriber->mutex);
    held->references++;
    pthread_mutex_unlock(&held->subscriber->mutex);
    return frame;
}

/* With the lock, which it takes away. */
static void release(struct fci_frame *frame) {
    struct fc_subscriber *subscriber = frame->subscriber;
    if (!fci_frame_unref(frame)) {
        /* Of a subscriber that is closed no thread looks any more. */
        if (!subscriber->closed) {
            pthread_mutex_unlock(&subscriber->mutex);
            return;
        }
        subscriber->references++;
        fci_device_drain(subscriber);
    }
    fci_unlock_unref(subscriber);
}

void fc_frame_release(const fc_frame *frame) {
    if (frame != NULL) {
        pthread_mutex_lock(&own(frame)->subscriber->mutex);
        release(own(frame));
    }
}

void fc_frame_release_on(const fc_frame *frame, void *stream) {
    if (frame == NULL) {
        return;
    }
    struct fci_frame *held = own(frame);
    struct fc_subscriber *subscriber = held->subscriber;
    pthread_mutex_lock(&subscriber->mutex);
    if (subscriber->device != NULL && !subscriber->forked && stream != FC_STREAM_HOST) {
        /* Where no event can be had, the driver is gone, and with it all that reads. */
        fci_device_defer_on(subscriber, held, stream);
    }
    release(held);
}

int fci_frame_ordinal(const fc_frame *frame) {
    return own(frame)->subscriber->device->ordinal;
}

fc_status fc_frame_device(const fc_frame *frame, void *stream, const void **pointer, fc_error *error) {
    const struct fci_frame *held = own(frame);
    const struct fci_device *device = held->subscriber->device;
    *pointer = NULL;
    if (device == NULL || held->subscriber->forked) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_frame_device: frames of this subscriber are in host memory; subscribe with"
                        " cuda_device, or device=cuda:0 in the URI, in this process");
    }
    int answer = fci_device_wait(device, held, stream);
    if (answer != FCI_CUDA_SUCCESS) {
        return fci_cuda_fail(error, device->ordinal, "a stream that waits for a frame", answer);
    }
    *pointer = (const void *)(uintptr_t)held->device.address;
    return FC_OK;
}
