/* A subscriber against a leader of the test's own. */
#include "check.h"
#include "clock.h"
#include "fake_leader.h"
#include "framecast.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RING (16 * 4096)
#define WAIT_MS 5000

struct pair {
    struct fake_leader leader;
    struct fake_segment segment;
    fc_subscriber *subscriber;
};

static fc_subscriber *subscribed(const char *uri, int64_t leader_wait_ms) {
    fc_options options = FC_OPTIONS_DEFAULT;
    options.leader_wait_ms = leader_wait_ms;
    fc_subscriber *subscriber;
    fc_error error = {.status = FC_OK, .text = ""};
    fc_subscribe(uri, &options, &subscriber, &error);
    CHECK_TEXT("", error.text);
    return subscriber;
}

static void begin_with(struct pair *pair, const char *uri, int flags) {
    fake_listen(&pair->leader, uri, (flags & FAKE_SOURCE) != 0);
    pair->subscriber = subscribed(uri, 500);
    CHECK_NUMBER(0, fake_accept(&pair->leader));
    fake_segment_make(&pair->segment, RING, flags);
    CHECK(fake_share(&pair->leader, &pair->segment, 0, FC_LAYOUT_VERSION));
}

static void begin(struct pair *pair) {
    begin_with(pair, FAKE_URI, 0);
}

static void end(struct pair *pair) {
    fc_close(pair->subscriber);
    fake_stop(&pair->leader);
    fake_segment_free(&pair->segment);
}

static const fc_frame *next(struct pair *pair) {
    const fc_frame *frame;
    fc_error error = {.status = FC_OK, .text = ""};
    fc_status status = fc_next(pair->subscriber, WAIT_MS, &frame, &error);
    CHECK_TEXT("", error.text);
    CHECK_NUMBER(FC_OK, status);
    return frame;
}

static void next_is(struct pair *pair, uint64_t number) {
    const fc_frame *frame = next(pair);
    CHECK_NUMBER(number, frame->number);
    fc_frame_release(frame);
}

static void ends(struct pair *pair, fc_status expected, const char *part) {
    const fc_frame *frame;
    fc_error error = {.status = FC_OK, .text = ""};
    CHECK_NUMBER(expected, fc_next(pair->subscriber, WAIT_MS, &frame, &error));
    CHECK(frame == NULL && error.status == expected);
    if (strstr(error.text, part) == NULL) {
        CHECK_TEXT(part, error.text);
    }
    /* And again. */
    CHECK_NUMBER(expected, fc_next(pair->subscriber, 0, &frame, NULL));
}

/* One line, with the layout of this program and that of the leader, which is this process. */
static const char *both_versions(int leaders) {
    static char text[256];
    snprintf(text, sizeof text, "host group: this program speaks layout %d of the host segment, the leader (process %d)"
             " layout %d; run both from the same release", (int)FC_LAYOUT_VERSION, (int)getpid(), leaders);
    return text;
}

static int64_t released(struct pair *pair) {
    return fake_get64(&pair->segment, fake_member(0, FC_LAYOUT_MEMBER_RELEASED));
}

static int open_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

static void should_read_frames_in_place(void) {
    struct pair pair;
    begin(&pair);
    /* The third one crosses the end of the ring. */
    for (int i = 0; i < 6; i++) {
        fake_publish(&pair.leader, &pair.segment, 10 + i, 25000, i % 2 == 0);
        const fc_frame *frame = next(&pair);
        CHECK_NUMBER(25000, frame->bytes);
        CHECK_NUMBER(10 + i, frame->number);
        CHECK_NUMBER(1010 + i, frame->timestamp_ns);
        CHECK_NUMBER(4711, frame->session);
        CHECK_NUMBER(FC_FRAME_IN_PLACE | (i % 2 == 0 ? FC_FRAME_KEYFRAME : 0), frame->flags);
        CHECK_NUMBER(3, frame->metadata_bytes);
        CHECK(memcmp(frame->metadata, "m1", 2) == 0);
        for (uint64_t at = 0; at < frame->bytes; at++) {
            if (((const uint8_t *)frame->data)[at] != 10 + i) {
                CHECK_NUMBER(10 + i, ((const uint8_t *)frame->data)[at]);
            }
        }
        fc_frame_release(frame);
        CHECK_NUMBER(i + 1, released(&pair));
    }
    CHECK_NUMBER(FC_LAYOUT_WANTS_NOT, pair.segment.words[FC_LAYOUT_DEVICES_PLACE]);
    end(&pair);
}

static void should_release_in_order_and_wake_a_leader_that_wants(void) {
    struct pair pair;
    begin(&pair);
    const fc_frame *frames[3];
    for (int i = 0; i < 3; i++) {
        fake_publish(&pair.leader, &pair.segment, i, 100, true);
        frames[i] = next(&pair);
    }
    uint64_t count;
    fake_set64(&pair.segment, FC_LAYOUT_WANTS_AT, 2);
    fc_frame_release(frames[1]);
    CHECK_NUMBER(0, released(&pair));
    CHECK_NUMBER(-1, read(pair.leader.counter, &count, 8));
    fc_frame_retain(frames[0]);
    fc_frame_release(frames[0]);
    CHECK_NUMBER(0, released(&pair));
    fc_frame_release(frames[0]);
    CHECK_NUMBER(2, released(&pair));
    CHECK_NUMBER(8, read(pair.leader.counter, &count, 8));
    CHECK_NUMBER(0, fake_get64(&pair.segment, FC_LAYOUT_WANTS_AT));
    fc_frame_release(frames[2]);
    CHECK_NUMBER(3, released(&pair));
    end(&pair);
}

/* {v: 1, rate: [n, 1], keys: {}} */
static void set_rate(struct pair *pair, int place, int serial, uint8_t rate) {
    uint8_t bytes[] = {0xa3, 0x61, 'v', 1, 0x64, 'r', 'a', 't', 'e', 0x82, rate, 1, 0x64, 'k', 'e', 'y', 's', 0xa0};
    fake_format(&pair->segment, place, serial, bytes, sizeof bytes);
}

static void has_rate(const fc_frame *frame, int expected) {
    const fc_format *format = fc_frame_format(frame);
    CHECK(format != NULL && format->rate != NULL && format->keys == 0);
    CHECK_NUMBER(expected, format->rate->numerator);
}

static void should_know_the_format_of_each_frame(void) {
    struct pair pair;
    const fc_frame *frames[7];
    begin(&pair);
    for (int i = 0; i < 7; i++) {
        if (i == 1 || i == 3) {
            set_rate(&pair, i == 1 ? 1 : 64, i, (uint8_t)(10 + i));
        } else if (i == 4) {
            pair.segment.format = 1;
        } else if (i == 5) {
            /* No format, and a place that there is not. */
            fake_format(&pair.segment, 2, 2, (const uint8_t *)"\xa0", 1);
        } else if (i == 6) {
            pair.segment.format = 65;
        }
        fake_publish(&pair.leader, &pair.segment, i, 100, i % 2 == 0);
        frames[i] = next(&pair);
        CHECK_NUMBER(i % 2 == 0 ? FC_FRAME_KEYFRAME : 0, frames[i]->flags & FC_FRAME_KEYFRAME);
    }
    CHECK(fc_frame_format(frames[0]) == NULL && fc_frame_format(frames[5]) == NULL && fc_frame_format(frames[6]) == NULL);
    has_rate(frames[1], 11);
    has_rate(frames[3], 13);
    CHECK(fc_frame_format(frames[1]) == fc_frame_format(frames[2]) && fc_frame_format(frames[1]) == fc_frame_format(frames[4]));
    CHECK(fc_frame_format(frames[1])->id != fc_frame_format(frames[3])->id);
    for (int i = 0; i < 7; i++) {
        fc_frame_release(frames[i]);
    }
    end(&pair);
}

/* The leader writes a place again when all released it; frames that are copies keep what they had. */
static void should_keep_formats_of_places_that_are_written_again(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|delivery=latest", 0);
    set_rate(&pair, 1, 1, 10);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    const fc_frame *first = next(&pair);
    set_rate(&pair, 1, 2, 20);
    fake_publish(&pair.leader, &pair.segment, 1, 100, true);
    const fc_frame *second = next(&pair);
    fc_close(pair.subscriber);
    has_rate(first, 10);
    has_rate(second, 20);
    fc_frame_release(first);
    fc_frame_release(second);
    fake_stop(&pair.leader);
    fake_segment_free(&pair.segment);
}

static void should_report_losses_before_the_next_frame(void) {
    struct pair pair;
    begin(&pair);
    fake_publish(&pair.leader, &pair.segment, 5, 100, true);
    fake_lose(&pair.leader, &pair.segment, 6, 3, FC_LOSS_DAMAGED);
    fake_lose(&pair.leader, &pair.segment, 9, 1, FC_LOSS_UNREPAIRABLE);
    fake_publish(&pair.leader, &pair.segment, 12, 100, true);
    next_is(&pair, 5);
    const fc_frame *frame = next(&pair);
    CHECK_NUMBER(12, frame->number);
    CHECK_NUMBER(3, frame->lost[FC_LOSS_DAMAGED]);
    CHECK_NUMBER(1, frame->lost[FC_LOSS_UNREPAIRABLE]);
    CHECK_NUMBER(2, frame->lost[FC_LOSS_NOT_A_MEMBER]);
    fc_frame_release(frame);
    fc_stats stats;
    fc_stats_of(pair.subscriber, &stats);
    CHECK_NUMBER(2, stats.frames);
    CHECK_NUMBER(3, stats.lost[FC_LOSS_DAMAGED]);
    CHECK_NUMBER(0, stats.held);
    end(&pair);
}

static void should_keep_frames_beyond_the_subscriber(void) {
    struct pair pair;
    begin(&pair);
    fake_publish(&pair.leader, &pair.segment, 7, 100, true);
    const fc_frame *frame = next(&pair);
    fc_close(pair.subscriber);
    CHECK_NUMBER(7, ((const uint8_t *)frame->data)[99]);
    CHECK_NUMBER(0, released(&pair));
    /* Its connection is open as long as the frame is. */
    struct pollfd polled = {.fd = pair.leader.connection, .events = POLLIN, .revents = 0};
    CHECK_NUMBER(0, poll(&polled, 1, 0));
    fc_frame_release(frame);
    CHECK_NUMBER(1, released(&pair));
    CHECK_NUMBER(1, poll(&polled, 1, WAIT_MS));
    fake_stop(&pair.leader);
    fake_segment_free(&pair.segment);
}

static void should_give_the_newest_under_latest(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|delivery=latest", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    const fc_frame *first = next(&pair);
    CHECK_NUMBER(FC_LAYOUT_NOTHING_HELD, released(&pair));
    CHECK((first->flags & FC_FRAME_COPIED) != 0);
    for (int i = 1; i < 5; i++) {
        fake_publish(&pair.leader, &pair.segment, i, 100, i == 3);
    }
    /* The newest keyframe, and what follows it. */
    const fc_frame *frame = next(&pair);
    CHECK_NUMBER(3, frame->number);
    CHECK_NUMBER(2, frame->lost[FC_LOSS_SUPERSEDED]);
    fc_frame_release(frame);
    next_is(&pair, 4);
    CHECK_NUMBER(0, ((const uint8_t *)first->data)[50]);
    fc_frame_release(first);
    end(&pair);
}

/* As another process of the user may write it. */
static void should_read_the_last_numbers_there_are(void) {
    struct pair pair;
    fake_listen(&pair.leader, FAKE_URI, false);
    pair.subscriber = subscribed(FAKE_URI "|delivery=latest", 500);
    fake_accept(&pair.leader);
    fake_segment_make(&pair.segment, RING, 0);
    pair.segment.published = INT64_MAX / 2 - 1;
    int64_t last = INT64_MAX - 1;
    CHECK(fake_share(&pair.leader, &pair.segment, 0, FC_LAYOUT_VERSION));
    fake_publish(&pair.leader, &pair.segment, 7, 100, true);
    next_is(&pair, 7);
    CHECK_NUMBER(last & (FC_LAYOUT_ENTRIES - 1), FC_LAYOUT_ENTRIES - 2);
    memcpy(pair.segment.words + fake_entry(last, 0), pair.segment.words + fake_entry(INT64_MAX / 2 - 1, 0),
           FC_LAYOUT_ENTRY_BYTES);
    fake_set64(&pair.segment, fake_entry(last, FC_LAYOUT_ENTRY_VERSION), (int64_t)(2 * (uint64_t)last + 2));
    fake_set64(&pair.segment, fake_entry(last, FC_LAYOUT_ENTRY_FRAME_ID), 8);
    fake_set64(&pair.segment, FC_LAYOUT_FREED_AT, last);
    fake_set64(&pair.segment, FC_LAYOUT_PUBLISHED_AT, INT64_MAX);
    next_is(&pair, 8);
    end(&pair);
}

static void should_begin_at_a_keyframe(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|join=keyframe", 0);
    fake_publish(&pair.leader, &pair.segment, 5, 100, false);
    fake_lose(&pair.leader, &pair.segment, 6, 2, FC_LOSS_UNREPAIRABLE);
    fake_publish(&pair.leader, &pair.segment, 8, 100, false);
    const fc_frame *frame;
    CHECK_NUMBER(FC_EMPTY, fc_next(pair.subscriber, 50, &frame, NULL));
    /* What was passed over is released. */
    CHECK_NUMBER(3, released(&pair));
    fake_publish(&pair.leader, &pair.segment, 9, 100, true);
    fake_publish(&pair.leader, &pair.segment, 10, 100, false);
    frame = next(&pair);
    CHECK_NUMBER(9, frame->number);
    CHECK_NUMBER(2, frame->lost[FC_LOSS_AWAITS_KEYFRAME]);
    CHECK_NUMBER(2, frame->lost[FC_LOSS_UNREPAIRABLE]);
    fc_frame_release(frame);
    next_is(&pair, 10);
    /* Later gaps are losses, and the next frame comes whatever it is. */
    fake_lose(&pair.leader, &pair.segment, 11, 2, FC_LOSS_UNREPAIRABLE);
    fake_publish(&pair.leader, &pair.segment, 13, 100, false);
    frame = next(&pair);
    CHECK_NUMBER(13, frame->number);
    CHECK_NUMBER(2, frame->lost[FC_LOSS_UNREPAIRABLE]);
    fc_frame_release(frame);
    end(&pair);
}

static void should_begin_at_a_keyframe_under_latest(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|delivery=latest|join=keyframe", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 100, false);
    const fc_frame *frame;
    CHECK_NUMBER(FC_EMPTY, fc_next(pair.subscriber, 50, &frame, NULL));
    fake_publish(&pair.leader, &pair.segment, 1, 100, true);
    next_is(&pair, 1);
    end(&pair);
}

static void should_go_on_behind_what_was_written_again(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|delivery=deadline=60s", 0);
    fake_set64(&pair.segment, FC_LAYOUT_CLOCK_ERROR_AT, INT64_MAX);
    for (int i = 0; i < 5; i++) {
        fake_publish(&pair.leader, &pair.segment, i, 100, true);
    }
    fake_set64(&pair.segment, FC_LAYOUT_FREED_AT, 3);
    const fc_frame *frame = next(&pair);
    CHECK_NUMBER(3, frame->number);
    CHECK_NUMBER(3, frame->lost[FC_LOSS_UNREPAIRABLE]);
    fc_frame_release(frame);
    end(&pair);
}

static void should_drop_what_is_older_than_the_deadline(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|delivery=deadline=10s", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    fake_publish(&pair.leader, &pair.segment, 1, 100, true);
    const fc_frame *frame;
    fc_stats stats = {0};
    for (int i = 0; i < WAIT_MS / 50 && stats.lost[FC_LOSS_EXPIRED] < 2; i++) {
        CHECK_NUMBER(FC_EMPTY, fc_next(pair.subscriber, 50, &frame, NULL));
        fc_stats_of(pair.subscriber, &stats);
    }
    CHECK_NUMBER(2, stats.lost[FC_LOSS_EXPIRED]);
    end(&pair);
}

static void should_hold_frames_where_the_leader_retains_none(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|delivery=latest", FAKE_SOURCE | FAKE_DOES_NOT_RETAIN);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    const fc_frame *frame = next(&pair);
    CHECK_NUMBER(0, released(&pair));
    CHECK((frame->flags & FC_FRAME_COPIED) == 0);
    fc_frame_release(frame);
    CHECK_NUMBER(1, released(&pair));
    end(&pair);
}

static void should_begin_when_the_source_waits(void) {
    struct pair pair;
    fake_listen(&pair.leader, FAKE_URI, false);
    pair.subscriber = subscribed(FAKE_URI, 500);
    fake_accept(&pair.leader);
    fake_segment_make(&pair.segment, RING, 0);
    fake_set32(&pair.segment, FC_LAYOUT_WAITS_AT, 0);
    fake_set64(&pair.segment, FC_LAYOUT_WAITED_FROM_AT, FC_LAYOUT_NOT_ASKED);
    CHECK(fake_share(&pair.leader, &pair.segment, 0, FC_LAYOUT_VERSION));
    for (int i = 0; i < 3; i++) {
        fake_publish(&pair.leader, &pair.segment, i, 100, true);
    }
    const fc_frame *frame;
    for (int i = 0; i < WAIT_MS / 50 && released(&pair) < 3; i++) {
        CHECK_NUMBER(FC_EMPTY, fc_next(pair.subscriber, 50, &frame, NULL));
    }
    CHECK_NUMBER(3, released(&pair));
    fake_set64(&pair.segment, FC_LAYOUT_WAITED_FROM_AT, 4);
    fake_publish(&pair.leader, &pair.segment, 3, 100, true);
    fake_publish(&pair.leader, &pair.segment, 4, 100, true);
    fake_set32(&pair.segment, FC_LAYOUT_WAITS_AT, 1);
    fake_become(&pair.leader, &pair.segment, FC_LAYOUT_RUNNING);
    next_is(&pair, 4);
    end(&pair);
}

static void should_tell_the_end_from_a_loss(void) {
    struct pair pair;
    begin(&pair);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    fake_become(&pair.leader, &pair.segment, FC_LAYOUT_END_OF_STREAM);
    next_is(&pair, 0);
    ends(&pair, FC_END_OF_STREAM, "end of stream");
    end(&pair);

    begin(&pair);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    fake_become(&pair.leader, &pair.segment, FC_LAYOUT_SOURCE_LOST);
    next_is(&pair, 0);
    ends(&pair, FC_SOURCE_LOST, "rejoin=10s in the URI waits");
    end(&pair);

    /* The publisher is the source. */
    begin_with(&pair, FAKE_URI, FAKE_SOURCE);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    fake_stop(&pair.leader);
    next_is(&pair, 0);
    ends(&pair, FC_SOURCE_LOST, "the source of fake is gone");
    fc_close(pair.subscriber);
    fake_segment_free(&pair.segment);
}

static void should_wait_for_the_next_publisher_with_rejoin(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|rejoin=20s", FAKE_SOURCE);
    fake_publish(&pair.leader, &pair.segment, 9, 100, true);
    fake_stop(&pair.leader);
    next_is(&pair, 9);
    const fc_frame *frame;
    CHECK_NUMBER(FC_EMPTY, fc_next(pair.subscriber, 100, &frame, NULL));
    fake_segment_free(&pair.segment);
    fake_listen(&pair.leader, FAKE_URI, true);
    CHECK_NUMBER(1, fake_accept(&pair.leader));
    fake_segment_make(&pair.segment, RING, FAKE_SOURCE);
    fake_set64(&pair.segment, FC_LAYOUT_SESSION_AT, 4712);
    CHECK(fake_share(&pair.leader, &pair.segment, 5, FC_LAYOUT_VERSION));
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    frame = next(&pair);
    CHECK_NUMBER(4712, frame->session);
    CHECK_NUMBER(0, frame->number);
    fc_frame_release(frame);
    fc_stats stats;
    fc_stats_of(pair.subscriber, &stats);
    CHECK_NUMBER(2, stats.sessions);
    end(&pair);
}

static void should_follow_the_successor(void) {
    struct pair pair;
    begin(&pair);
    for (int i = 0; i < 4; i++) {
        fake_publish(&pair.leader, &pair.segment, i, 100, true);
    }
    next_is(&pair, 0);
    const fc_frame *held = next(&pair);
    fake_stop(&pair.leader);

    struct fake_leader successor;
    struct fake_segment segment;
    fake_listen(&successor, FAKE_URI, false);
    CHECK_NUMBER(1, fake_accept(&successor));
    fake_segment_make(&segment, RING, 0);
    fake_set64(&segment, FC_LAYOUT_GENERATION_AT, 2);
    fake_set64(&segment, FC_LAYOUT_PREDECESSOR_AT, 1);
    fake_set32(&segment, FC_LAYOUT_STATE_AT, FC_LAYOUT_JOINING);
    CHECK(fake_share(&successor, &segment, 3, FC_LAYOUT_VERSION));
    /* The old ring to its end. */
    next_is(&pair, 2);
    next_is(&pair, 3);
    const fc_frame *frame;
    CHECK_NUMBER(FC_EMPTY, fc_next(pair.subscriber, 50, &frame, NULL));
    fake_become(&successor, &segment, FC_LAYOUT_RUNNING);
    /* Numbers that it had are passed over. */
    fake_publish(&successor, &segment, 3, 100, true);
    fake_publish(&successor, &segment, 4, 100, true);
    next_is(&pair, 4);
    CHECK_NUMBER(1, ((const uint8_t *)held->data)[99]);
    fc_frame_release(held);
    fc_stats stats;
    fc_stats_of(pair.subscriber, &stats);
    CHECK_NUMBER(1, stats.sessions);
    CHECK_NUMBER(2, stats.leaders);
    CHECK_NUMBER(0, stats.lost[FC_LOSS_NOT_A_MEMBER]);
    fake_become(&successor, &segment, FC_LAYOUT_END_OF_STREAM);
    ends(&pair, FC_END_OF_STREAM, "end of stream");
    fc_close(pair.subscriber);
    fake_stop(&successor);
    fake_segment_free(&segment);
    fake_segment_free(&pair.segment);
}

static void should_leave_a_leader_that_stands_still(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI "|attach-after=80ms", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    next_is(&pair, 0);
    /* No process takes over yet: frames of the one that stood still go on. */
    usleep(200000);
    fake_publish(&pair.leader, &pair.segment, 1, 100, true);
    next_is(&pair, 1);
    struct fake_leader successor;
    struct fake_segment segment;
    fake_listen(&successor, FAKE_URI "|attach-after=80ms", false);
    CHECK_NUMBER(1, fake_accept(&successor));
    fake_segment_make(&segment, RING, 0);
    fake_set64(&segment, FC_LAYOUT_GENERATION_AT, 2);
    fake_set64(&segment, FC_LAYOUT_PREDECESSOR_AT, 1);
    CHECK(fake_share(&successor, &segment, 0, FC_LAYOUT_VERSION));
    fake_publish(&successor, &segment, 2, 100, true);
    next_is(&pair, 2);
    end(&pair);
    fake_stop(&successor);
    fake_segment_free(&segment);
}

static void should_say_that_no_leader_came(void) {
    struct pair pair;
    begin(&pair);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    fake_stop(&pair.leader);
    usleep(700000);
    next_is(&pair, 0);
    ends(&pair, FC_LEADER_GONE, "start `framecast serve URI`");
    fc_close(pair.subscriber);
    fake_segment_free(&pair.segment);

    fc_subscriber *none;
    fc_error error;
    fc_options options = FC_OPTIONS_DEFAULT;
    options.leader_wait_ms = 50;
    CHECK_NUMBER(FC_E_NO_LEADER, fc_subscribe(FAKE_URI, &options, &none, &error));
    CHECK(none == NULL && strstr(error.text, "no process receives or publishes fake on this host") != NULL);
    char where[128];
    snprintf(where, sizeof where, "; it looked in %s/framecast", getenv("XDG_RUNTIME_DIR"));
    CHECK(strstr(error.text, where) != NULL);
}

/* XDG_RUNTIME_DIR is set in one process and not in another: a link in the directory that both know shows it. */
static void should_name_a_leader_in_another_directory(void) {
    struct fake_leader leader;
    fake_listen(&leader, FAKE_URI, false);
    char common[64];
    char link_path[256];
    snprintf(common, sizeof common, "/tmp/framecast-%u", (unsigned)getuid());
    mkdir(common, 0700);
    const char *name = strrchr(leader.path, '/') + 1;
    snprintf(link_path, sizeof link_path, "%s/%.16s.elsewhere", common, name);
    unlink(link_path);
    CHECK(symlink(leader.path, link_path) == 0);
    char before[128];
    snprintf(before, sizeof before, "%s", getenv("XDG_RUNTIME_DIR"));
    char other[] = "/tmp/fake-other-XXXXXX";
    CHECK(mkdtemp(other) != NULL && setenv("XDG_RUNTIME_DIR", other, 1) == 0);
    fc_subscriber *none;
    fc_error error;
    fc_options options = FC_OPTIONS_DEFAULT;
    options.leader_wait_ms = 50;
    CHECK_NUMBER(FC_E_NO_LEADER, fc_subscribe(FAKE_URI, &options, &none, &error));
    CHECK(strstr(error.text, other) != NULL && strstr(error.text, leader.path) != NULL);
    CHECK(strstr(error.text, ": give both the same XDG_RUNTIME_DIR, or none") != NULL);
    CHECK(setenv("XDG_RUNTIME_DIR", before, 1) == 0);
    unlink(link_path);
    char made[64];
    snprintf(made, sizeof made, "%s/framecast", other);
    CHECK(rmdir(made) == 0 && rmdir(other) == 0);
    fake_stop(&leader);
}

static void should_trust_the_last_checkpoint_on_the_end(void) {
    struct pair pair;
    begin(&pair);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    fake_set32(&pair.segment, FC_LAYOUT_CHECKPOINTS_AT + FC_LAYOUT_CHECKPOINT_COMPLETE, 1);
    fake_set64(&pair.segment, FC_LAYOUT_CHECKPOINTS_AT, 4);
    fake_stop(&pair.leader);
    next_is(&pair, 0);
    ends(&pair, FC_END_OF_STREAM, "end of stream");
    fc_close(pair.subscriber);
    fake_segment_free(&pair.segment);
}

static void should_refuse_what_cannot_be_read(void) {
    struct pair pair;
    begin_with(&pair, FAKE_URI, FAKE_UNSEALED);
    ends(&pair, FC_E_BROKEN, "is it sealed");
    end(&pair);

    fake_listen(&pair.leader, FAKE_URI, false);
    pair.subscriber = subscribed(FAKE_URI, 500);
    fake_accept(&pair.leader);
    fake_segment_make(&pair.segment, RING, 0);
    CHECK(fake_share(&pair.leader, &pair.segment, 0, 99));
    ends(&pair, FC_E_VERSION, both_versions(99));
    end(&pair);

    begin(&pair);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    next_is(&pair, 0);
    fake_publish(&pair.leader, &pair.segment, 1, 100, true);
    fake_set64(&pair.segment, fake_entry(1, FC_LAYOUT_ENTRY_OFFSET), RING);
    ends(&pair, FC_E_BROKEN, "entry 1 of the frame table");
    end(&pair);

    /* It takes no one. */
    fake_listen(&pair.leader, FAKE_URI, false);
    pair.subscriber = subscribed(FAKE_URI, 5000);
    for (int i = 0; i < 5; i++) {
        fake_accept(&pair.leader);
        close(pair.leader.connection);
        pair.leader.connection = -1;
    }
    ends(&pair, FC_E_REFUSED, "ended 5 connections before it shared a session; its output may say why");
    fc_close(pair.subscriber);
    fake_stop(&pair.leader);
}

/* A leader of another layout reads the HELLO, and says which one it speaks. */
static void should_name_both_layouts_of_a_leader_that_refuses(void) {
    struct pair pair;
    fake_listen(&pair.leader, FAKE_URI, false);
    pair.subscriber = subscribed(FAKE_URI, 500);
    fake_accept(&pair.leader);
    CHECK(fake_refuse(&pair.leader, FC_LAYOUT_VERSION + 1, FC_LAYOUT_MESSAGE_OTHER_VERSION));
    close(pair.leader.connection);
    pair.leader.connection = -1;
    ends(&pair, FC_E_VERSION, both_versions(FC_LAYOUT_VERSION + 1));
    fc_close(pair.subscriber);
    fake_stop(&pair.leader);
}

/* A leader without a place refuses before it read the HELLO, which gives the follower an error in front of the message. */
static void should_ask_a_full_leader_again_and_then_say_so(void) {
    struct pair pair;
    fake_listen(&pair.leader, FAKE_URI, false);
    pair.subscriber = subscribed(FAKE_URI, 5000);
    for (int i = 0; i < 5; i++) {
        if (i == 0) {
            fake_accept(&pair.leader);
        } else {
            fake_accept_unheard(&pair.leader);
        }
        fake_refuse(&pair.leader, FC_LAYOUT_VERSION, FC_LAYOUT_MESSAGE_NO_PLACE);
        close(pair.leader.connection);
        pair.leader.connection = -1;
    }
    ends(&pair, FC_E_REFUSED, "has no place left: it has 64 members; end one of them");
    fc_close(pair.subscriber);

    /* The second time there is room. */
    pair.subscriber = subscribed(FAKE_URI, 5000);
    fake_accept_unheard(&pair.leader);
    fake_refuse(&pair.leader, FC_LAYOUT_VERSION, FC_LAYOUT_MESSAGE_NO_PLACE);
    close(pair.leader.connection);
    fake_accept(&pair.leader);
    fake_segment_make(&pair.segment, RING, 0);
    CHECK(fake_share(&pair.leader, &pair.segment, 0, FC_LAYOUT_VERSION));
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    next_is(&pair, 0);
    end(&pair);
}

/* Refusals that make no sense are ends of connections. */
static void should_take_other_messages_for_an_end(void) {
    struct pair pair;
    fake_listen(&pair.leader, FAKE_URI, false);
    pair.subscriber = subscribed(FAKE_URI, 5000);
    for (int i = 0; i < 5; i++) {
        fake_accept(&pair.leader);
        CHECK(fake_refuse(&pair.leader, FC_LAYOUT_VERSION, i == 0 ? (uint64_t)FC_LAYOUT_MESSAGE_OTHER_VERSION : 77));
        close(pair.leader.connection);
        pair.leader.connection = -1;
    }
    ends(&pair, FC_E_REFUSED, "ended 5 connections before it shared a session");
    fc_close(pair.subscriber);
    fake_stop(&pair.leader);
}

static void should_be_readable_when_there_is_news(void) {
    struct pair pair;
    begin(&pair);
    const fc_frame *frame;
    struct pollfd polled = {.fd = fc_fd(pair.subscriber), .events = POLLIN, .revents = 0};
    int wakeups = 0;
    for (int i = 0; i < 100; i++) {
        fc_status status;
        while ((status = fc_next(pair.subscriber, 0, &frame, NULL)) == FC_OK) {
            CHECK_NUMBER(i - 1, frame->number);
            fc_frame_release(frame);
        }
        CHECK_NUMBER(FC_EMPTY, status);
        fake_publish(&pair.leader, &pair.segment, i, 100, true);
        CHECK_NUMBER(1, poll(&polled, 1, WAIT_MS));
        wakeups++;
    }
    next_is(&pair, 99);
    /* Quiet when nothing comes. */
    while (fc_next(pair.subscriber, 0, &frame, NULL) != FC_EMPTY) {
        CHECK(frame == NULL);
    }
    usleep(600000);
    fc_next(pair.subscriber, 0, &frame, NULL);
    fc_next(pair.subscriber, 0, &frame, NULL);
    CHECK_NUMBER(0, poll(&polled, 1, 0));
    fake_become(&pair.leader, &pair.segment, FC_LAYOUT_END_OF_STREAM);
    CHECK_NUMBER(1, poll(&polled, 1, WAIT_MS));
    end(&pair);
}

static void on_alarm(int signal) {
    (void)signal;
}

static void *wake_soon(void *subscriber) {
    usleep(50000);
    fc_wake(subscriber);
    return NULL;
}

static void should_end_a_wait(void) {
    struct pair pair;
    /* A publisher is not looked at for signs of life, which this one does not give. */
    begin_with(&pair, FAKE_URI, FAKE_SOURCE);
    const fc_frame *frame;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wake_soon, pair.subscriber) == 0);
    CHECK_NUMBER(FC_INTERRUPTED, fc_next(pair.subscriber, -1, &frame, NULL));
    pthread_join(thread, NULL);
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    for (fc_status status = FC_EMPTY; status != FC_INTERRUPTED;) {
        alarm(1);
        status = fc_next(pair.subscriber, 3000, &frame, NULL);
        CHECK(status == FC_INTERRUPTED || status == FC_EMPTY);
    }
    end(&pair);
}

struct later {
    struct pair *pair;
    int64_t number;
};

static void *publish_later(void *argument) {
    struct later *later = argument;
    usleep(100000);
    fake_publish(&later->pair->leader, &later->pair->segment, later->number, 100, true);
    return NULL;
}

static void should_change_nothing_in_the_child_of_a_fork(void) {
    struct pair pair;
    fake_listen(&pair.leader, FAKE_URI, false);
    /* No other news wakes the parent meanwhile. */
    pair.subscriber = subscribed(FAKE_URI, 60000);
    fake_accept(&pair.leader);
    fake_segment_make(&pair.segment, RING, 0);
    CHECK(fake_share(&pair.leader, &pair.segment, 0, FC_LAYOUT_VERSION));
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    const fc_frame *frame = next(&pair);
    pid_t child = fork();
    if (child == 0) {
        const fc_frame *none;
        bool refused = fc_next(pair.subscriber, 0, &none, NULL) == FC_E_ARGUMENT;
        fc_frame_release(frame);
        fc_close(pair.subscriber);
        _exit(refused ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_NUMBER(0, released(&pair));
    /* The parent still wakes, and not by the end of its wait. */
    struct later later = {.pair = &pair, .number = 1};
    pthread_t thread;
    time_t before = time(NULL);
    CHECK(pthread_create(&thread, NULL, publish_later, &later) == 0);
    next_is(&pair, 1);
    CHECK((time(NULL) - before) * 1000 < WAIT_MS / 2);
    pthread_join(thread, NULL);
    fc_frame_release(frame);
    CHECK_NUMBER(2, released(&pair));
    end(&pair);
}

/* By a lock, which successors in other PID namespaces see; the child of a fork does not keep it. */
static void should_show_that_it_lives(void) {
    struct pair pair;
    begin(&pair);
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    const fc_frame *frame = next(&pair);
    CHECK(fake_lives(&pair.segment, 0));
    int runs[2];
    int stays[2];
    CHECK(pipe(runs) == 0 && pipe(stays) == 0);
    pid_t child = fork();
    if (child == 0) {
        char none;
        close(stays[1]);
        /* It has given up what it had of the parent by now. */
        bool wrote = write(runs[1], "", 1) == 1;
        _exit(wrote && read(stays[0], &none, 1) == 0 ? 0 : 1);
    }
    char begun;
    CHECK(read(runs[0], &begun, 1) == 1);
    fc_frame_release(frame);
    fc_close(pair.subscriber);
    CHECK(!fake_lives(&pair.segment, 0));
    for (int i = 0; i < 2; i++) {
        close(runs[i]);
        close(stays[i]);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    fake_stop(&pair.leader);
    fake_segment_free(&pair.segment);
}

/* Whose calendar is wrong, as the source's may be. */
static void should_count_ages_by_the_monotonic_clock(void) {
    struct pair pair;
    fake_listen(&pair.leader, FAKE_URI, false);
    pair.subscriber = subscribed(FAKE_URI "|delivery=deadline=60s", 500);
    fake_accept(&pair.leader);
    fake_segment_make(&pair.segment, RING, 0);
    /* For the source it is 1970. */
    fake_set64(&pair.segment, FC_LAYOUT_CLOCK_OFFSET_AT, -fci_host_ns());
    CHECK(fake_share(&pair.leader, &pair.segment, 0, FC_LAYOUT_VERSION));
    fake_publish(&pair.leader, &pair.segment, 0, 100, true);
    const fc_frame *frame = next(&pair);
    CHECK_NUMBER(0, frame->number);
    /* It is 1970 there, and not here. */
    CHECK(frame->clock_offset_ns < -INT64_C(1000000000000000000) && frame->clock_error_ns == 0);
    fc_frame_release(frame);
    end(&pair);
}

static void should_end_the_wait_for_a_leader_by_a_signal(void) {
    fc_subscriber *none;
    fc_error error;
    alarm(1);
    CHECK_NUMBER(FC_INTERRUPTED, fc_subscribe(FAKE_URI, NULL, &none, &error));
    CHECK(none == NULL);
}

static int stop_at_three(void *context) {
    int *calls = context;
    return ++*calls == 3;
}

static void should_end_the_wait_for_a_leader_when_the_program_says_so(void) {
    fc_subscriber *none;
    int calls = 0;
    fc_options options = FC_OPTIONS_DEFAULT;
    options.leader_wait_ms = -1;
    options.on_wait = stop_at_three;
    options.context = &calls;
    CHECK_NUMBER(FC_INTERRUPTED, fc_subscribe(FAKE_URI, &options, &none, NULL));
    CHECK(none == NULL);
    CHECK_NUMBER(3, calls);
}

int main(void) {
    fake_directory();
    fc_close(NULL);
    int before = open_descriptors();
    should_read_frames_in_place();
    should_release_in_order_and_wake_a_leader_that_wants();
    should_know_the_format_of_each_frame();
    should_keep_formats_of_places_that_are_written_again();
    should_report_losses_before_the_next_frame();
    should_keep_frames_beyond_the_subscriber();
    should_give_the_newest_under_latest();
    should_read_the_last_numbers_there_are();
    should_begin_at_a_keyframe();
    should_begin_at_a_keyframe_under_latest();
    should_go_on_behind_what_was_written_again();
    should_drop_what_is_older_than_the_deadline();
    should_hold_frames_where_the_leader_retains_none();
    should_begin_when_the_source_waits();
    should_tell_the_end_from_a_loss();
    should_wait_for_the_next_publisher_with_rejoin();
    should_follow_the_successor();
    should_leave_a_leader_that_stands_still();
    should_say_that_no_leader_came();
    should_name_a_leader_in_another_directory();
    should_trust_the_last_checkpoint_on_the_end();
    should_refuse_what_cannot_be_read();
    should_name_both_layouts_of_a_leader_that_refuses();
    should_ask_a_full_leader_again_and_then_say_so();
    should_take_other_messages_for_an_end();
    should_be_readable_when_there_is_news();
    should_end_a_wait();
    should_end_the_wait_for_a_leader_by_a_signal();
    should_end_the_wait_for_a_leader_when_the_program_says_so();
    should_change_nothing_in_the_child_of_a_fork();
    should_show_that_it_lives();
    should_count_ages_by_the_monotonic_clock();
    CHECK_NUMBER(before, open_descriptors());
    printf("follower_test: %d checks\n", checks);
    return 0;
}
