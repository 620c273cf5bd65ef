#ifndef FC_SEGMENT_H
#define FC_SEGMENT_H

#include "keep.h"
#include "meeting.h"
#include "segment_layout.h"
#include "share.h"

/* What a leader shares for one session, mapped. Every word may be wrong: any process of the user may write it. What is
 * read here never leads outside the mappings.
 *
 * Its subscriber's lock guards the fields; the words are read without. */
struct fci_segment {
    struct fci_segment *later;
    int references;
    struct fci_connection *connection;
    uint8_t *words;
    const uint8_t *ring;
    int64_t ring_bytes;
    int64_t frame_max;
    uint64_t session;
    uint64_t generation;
    bool of_source;
    bool continues;
    /* The leader may write again what this member has not released. */
    bool unheld;
    /* After fork: the child changes nothing. */
    bool foreign;
    int64_t member;
    int64_t device;
    /* The GPU that frames go to; NULL for none. */
    struct fci_device *gpu;
    bool pinned;
    bool reads_in_place;
    struct fci_share share;
    /* The member's record about the frames that its user has. */
    int64_t reader;
    struct fci_keep keep;
    /* The words, with the lock that is this member's sign of life. */
    int life;
    int waker;
    int leader;
    int64_t next;
    int64_t released;
    bool begun;
    bool complete;
    bool leader_lost;
    /* A bit for each entry that was taken: whether it was released. */
    uint8_t done[FC_LAYOUT_ENTRIES / 8];
};

/* An entry of the frame table, copied once and checked. */
struct fci_entry {
    bool is_loss;
    bool keyframe;
    bool in_place;
    int reason;
    uint64_t number;
    uint64_t lost;
    int64_t offset;
    int64_t bytes;
    int64_t timestamp_ns;
    int64_t metadata_bytes;
    /* The place of its format; 0 for none. */
    int64_t format;
};

enum fci_sight { FCI_NO_SESSION, FCI_FRAMES, FCI_STREAMING, FCI_ENDED, FCI_LOST };

enum { FCI_NO_ENTRY = -1, FCI_TORN = -2 };

/* How a member reads. */
struct fci_reading {
    /* Frames may be dropped. */
    bool drops;
    /* NULL: in host memory alone. */
    struct fci_device *gpu;
    /* In the device memory of another process, where that is of the same device. */
    bool in_place;
};

/* Maps what a leader shared. The descriptors are taken in any case. */
struct fci_segment *fci_segment_map(struct fci_invitation *invitation, struct fci_connection *connection,
                                    const struct fci_reading *reading, fc_error *error);
/* Twice, back to back, so that a frame that crosses the end is contiguous. NULL where it cannot be. */
const uint8_t *fci_map_ring(int descriptor, int64_t bytes);
/* Not its connection, which the caller counts. */
void fci_segment_free(struct fci_segment *segment);

enum fci_sight fci_see(struct fci_segment *segment);
int fci_state(const struct fci_segment *segment);
bool fci_is_open(const struct fci_segment *segment);
/* The leader is gone: its last checkpoint may say that the stream had ended. */
void fci_look_for_end(struct fci_segment *segment);
int64_t fci_heartbeat(const struct fci_segment *segment);

/* The number of the entry that waits, FCI_NO_ENTRY, or FCI_TORN where the leader broke the table. */
int64_t fci_peek(struct fci_segment *segment);
/* Behind fci_peek. */
void fci_take(struct fci_segment *segment);
bool fci_read(const struct fci_segment *segment, int64_t number, struct fci_entry *entry);
/* Behind a copy of what an entry names: whether the leader had not begun to write there again. */
bool fci_is_intact(const struct fci_segment *segment, int64_t number);
const uint8_t *fci_metadata(const struct fci_segment *segment, int64_t number);
/* Copies the bytes of the format at a place; how many there are, 0 for none. */
size_t fci_format_copy(const struct fci_segment *segment, int64_t place, uint8_t to[FC_LAYOUT_FORMAT_BYTES_MAX]);
void fci_release(struct fci_segment *segment, int64_t number);
/* For those who look after the leader: frames that the user has, and that were copied for lack of room. */
void fci_tell_held(struct fci_segment *segment, uint64_t held, uint64_t copied);
int64_t fci_published(const struct fci_segment *segment);
/* Of a member that drops: the frame with which it begins. */
uint64_t fci_first_frame(const struct fci_segment *segment);
/* The source's clock less the host's monotonic clock; and less the calendar, as this process sees it. */
int64_t fci_source_clock(const struct fci_segment *segment);
int64_t fci_clock_offset(const struct fci_segment *segment);
int64_t fci_clock_error(const struct fci_segment *segment);

/* The leader wakes this member by the next entry. False where there is news already. */
bool fci_sleep(struct fci_segment *segment);
void fci_wake_up(struct fci_segment *segment);
/* It will not follow a successor. */
void fci_leave(struct fci_segment *segment);
void fci_let_go(struct fci_segment *segment);

#endif
