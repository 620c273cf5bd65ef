#ifndef FC_DEVICE_H
#define FC_DEVICE_H

#include "cuda.h"

#include <stdbool.h>

struct fc_subscriber;
struct fci_frame;
struct fci_segment;

/* A frame that CUDA still reads or writes: it has a reference to the frame until the event is reached. */
struct fci_pending {
    struct fci_pending *next;
    struct fci_frame *frame;
    void *event;
};

/* A GPU, by its primary context, which the CUDA runtime and PyTorch use too. */
struct fci_device {
    const struct fci_cuda *cuda;
    int ordinal;
    int number;
    void *context;
    /* Of copies. */
    void *stream;
    int64_t identity[2];
    struct fci_pending *pending;
    struct fci_pending *spare;
};

/* A frame's own memory on the device. */
struct fci_device_copy {
    uint64_t memory;
    uint64_t room;
    /* Reached when the copy is done. */
    void *ready;
    /* Where the frame lies: in the memory above, or in a place of another process. */
    uint64_t address;
    bool copying;
    /* The place; −1 for none. */
    int place;
};

fc_status fci_device_open(int ordinal, struct fci_device **device, fc_error *error);
/* NULL is allowed. Frames were freed before. */
void fci_device_close(struct fci_device *device);

/* Makes the context current for this thread; false where the driver is gone. */
bool fci_device_enter(const struct fci_device *device);
void fci_device_leave(const struct fci_device *device);

/* The number of a visible GPU, from which this one can copy; −1 for none. */
int fci_device_reach(const struct fci_device *device, const int64_t identity[2]);

/* Pins a ring, so that copies out of it need no processor. Where that fails they do. */
bool fci_device_pin(const struct fci_device *device, const void *start, uint64_t bytes);
void fci_device_unpin(const struct fci_device *device, const void *start);

/* Pinned memory; NULL where there is none. */
void *fci_device_allocate_host(const struct fci_device *device, uint64_t bytes);
void fci_device_free_host(const struct fci_device *device, void *memory);

/* With the subscriber's lock, below. */

/* Begins to copy a frame to the device, or finds it there. */
fc_status fci_device_bring(struct fc_subscriber *subscriber, struct fci_frame *frame, fc_error *error);
/* Whether the copy of a frame is done, so that what it is copied from may be written again. */
bool fci_device_has_read(const struct fc_subscriber *subscriber, const struct fci_frame *frame);
void fci_device_free(struct fc_subscriber *subscriber, struct fci_frame *frame);

/* Makes a stream wait for a frame's copy, or this thread; without the lock. Gives the driver's answer. */
int fci_device_wait(const struct fci_device *device, const struct fci_frame *frame, void *stream);

/* Takes a reference to the frame until its own copy is done; until the stream has come this far. False: no memory, or
 * no such stream. */
bool fci_device_defer(struct fc_subscriber *subscriber, struct fci_frame *frame);
bool fci_device_defer_on(struct fc_subscriber *subscriber, struct fci_frame *frame, void *stream);
/* Drops the references of those that are done. */
void fci_device_reap(struct fc_subscriber *subscriber);
/* Waits for all of them; without the lock meanwhile. */
void fci_device_drain(struct fc_subscriber *subscriber);

#endif
