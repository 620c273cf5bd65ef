/* Frames that are held while the ring goes on: they become copies at their place, and the leader goes on. */
#include "check.h"
#include "fake_leader.h"
#include "subscriber.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RING (16 * 4096)
#define WAIT_MS 5000
/* No multiple of a page: neighbours share pages. */
#define BYTES 25000
#define HELD_MAX 3000

struct pair {
    struct fake_leader leader;
    struct fake_segment segment;
    fc_subscriber *subscriber;
};

static void begin(struct pair *pair) {
    fake_listen(&pair->leader, FAKE_URI, true);
    fc_error error = {.status = FC_OK, .text = ""};
    fc_subscribe(FAKE_URI, NULL, &pair->subscriber, &error);
    CHECK_TEXT("", error.text);
    fake_accept(&pair->leader);
    fake_segment_make(&pair->segment, RING, FAKE_SOURCE);
    CHECK(fake_share(&pair->leader, &pair->segment, 0, FC_LAYOUT_VERSION));
}

static void end(struct pair *pair) {
    fc_close(pair->subscriber);
    fake_stop(&pair->leader);
    fake_segment_free(&pair->segment);
}

static int64_t released(struct pair *pair) {
    return fake_get64(&pair->segment, fake_member(0, FC_LAYOUT_MEMBER_RELEASED));
}

static int64_t reader(struct pair *pair, int64_t field) {
    return fake_get64(&pair->segment, FC_LAYOUT_READERS_PLACE + field);
}

/* Bytes of the ring that the reader has not released. */
static int64_t used(struct pair *pair) {
    int64_t oldest = released(pair);
    int64_t from = fake_get64(&pair->segment, fake_entry(oldest, FC_LAYOUT_ENTRY_OFFSET));
    return oldest == pair->segment.published ? 0 : (pair->segment.write_at - from - 1 + 2 * RING) % RING + 1;
}

/* The user reads on, and the leader publishes where there is room. */
static const fc_frame *next(struct pair *pair, int64_t number, int64_t bytes) {
    const fc_frame *frame;
    CHECK_NUMBER(FC_EMPTY, fc_next(pair->subscriber, 0, &frame, NULL));
    CHECK(used(pair) + bytes <= RING && pair->segment.published - released(pair) < FC_LAYOUT_ENTRIES);
    fake_publish(&pair->leader, &pair->segment, number, bytes, true);
    fc_error error = {.status = FC_OK, .text = ""};
    fc_next(pair->subscriber, WAIT_MS, &frame, &error);
    CHECK_TEXT("", error.text);
    CHECK_NUMBER(number, frame->number);
    CHECK_NUMBER(bytes, frame->bytes);
    return frame;
}

static void has_its_bytes(const fc_frame *frame) {
    const uint8_t *data = frame->data;
    for (uint64_t i = 0; i < frame->bytes; i++) {
        if (data[i] != (uint8_t)frame->number) {
            fprintf(stderr, "byte %llu of frame %llu\n", (unsigned long long)i, (unsigned long long)frame->number);
            CHECK_NUMBER((uint8_t)frame->number, data[i]);
        }
    }
    checks++;
}

static void should_keep_one_frame_for_ever(void) {
    struct pair pair;
    begin(&pair);
    const fc_frame *held = next(&pair, 1, BYTES);
    const void *place = held->data;
    int copies = 0;
    for (int i = 2; i < 200; i++) {
        const fc_frame *frame = next(&pair, i, BYTES);
        has_its_bytes(frame);
        has_its_bytes(held);
        copies += frame->flags & FC_FRAME_COPIED ? 1 : 0;
        fc_frame_release(frame);
    }
    CHECK(held->data == place && (held->flags & FC_FRAME_COPIED) == 0);
    /* Those that lie where it is kept. */
    CHECK(copies > 0 && copies < 150);
    CHECK_NUMBER(1, reader(&pair, FC_LAYOUT_READER_HELD));
    CHECK_NUMBER(copies + 1, reader(&pair, FC_LAYOUT_READER_COPIED));
    CHECK_NUMBER(pair.segment.published, released(&pair));
    fc_frame_release(held);
    CHECK_NUMBER(0, reader(&pair, FC_LAYOUT_READER_HELD));
    /* The ring is seen at its place again. */
    for (int i = 0; i < 20; i++) {
        const fc_frame *frame = next(&pair, 200 + i, BYTES);
        has_its_bytes(frame);
        CHECK((frame->flags & FC_FRAME_COPIED) == 0);
        fc_frame_release(frame);
    }
    end(&pair);
}

/* Two are read in place, as the ring has room for a third one. */
static void should_copy_nothing_that_the_ring_has_room_for(void) {
    struct pair pair;
    begin(&pair);
    const fc_frame *before = next(&pair, 0, 10000);
    for (int i = 1; i < 100; i++) {
        const fc_frame *frame = next(&pair, i, 10000);
        fc_frame_release(before);
        before = frame;
        CHECK((frame->flags & FC_FRAME_COPIED) == 0);
    }
    CHECK_NUMBER(0, reader(&pair, FC_LAYOUT_READER_COPIED));
    fc_frame_release(before);
    end(&pair);
}

static unsigned draw(unsigned *state) {
    *state = *state * 1103515245 + 12345;
    return *state >> 16;
}

/* Frames of one length after the other are held, and given back in any order. */
static void should_keep_many(int64_t bytes_max, int count) {
    static const fc_frame *held[HELD_MAX];
    struct pair pair;
    begin(&pair);
    unsigned state = 1;
    memset(held, 0, sizeof held);
    for (int i = 0; i < count; i++) {
        held[i] = next(&pair, i, 1 + (bytes_max > 1000 ? draw(&state) : 99) % bytes_max);
    }
    CHECK(reader(&pair, FC_LAYOUT_READER_COPIED) > 0);
    for (int i = 0; i < count; i++) {
        has_its_bytes(held[i]);
    }
    for (int i = count; i < 3 * count; i++) {
        const fc_frame **place = &held[draw(&state) % (unsigned)count];
        if (*place != NULL) {
            has_its_bytes(*place);
            fc_frame_release(*place);
        }
        *place = draw(&state) % 3 == 0 ? NULL : next(&pair, i, 1 + draw(&state) % bytes_max);
    }
    for (int i = 0; i < count; i++) {
        if (held[i] != NULL) {
            has_its_bytes(held[i]);
            fc_frame_release(held[i]);
        }
    }
    CHECK_NUMBER(0, reader(&pair, FC_LAYOUT_READER_HELD));
    CHECK_NUMBER(0, pair.subscriber->copied_bytes);
    for (int i = 0; i < 40; i++) {
        const fc_frame *frame = next(&pair, 3 * count + i, bytes_max);
        has_its_bytes(frame);
        CHECK((frame->flags & FC_FRAME_COPIED) == 0);
        fc_frame_release(frame);
    }
    end(&pair);
}

static void should_keep_frames_beyond_the_subscriber(void) {
    struct pair pair;
    begin(&pair);
    const fc_frame *first = next(&pair, 1, BYTES);
    const fc_frame *second = next(&pair, 2, BYTES);
    const fc_frame *third = next(&pair, 3, BYTES);
    CHECK_NUMBER(1, released(&pair));
    memset(pair.segment.bytes, 99, BYTES);
    end(&pair);
    has_its_bytes(first);
    fc_frame_release(first);
    fc_frame_release(second);
    fc_frame_release(third);
}

/* A stream of other formats: the source numbers few of them. */
static void should_keep_a_frame_whose_format_is_in_the_way(void) {
    struct pair pair;
    begin(&pair);
    const fc_frame *held = next(&pair, 0, 100);
    for (int i = 1; i < 40; i++) {
        uint8_t bytes[] = {0xa3, 0x61, 'v', 1, 0x64, 'r', 'a', 't', 'e', 0x82, (uint8_t)(i % 20), 1, 0x64, 'k', 'e', 'y', 's', 0xa0};
        fake_format(&pair.segment, 1 + i % 60, i, bytes, sizeof bytes);
        fc_frame_release(next(&pair, i, 100));
        CHECK(pair.segment.published - released(&pair) < 15);
    }
    has_its_bytes(held);
    fc_frame_release(held);
    end(&pair);
}

static void should_wait_when_copies_take_too_much(void) {
    struct pair pair;
    const fc_frame *held[16];
    int count = 0;
    begin(&pair);
    pair.subscriber->copied_max = 60000;
    while (count < 16) {
        const fc_frame *frame;
        CHECK_NUMBER(FC_EMPTY, fc_next(pair.subscriber, 0, &frame, NULL));
        if (used(&pair) + BYTES > RING) {
            break;
        }
        fake_publish(&pair.leader, &pair.segment, count, BYTES, true);
        if (fc_next(pair.subscriber, 50, &held[count], NULL) != FC_OK) {
            break;
        }
        count++;
    }
    CHECK(count > 3 && count < 8);
    for (int i = 0; i < count; i++) {
        has_its_bytes(held[i]);
        fc_frame_release(held[i]);
    }
    const fc_frame *frame;
    fc_status status = fc_next(pair.subscriber, 100, &frame, NULL);
    CHECK(status == FC_OK || status == FC_EMPTY);
    fc_frame_release(frame);
    fc_frame_release(next(&pair, 77, BYTES));
    end(&pair);
}

static void should_leave_in_place_what_was_held_at_a_fork(void) {
    struct pair pair;
    begin(&pair);
    const fc_frame *held = next(&pair, 1, BYTES);
    pid_t child = fork();
    if (child == 0) {
        has_its_bytes(held);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    const fc_frame *second = next(&pair, 2, BYTES);
    const fc_frame *none;
    CHECK_NUMBER(FC_EMPTY, fc_next(pair.subscriber, 0, &none, NULL));
    CHECK_NUMBER(0, released(&pair));
    fc_frame_release(held);
    fc_frame_release(second);
    CHECK_NUMBER(2, released(&pair));
    end(&pair);
}

int main(void) {
    fake_directory();
    should_keep_one_frame_for_ever();
    should_copy_nothing_that_the_ring_has_room_for();
    should_keep_many(BYTES, 60);
    should_keep_many(6000, 300);
    should_keep_many(100, HELD_MAX);
    should_keep_frames_beyond_the_subscriber();
    should_keep_a_frame_whose_format_is_in_the_way();
    should_wait_when_copies_take_too_much();
    should_leave_in_place_what_was_held_at_a_fork();
    printf("keep_test: %d checks\n", checks);
    return 0;
}
