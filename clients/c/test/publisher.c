/*
 * A publisher for tests without Java: a window of a few frames, read by any number of followers.
 *
 *     publisher URI FRAMES BYTES WINDOW [FOLLOWERS [FORMAT...]]
 *
 * Begins when FOLLOWERS (1 unless given) have come. Each byte of frame n is n modulo 256. Ends the stream behind the
 * last frame, and stays until all followers have left. FORMATs are bytes in hexadecimal; each is that of as many frames,
 * one after the other.
 */
#include "check.h"
#include "fake_leader.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define FOLLOWERS_MAX 32

static struct fake_leader leader;
static struct fake_segment segment;
static int connections[FOLLOWERS_MAX];

static int followers(void) {
    int count = 0;
    for (int i = 0; i < FOLLOWERS_MAX; i++) {
        count += connections[i] >= 0 ? 1 : 0;
    }
    return count;
}

static void admit(void) {
    for (int i = 0; i < FOLLOWERS_MAX; i++) {
        if (connections[i] < 0) {
            fake_accept(&leader);
            connections[i] = leader.connection;
            fake_share(&leader, &segment, i, FC_LAYOUT_VERSION);
            return;
        }
    }
}

static void dismiss(int place) {
    close(connections[place]);
    connections[place] = -1;
    fake_set32(&segment, fake_member(place, FC_LAYOUT_MEMBER_STATE), 0);
}

/* Followers come and go. */
static void serve(int timeout_ms) {
    struct pollfd polled[FOLLOWERS_MAX + 2];
    for (int i = 0; i < FOLLOWERS_MAX; i++) {
        polled[i] = (struct pollfd){.fd = connections[i], .events = POLLIN, .revents = 0};
    }
    polled[FOLLOWERS_MAX] = (struct pollfd){.fd = leader.listener, .events = POLLIN, .revents = 0};
    polled[FOLLOWERS_MAX + 1] = (struct pollfd){.fd = leader.counter, .events = POLLIN, .revents = 0};
    if (poll(polled, FOLLOWERS_MAX + 2, timeout_ms) <= 0) {
        return;
    }
    uint64_t count;
    if (polled[FOLLOWERS_MAX + 1].revents != 0 && read(leader.counter, &count, 8) != 8) {
        return;
    }
    for (int i = 0; i < FOLLOWERS_MAX; i++) {
        if (polled[i].revents != 0) {
            dismiss(i);
        }
    }
    if (polled[FOLLOWERS_MAX].revents != 0) {
        admit();
    }
}

static int64_t released(void) {
    int64_t least = segment.published;
    for (int i = 0; i < FOLLOWERS_MAX; i++) {
        int64_t own = fake_get64(&segment, fake_member(i, FC_LAYOUT_MEMBER_RELEASED));
        if (connections[i] >= 0 && own < least) {
            least = own;
        }
    }
    return least;
}

static void set_format(const char *hex, int index) {
    uint8_t bytes[FC_LAYOUT_FORMAT_BYTES_MAX];
    size_t length = 0;
    for (; hex[2 * length] != 0 && hex[2 * length + 1] != 0 && length < sizeof bytes; length++) {
        unsigned value;
        CHECK_NUMBER(1, sscanf(hex + 2 * length, "%2x", &value));
        bytes[length] = (uint8_t)value;
    }
    fake_format(&segment, 1 + index % FC_LAYOUT_FORMATS, index + 1, bytes, length);
}

int main(int count, char **words) {
    if (count < 5) {
        fputs("usage: publisher URI FRAMES BYTES WINDOW [FOLLOWERS [FORMAT...]]\n", stderr);
        return 2;
    }
    long frames = atol(words[2]);
    long bytes = atol(words[3]);
    long window = atol(words[4]);
    int formats_set = 0;
    long next_change = 0;
    int wanted = count > 5 ? atoi(words[5]) : 1;
    memset(connections, -1, sizeof connections);
    /* Room for the longest frame twice, and whole pages. */
    int64_t ring = (bytes * (window > 1 ? window : 2) + 4095) / 4096 * 4096;
    fake_segment_make(&segment, ring, FAKE_SOURCE | FAKE_DOES_NOT_RETAIN);
    fake_listen(&leader, words[1], true);
    while (followers() < wanted) {
        serve(-1);
    }
    for (long number = 0; number < frames; number++) {
        while (segment.published - released() >= window) {
            fake_set64(&segment, FC_LAYOUT_WANTS_AT, released() + 1);
            if (segment.published - released() >= window) {
                serve(100);
            }
        }
        if (number % 64 == 0) {
            serve(0);
        }
        if (number == next_change && formats_set < count - 6) {
            set_format(words[6 + formats_set], formats_set);
            next_change = frames * ++formats_set / (count - 6);
        }
        fake_publish(&leader, &segment, number, bytes, true);
    }
    fake_become(&leader, &segment, FC_LAYOUT_END_OF_STREAM);
    while (followers() > 0) {
        serve(-1);
    }
    unlink(leader.path);
    return 0;
}
