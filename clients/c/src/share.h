#ifndef FC_SHARE_H
#define FC_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct fci_device;
struct fci_segment;

/* Another member's device memory, opened: places that hold copies of frames (docs/host-segment.md, "Device memory"). */
struct fci_share {
    /* 0: none is open. */
    int64_t offer;
    int64_t record;
    int process;
    int places;
    int64_t place_bytes;
    int64_t bytes;
    int64_t first;
    uint64_t address;
    uint64_t holds;
    /* Frames may be read where they lie. */
    bool in_place;
    /* The offer that cannot be used. */
    int64_t refused;
    int64_t looked_ns;
    /* Whether a place is waited for, since when, and until when none is waited for. */
    bool awaits;
    int64_t awaited_ns;
    int64_t impatient_ns;
};

/* The number of this process's PID namespace; 0 where the system shows none. */
int64_t fci_pid_namespace(void);

/* All with the subscriber's lock. */

/* Opens what another member offers, and closes what is offered no more; often. */
void fci_share_look(const struct fci_device *device, struct fci_segment *segment);
/* Whether an entry's frame comes to device memory soon, so that a copy from the ring would be one too many. */
bool fci_share_awaits(struct fci_segment *segment, int64_t number);
/* Holds the place of an entry's frame; −1 where it lies nowhere there. */
int fci_share_hold(struct fci_segment *segment, int64_t number, int64_t bytes);
void fci_share_leave(struct fci_segment *segment, int place);
/* Whether the memory's process lives: what was read until now was there. */
bool fci_share_lives(const struct fci_segment *segment);
/* The process died: its memory is used no more. */
void fci_share_refuse(struct fci_segment *segment);
/* Before the words are unmapped. */
void fci_share_end(const struct fci_device *device, struct fci_segment *segment);

#endif
