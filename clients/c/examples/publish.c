/*
 * Publishes a file in frames of N bytes, or a pattern, by `framecast serve --publish URI`. Prints frames, bytes and CRC32C
 * over all payloads.
 *
 *     publish [--bytes N] [--frames N] [--input FILE] [--copy] [--keyframe-every N] [--metadata TEXT] [--delay-us N]
 *             [--wait-subscribers N] [--wait-ms N] [--die-after N] URI
 *
 * The last frame of a file may be shorter. --die-after ends the program behind N frames without an end of the stream.
 *
 * Exit status: 0 the stream ended; 2 an error; 3 the server is gone.
 */
#include "crc32c.h"

#include <framecast.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct arguments {
    const char *uri;
    const char *input;
    const char *metadata;
    unsigned long bytes;
    unsigned long frames;
    unsigned long keyframe_every;
    unsigned long delay_us;
    unsigned long die_after;
    int subscribers;
    int wait_ms;
    bool copy;
};

struct run {
    struct arguments arguments;
    fc_publisher *publisher;
    FILE *input;
    uint8_t *copied;
    unsigned long frames;
    unsigned long long bytes;
    uint32_t crc;
    double seconds;
    fc_error error;
};

static int usage(void) {
    fputs("usage: publish [--bytes N] [--frames N] [--input FILE] [--copy] [--keyframe-every N] [--metadata TEXT]\n"
          "               [--delay-us N] [--wait-subscribers N] [--wait-ms N] [--die-after N] URI\n", stderr);
    return 2;
}

static bool parse_number(struct arguments *to, const char *name, const char *value) {
    unsigned long number = strtoul(value, NULL, 10);
    if (strcmp(name, "--bytes") == 0) {
        to->bytes = number;
    } else if (strcmp(name, "--frames") == 0) {
        to->frames = number;
    } else if (strcmp(name, "--keyframe-every") == 0) {
        to->keyframe_every = number;
    } else if (strcmp(name, "--delay-us") == 0) {
        to->delay_us = number;
    } else if (strcmp(name, "--wait-subscribers") == 0) {
        to->subscribers = (int)number;
    } else if (strcmp(name, "--wait-ms") == 0) {
        to->wait_ms = (int)number;
    } else if (strcmp(name, "--die-after") == 0) {
        to->die_after = number;
    } else {
        return false;
    }
    return true;
}

static bool parse(int count, char **words, struct arguments *to) {
    *to = (struct arguments){.bytes = 65536, .subscribers = 1, .wait_ms = 30000, .keyframe_every = 1};
    for (int i = 1; i < count; i++) {
        bool more = i + 1 < count;
        if (strcmp(words[i], "--copy") == 0) {
            to->copy = true;
        } else if (strcmp(words[i], "--input") == 0 && more) {
            to->input = words[++i];
        } else if (strcmp(words[i], "--metadata") == 0 && more) {
            to->metadata = words[++i];
        } else if (words[i][0] == '-' && more && parse_number(to, words[i], words[i + 1])) {
            i++;
        } else if (to->uri == NULL && words[i][0] != '-') {
            to->uri = words[i];
        } else {
            return false;
        }
    }
    return to->uri != NULL && to->bytes > 0 && (to->input != NULL || to->frames > 0);
}

static void fill(uint8_t *to, unsigned long bytes, unsigned long frame) {
    memset(to, (int)(frame * 31 % 256), bytes);
    memcpy(to, &frame, bytes < sizeof frame ? bytes : sizeof frame);
}

/* Bytes of the next frame; 0 at the end. */
static size_t make(struct run *run, uint8_t *to) {
    unsigned long bytes = run->arguments.bytes;
    if (run->arguments.frames != 0 && run->frames == run->arguments.frames) {
        return 0;
    }
    if (run->input != NULL) {
        return fread(to, 1, bytes, run->input);
    }
    fill(to, bytes, run->frames);
    return bytes;
}

/* One frame. FC_END_OF_STREAM: there is none. */
static fc_status publish(struct run *run) {
    fc_commit_options options = FC_COMMIT_OPTIONS_DEFAULT;
    unsigned long every = run->arguments.keyframe_every;
    options.keyframe = every != 0 && run->frames % every == 0;
    options.metadata = run->arguments.metadata;
    options.metadata_bytes = options.metadata == NULL ? 0 : (uint32_t)strlen(run->arguments.metadata);
    void *to = run->copied;
    if (!run->arguments.copy) {
        fc_status status = fc_claim(run->publisher, run->arguments.bytes, -1, &to, &run->error);
        if (status != FC_OK) {
            return status;
        }
    }
    options.bytes = make(run, to);
    if (options.bytes == 0) {
        fc_abort(run->publisher);
        return FC_END_OF_STREAM;
    }
    run->crc = crc32c(run->crc, to, options.bytes);
    run->bytes += options.bytes;
    run->frames++;
    return run->arguments.copy ? fc_send(run->publisher, to, options.bytes, &options, -1, &run->error)
                               : fc_commit(run->publisher, &options, &run->error);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static fc_status publish_all(struct run *run) {
    const struct arguments *arguments = &run->arguments;
    fc_status status = fc_wait_ready(run->publisher, arguments->subscribers, arguments->wait_ms, &run->error);
    double begin = now_s();
    while (status == FC_OK) {
        status = publish(run);
        if (status == FC_OK && run->frames == arguments->die_after) {
            _exit(0);
        }
        if (arguments->delay_us > 0) {
            usleep((useconds_t)arguments->delay_us);
        }
    }
    status = status == FC_END_OF_STREAM ? fc_publish_end(run->publisher, -1, &run->error) : status;
    run->seconds = now_s() - begin;
    return status;
}

static fc_status run_all(struct run *run) {
    fc_publish_options options = FC_PUBLISH_OPTIONS_DEFAULT;
    options.timeout_ms = run->arguments.wait_ms;
    options.frame_max = run->arguments.bytes;
    fc_status status = fc_publish_open(run->arguments.uri, &options, &run->publisher, &run->error);
    if (status != FC_OK) {
        return status;
    }
    status = publish_all(run);
    printf("frames %lu bytes %llu crc32c %08x seconds %.3f: %s\n", run->frames, run->bytes, run->crc,
           run->seconds, status == FC_OK ? "end of stream" : fc_status_text(status));
    fc_publish_close(run->publisher);
    return status;
}

int main(int count, char **words) {
    struct run run = {.error = {.status = FC_OK, .text = ""}};
    if (!parse(count, words, &run.arguments)) {
        return usage();
    }
    crc32c_make_tables();
    run.copied = malloc(run.arguments.bytes);
    run.input = run.arguments.input == NULL ? NULL : fopen(run.arguments.input, "rb");
    if (run.copied == NULL || (run.arguments.input != NULL && run.input == NULL)) {
        perror(run.arguments.input);
        return 2;
    }
    fc_status status = run_all(&run);
    if (status != FC_OK) {
        fprintf(stderr, "publish: %s\n", run.error.text);
    }
    free(run.copied);
    if (run.input != NULL) {
        fclose(run.input);
    }
    return status == FC_OK ? 0 : status > 0 ? 3 : 2;
}
