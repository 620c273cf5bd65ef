/*
 * Follows a channel and prints what came: each new format of frames; frames, bytes, CRC32C over all payloads, lost frames.
 *
 *     subscribe [--frames N] [--hold N] [--delay-us N] [--wait-ms N] [--poll] URI
 *
 * Exit status: 0 the stream ended, or N frames came; 2 an error; 3 the source or the leader is gone.
 */
#include "crc32c.h"

#include <framecast.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLD_MAX 1024

struct arguments {
    const char *uri;
    unsigned long frames;
    unsigned long hold;
    unsigned long delay_us;
    long wait_ms;
    bool poll;
};

static int usage(void) {
    fputs("usage: subscribe [--frames N] [--hold N] [--delay-us N] [--wait-ms N] [--poll] URI\n", stderr);
    return 2;
}

static bool parse(int count, char **words, struct arguments *to) {
    *to = (struct arguments){.wait_ms = 10000};
    for (int i = 1; i < count; i++) {
        bool more = i + 1 < count;
        if (strcmp(words[i], "--poll") == 0) {
            to->poll = true;
        } else if (strcmp(words[i], "--frames") == 0 && more) {
            to->frames = strtoul(words[++i], NULL, 10);
        } else if (strcmp(words[i], "--hold") == 0 && more) {
            to->hold = strtoul(words[++i], NULL, 10);
        } else if (strcmp(words[i], "--delay-us") == 0 && more) {
            to->delay_us = strtoul(words[++i], NULL, 10);
        } else if (strcmp(words[i], "--wait-ms") == 0 && more) {
            to->wait_ms = strtol(words[++i], NULL, 10);
        } else if (to->uri == NULL && words[i][0] != '-') {
            to->uri = words[i];
        } else {
            return false;
        }
    }
    return to->uri != NULL && to->hold < HOLD_MAX;
}

/* As a program with an event loop of its own does. */
static fc_status next(fc_subscriber *subscriber, bool polls, const fc_frame **frame, fc_error *error) {
    if (!polls) {
        return fc_next(subscriber, -1, frame, error);
    }
    struct pollfd polled = {.fd = fc_fd(subscriber), .events = POLLIN, .revents = 0};
    fc_status status;
    while ((status = fc_next(subscriber, 0, frame, error)) == FC_EMPTY) {
        poll(&polled, 1, -1);
    }
    return status;
}

/* What frames are from here on, where that changed. */
static void print_format(const fc_frame *frame) {
    static uint64_t last;
    char text[256];
    const fc_format *format = fc_frame_format(frame);
    uint64_t id = format == NULL ? 0 : format->id;
    if (format != NULL && id != last) {
        fc_format_text(format, text, sizeof text);
        printf("frame %llu: %s\n", (unsigned long long)frame->number, text);
        fflush(stdout);
    }
    last = id;
}

static void print(fc_subscriber *subscriber, uint32_t crc, fc_status status) {
    fc_stats stats;
    fc_stats_of(subscriber, &stats);
    uint64_t lost = 0;
    for (int i = 0; i < FC_LOSS_REASONS; i++) {
        lost += stats.lost[i];
    }
    printf("frames %llu bytes %llu crc32c %08x lost %llu sessions %llu leaders %llu: %s\n",
           (unsigned long long)stats.frames, (unsigned long long)stats.bytes, crc, (unsigned long long)lost,
           (unsigned long long)stats.sessions, (unsigned long long)stats.leaders, fc_status_text(status));
}

int main(int count, char **words) {
    struct arguments arguments;
    if (!parse(count, words, &arguments)) {
        return usage();
    }
    crc32c_make_tables();
    fc_error error;
    fc_subscriber *subscriber;
    fc_options options = FC_OPTIONS_DEFAULT;
    options.leader_wait_ms = arguments.wait_ms;
    if (fc_subscribe(arguments.uri, &options, &subscriber, &error) != FC_OK) {
        fprintf(stderr, "subscribe: %s\n", error.text);
        return 2;
    }
    const fc_frame *held[HOLD_MAX] = {NULL};
    const fc_frame *frame;
    uint32_t crc = 0;
    unsigned long frames = 0;
    fc_status status = FC_OK;
    while ((arguments.frames == 0 || frames < arguments.frames)
           && (status = next(subscriber, arguments.poll, &frame, &error)) == FC_OK) {
        print_format(frame);
        crc = crc32c(crc, frame->data, frame->bytes);
        const fc_frame **place = &held[frames++ % (arguments.hold + 1)];
        fc_frame_release(*place);
        *place = frame;
        if (arguments.delay_us > 0) {
            usleep((useconds_t)arguments.delay_us);
        }
    }
    print(subscriber, crc, status);
    if (status != FC_OK && status != FC_END_OF_STREAM) {
        fprintf(stderr, "subscribe: %s\n", error.text);
    }
    for (int i = 0; i < HOLD_MAX; i++) {
        fc_frame_release(held[i]);
    }
    fc_close(subscriber);
    return status == FC_OK || status == FC_END_OF_STREAM ? 0 : status > 0 ? 3 : 2;
}
