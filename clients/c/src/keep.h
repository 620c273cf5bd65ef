#ifndef FC_KEEP_H
#define FC_KEEP_H

#include "segment_layout.h"

#include <stdbool.h>
#include <stdint.h>

struct fc_subscriber;
struct fci_frame;
struct fci_segment;

/* Frames of a segment that the user reads in the ring. Where the leader may lack the room of the oldest of them, its pages
 * become a copy at their place, so that address and bytes stay, and its place is the leader's again: no frame that is held
 * stops the others. Pages are shared by neighbours: a page is a copy as long as a frame in it is kept, and a frame that
 * comes to lie in such a page is copied when it is given. */
struct fci_keep {
    /* The ring's. */
    int descriptor;
    int64_t page_bytes;
    /* The ring itself, whatever is kept; NULL until something is. */
    const uint8_t *pristine;
    /* By page of the mapping: frames that are kept there; with the former. */
    uint16_t *pages;
    /* Bytes from the oldest frame in place on, beyond which the leader may lack room. */
    int64_t in_place_max;
    /* Offset behind the frame that was given last, its format, and how often that changed. */
    int64_t end;
    int64_t format;
    uint32_t formats;
    /* By entry: frames in the ring that are no copies. */
    struct fci_frame *in_place[FC_LAYOUT_ENTRIES];
};

/* All with the subscriber's lock. */

void fci_keep_begin(struct fci_segment *segment, int descriptor);
/* Before the ring is unmapped. */
void fci_keep_end(struct fci_segment *segment);

/* Whether some page of a run in the segment's mapping is a copy. */
bool fci_keep_covers(const struct fci_segment *segment, const uint8_t *data, uint64_t bytes);
/* What lies at an offset of the ring now. */
const uint8_t *fci_keep_ring(const struct fci_segment *segment, int64_t offset);

/* A frame is given to the user, in place or as a copy. */
void fci_keep_give(struct fci_segment *segment, struct fci_frame *frame, int64_t offset, int64_t format);
/* A frame that has its segment is given back: whether its entry is to be released. */
bool fci_keep_give_back(struct fci_segment *segment, struct fci_frame *frame);
/* The user reads on: what is in the leader's way is kept. */
void fci_make_room(struct fc_subscriber *subscriber);
/* Before a fork: the child reads what is held where it lies. */
void fci_keep_pin(struct fci_segment *segment);

#endif
