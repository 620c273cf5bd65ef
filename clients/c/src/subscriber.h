#ifndef FC_SUBSCRIBER_H
#define FC_SUBSCRIBER_H

#include "device.h"
#include "format.h"
#include "segment.h"

#include <pthread.h>

/* Which frames a policy drops when the user polls (docs/protocol.md, "Delivery policies"). */
struct fci_choice {
    /* Entries below were looked at; among them the newest at which a subscriber may begin. */
    int64_t looked;
    int64_t newest;
    bool keyed;
    bool awaits_keyframe;
};

/* A frame as the library sees it; the user sees its first field. */
struct fci_frame {
    fc_frame shown;
    struct fc_subscriber *subscriber;
    /* NULL where the bytes are a copy. */
    struct fci_segment *segment;
    int64_t entry;
    int references;
    /* NULL for none. */
    struct fci_format *format;
    uint8_t *copy;
    uint64_t copy_bytes;
    bool copy_is_pinned;
    /* Its pages are a copy at their place. */
    bool kept;
    /* It counts among the copies that there may be. */
    bool counted;
    /* Changes of format before it. */
    uint32_t formats;
    struct fci_device_copy device;
    struct fci_frame *next;
    uint8_t metadata[FC_LAYOUT_METADATA_BYTES_MAX];
};

/* What the thread of a subscriber knows; no other thread reads it. */
struct fci_membership {
    struct fci_connection *connection;
    /* With a reference each: the newest, and the one before it as long as a successor has not opened the newest. */
    struct fci_segment *newest;
    struct fci_segment *past;
    /* Whether the newest is of the present leader. */
    bool present;
    int64_t heartbeat;
    int still_looks;
    int64_t looked_ns;
    /* When it began to look for a leader; 0: it does not. */
    int64_t looking_ns;
    int refusals;
    /* The leader said that it has no place left. */
    bool full;
    /* When the source was lost; 0: it is not. */
    int64_t lost_ns;
};

struct fc_subscriber {
    /* Guards everything but the membership. */
    pthread_mutex_t mutex;
    struct fc_subscriber *sibling;
    int references;
    /* Random: leaders know this member by it. */
    uint64_t number;
    struct fci_channel channel;
    struct fci_meeting meeting;
    fc_options options;
    /* NULL where frames stay in host memory. */
    struct fci_device *device;
    /* A frame is on its way to device memory. */
    bool awaits_device;
    pthread_t thread;
    /* Events: for the user's thread, and for the subscriber's own. */
    int epoll;
    int news;
    int waker;
    bool polled_outside;
    bool asleep;
    bool woken;
    bool closed;
    bool forked;
    /* Nothing more is expected of leaders. */
    bool over;
    bool lost_for_good;
    bool end_reported;
    /* Why no frame is given any more; and why none comes behind those that wait. */
    fc_error final;
    fc_error gone;
    struct fci_segment *segment;
    /* Of later sessions and leaders, the first in front. */
    struct fci_segment *coming;
    struct fci_choice choice;
    uint64_t session;
    uint64_t next_number;
    /* Under join=keyframe: whether a keyframe was seen, and of which session. */
    bool begun;
    uint64_t begun_session;
    uint64_t lost[FC_LOSS_REASONS];
    fc_stats stats;
    struct fci_frame *spare;
    struct fci_formats formats;
    /* Copies for lack of room in the ring: how many there were, and what they take now, of how much. */
    uint64_t copied;
    uint64_t copied_bytes;
    uint64_t copied_max;
    /* The next frame waits until some are released. */
    bool full;
    struct fci_membership membership;
};

int64_t fci_now_ns(void);
void fci_count(int descriptor);

/* With the lock: one reference less. */
void fci_unref_segment(struct fc_subscriber *subscriber, struct fci_segment *segment);
void fci_unref_connection(struct fci_connection *connection);
/* Takes the lock away, and frees the subscriber where that was the last reference. */
void fci_unlock_unref(struct fc_subscriber *subscriber);
/* With the lock: a segment is read no more, or not yet. */
void fci_unwatch(struct fc_subscriber *subscriber, struct fci_segment *segment);

/* With the lock: no frame is given from now on, for this reason, and nothing is held. */
void fci_end(struct fc_subscriber *subscriber, const fc_error *why);

/* follower.c, with the lock. */
enum fci_sight fci_look(struct fc_subscriber *subscriber);
/* The next frame; NULL where there is none now. */
struct fci_frame *fci_poll(struct fc_subscriber *subscriber);
/* The status where there is no frame. */
fc_status fci_standing(struct fc_subscriber *subscriber, fc_error *error);

/* frame.c, with the lock. */
struct fci_frame *fci_frame_make(struct fc_subscriber *subscriber, int64_t number, const struct fci_entry *entry);
void fci_frame_drop(struct fci_frame *frame);
void fci_count_copy(struct fc_subscriber *subscriber, struct fci_frame *frame);
/* Whether copies take as much memory as they may: no frame is given until some are released. */
bool fci_is_full(const struct fc_subscriber *subscriber);
void fci_frame_free_copy(struct fc_subscriber *subscriber, struct fci_frame *frame);
/* One reference less. Whether that was the last one, and with it a reference to the subscriber, which the caller drops. */
bool fci_frame_unref(struct fci_frame *frame);
/* The number of its subscriber's GPU. */
int fci_frame_ordinal(const fc_frame *frame);

/* membership.c */
fc_status fci_enter_first(struct fc_subscriber *subscriber, fc_error *error);
void *fci_membership_run(void *subscriber);
void fci_membership_end(struct fc_subscriber *subscriber);

/* fork.c */
void fci_register(struct fc_subscriber *subscriber);
void fci_unregister(struct fc_subscriber *subscriber);

#endif
