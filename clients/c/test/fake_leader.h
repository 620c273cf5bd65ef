/* A leader in C, in the test's own process: what docs/host-segment.md asks of one, as far as a follower sees it. */
#ifndef FC_FAKE_LEADER_H
#define FC_FAKE_LEADER_H

#include "segment_layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FAKE_URI "framecast:udp?group=224.20.30.39:24326|channel=fake"

struct fake_segment {
    int ring;
    int words_file;
    uint8_t *words;
    /* Mapped once. */
    uint8_t *bytes;
    int64_t ring_bytes;
    int64_t published;
    int64_t write_at;
    /* The place of the next frames' format; 0: none. */
    int format;
};

struct fake_leader {
    char path[128];
    int listener;
    int connection;
    int waker;
    int counter;
};

enum { FAKE_UNSEALED = 1, FAKE_SOURCE = 2, FAKE_DOES_NOT_RETAIN = 4 };

/* A directory of its own for the sockets of this test. */
void fake_directory(void);
/* Listens as a subscriber that leads, or as the publisher. */
void fake_listen(struct fake_leader *leader, const char *uri, bool as_publisher);
/* Accepts a follower, and reads its HELLO: the generation in it. */
uint64_t fake_accept(struct fake_leader *leader);
/* Accepts a follower whose HELLO is not read. */
void fake_accept_unheard(struct fake_leader *leader);
/* False where the follower is gone. */
bool fake_refuse(struct fake_leader *leader, uint32_t version, uint64_t reason);
void fake_stop(struct fake_leader *leader);

void fake_segment_make(struct fake_segment *segment, int64_t ring_bytes, int flags);
void fake_segment_free(struct fake_segment *segment);
/* Admits a member at its first entry, and sends the descriptors. False where it is gone. */
bool fake_share(struct fake_leader *leader, struct fake_segment *segment, int member, uint32_t version);
/* Whether a member shows that it lives: its process has the words open. */
bool fake_lives(const struct fake_segment *segment, int member);

int64_t fake_get64(const struct fake_segment *segment, int64_t at);
void fake_set64(struct fake_segment *segment, int64_t at, int64_t value);
void fake_set32(struct fake_segment *segment, int64_t at, int32_t value);
int64_t fake_member(int member, int64_t field);
int64_t fake_entry(int64_t number, int64_t field);
/* Writes a format to a place; the next frames have it. */
void fake_format(struct fake_segment *segment, int place, int serial, const uint8_t *bytes, size_t length);
/* A frame whose bytes are all its number; its metadata is "m" and the number. */
void fake_publish(struct fake_leader *leader, struct fake_segment *segment, int64_t number, int64_t bytes, bool keyframe);
void fake_lose(struct fake_leader *leader, struct fake_segment *segment, int64_t first, int64_t count, int reason);
void fake_become(struct fake_leader *leader, struct fake_segment *segment, int state);

#endif
