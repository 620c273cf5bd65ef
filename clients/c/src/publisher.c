/* Publishes by a server of this host: claims, commits and waits. */
#include "publisher.h"

#include "error.h"
#include "subscriber.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
#define FRAME_LIMIT (INT64_C(1) << 40)
#define RING_LEAST_BYTES (INT64_C(1) << 20)
#define RING_UNKNOWN_BYTES (INT64_C(64) << 20)
#define RING_LARGE_BYTES (INT64_C(256) << 20)
#define EVENTS 4

enum wish { ROOM, READY, END_OF_STREAM };

/* Whole pages. */
static int64_t round_up(int64_t bytes) {
    int64_t page = sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static int64_t default_ring(int64_t frame_max) {
    if (frame_max == 0) {
        return RING_UNKNOWN_BYTES;
    }
    int64_t record = fci_record_bytes(frame_max, FCI_METADATA_MAX);
    int64_t bytes = 4 * record <= RING_LARGE_BYTES ? 4 * record : 2 * record;
    return bytes < RING_LEAST_BYTES ? RING_LEAST_BYTES : bytes;
}

static fc_status choose_ring(const fc_publish_options *options, int64_t frame_max, int64_t *bytes, fc_error *error) {
    if (frame_max < 0 || frame_max > FRAME_LIMIT || options->ring_bytes > (uint64_t)FRAME_LIMIT * 4) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_publish_open: expected a frame_max of at most %lld bytes, and a ring of at"
                        " most four times as much", (long long)FRAME_LIMIT);
    }
    int64_t least = fci_record_bytes(frame_max == 0 ? 1 : frame_max, FCI_METADATA_MAX);
    int64_t wanted = (int64_t)options->ring_bytes;
    if (wanted != 0 && wanted < least) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_publish_open: a ring of %lld bytes cannot hold a frame of %lld; give"
                        " ring_bytes of %lld or more", (long long)wanted, (long long)frame_max, (long long)least);
    }
    *bytes = round_up(wanted == 0 ? default_ring(frame_max) : wanted);
    return FC_OK;
}

static bool watch(struct fc_publisher *publisher) {
    publisher->epoll = epoll_create1(EPOLL_CLOEXEC);
    int waker = publisher->ring.descriptors[FC_CLIENT_CLIENT_WAKER];
    /* The counter is never read: the server has it open too, and may have made it block. An edge shows each addition. */
    struct epoll_event woken = {.events = EPOLLIN | EPOLLET, .data = {.fd = waker}};
    struct epoll_event gone = {.events = EPOLLRDHUP, .data = {.fd = publisher->socket}};
    return publisher->epoll >= 0 && epoll_ctl(publisher->epoll, EPOLL_CTL_ADD, waker, &woken) == 0
           && epoll_ctl(publisher->epoll, EPOLL_CTL_ADD, publisher->socket, &gone) == 0;
}

/* The longest frame that the ring holds. */
static int64_t ring_frame_max(const struct fc_publisher *publisher) {
    return publisher->ring.length - FC_CLIENT_RECORD_BYTES - FCI_METADATA_MAX;
}

static fc_status open_publisher(struct fc_publisher *publisher, const char *uri, const fc_publish_options *options,
                                fc_error *error) {
    fc_status status = fci_parse_published(uri, &publisher->channel, error);
    if (status != FC_OK) {
        return status;
    }
    int64_t frame_max = options->frame_max > INT64_MAX ? -1 : (int64_t)options->frame_max;
    frame_max = frame_max == 0 ? publisher->channel.frame_max : frame_max;
    int64_t ring_bytes = 0;
    status = choose_ring(options, frame_max, &ring_bytes, error);
    if (status == FC_OK && !fci_ring_make(&publisher->ring, ring_bytes)) {
        status = fci_fail(error, FC_E_RESOURCES, "publisher: no ring of %lld bytes: %s; lower frame-max or ring_bytes",
                          (long long)ring_bytes, strerror(errno));
    }
    if (status == FC_OK) {
        status = fci_publisher_enter(publisher, (uint64_t)frame_max, options, error);
    }
    if (status == FC_OK && !watch(publisher)) {
        status = fci_fail(error, FC_E_RESOURCES, "no descriptor is left: %s; raise ulimit -n", strerror(errno));
    }
    return status;
}

static void free_publisher(struct fc_publisher *publisher) {
    if (publisher->socket >= 0) {
        close(publisher->socket);
    }
    if (publisher->epoll >= 0) {
        close(publisher->epoll);
    }
    fci_ring_free(&publisher->ring);
    free(publisher);
}

fc_status fc_publish_open(const char *uri, const fc_publish_options *given, fc_publisher **to, fc_error *error) {
    if (uri == NULL || to == NULL || (given != NULL && given->size < sizeof given->size)) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_publish_open: expected a URI, options with their size, and a place for the"
                        " publisher");
    }
    *to = NULL;
    struct fc_publisher *publisher = calloc(1, sizeof *publisher);
    if (publisher == NULL) {
        return fci_fail(error, FC_E_RESOURCES, "no memory for a publisher");
    }
    publisher->socket = publisher->epoll = -1;
    memset(publisher->ring.descriptors, -1, sizeof publisher->ring.descriptors);
    fc_publish_options options = FC_PUBLISH_OPTIONS_DEFAULT;
    if (given != NULL) {
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    }
    fci_publisher_register(publisher);
    fc_status status = open_publisher(publisher, uri, &options, error);
    if (status != FC_OK) {
        fci_publisher_unregister(publisher);
        free_publisher(publisher);
        return status;
    }
    *to = publisher;
    return FC_OK;
}

static fc_status finish(struct fc_publisher *publisher, fc_status status, const char *why, fc_error *error) {
    fci_fail(&publisher->final, status, "publisher: the server (process %d) of %s %s", (int)publisher->server,
             publisher->channel.name, why);
    return fci_fail(error, status, "%s", publisher->final.text);
}

static bool is_done(struct fc_publisher *publisher, enum wish wish, int64_t wanted) {
    switch (wish) {
    case ROOM: return fci_ring_has_room(&publisher->ring, wanted);
    case READY: return fci_ring_ready(&publisher->ring) >= wanted;
    default: return fci_ring_state(&publisher->ring) == FC_CLIENT_ENDED;
    }
}

/* FC_WOULD_BLOCK: not yet. */
static fc_status look(struct fc_publisher *publisher, enum wish wish, int64_t wanted, fc_error *error) {
    bool hung_up = publisher->hung_up;
    int state = fci_ring_state(&publisher->ring);
    if (!fci_ring_look(&publisher->ring)) {
        return finish(publisher, FC_E_BROKEN, "says that it consumed what was never committed; restart it", error);
    }
    if (state == FC_CLIENT_FAILED || (state != FC_CLIENT_OPEN && wish != END_OF_STREAM)) {
        return finish(publisher, FC_SERVER_GONE, "gave this stream up; its output says why", error);
    }
    if (wish == END_OF_STREAM && state == FC_CLIENT_ENDED) {
        return FC_OK;
    }
    if (hung_up) {
        return finish(publisher, FC_SERVER_GONE, "is gone; start `framecast serve --publish URI` again, and open a publisher",
                      error);
    }
    return is_done(publisher, wish, wanted) ? FC_OK : FC_WOULD_BLOCK;
}

/* Takes the events, waits at most for so long. False: a signal. */
static bool take_events(struct fc_publisher *publisher, int timeout_ms) {
    struct epoll_event events[EVENTS];
    int count = epoll_wait(publisher->epoll, events, EVENTS, timeout_ms);
    for (int i = 0; i < count; i++) {
        publisher->hung_up |= events[i].data.fd == publisher->socket;
    }
    return count >= 0 || errno != EINTR;
}

/* A server that consumed nothing since the last look may be gone. */
static void look_for_end(struct fc_publisher *publisher) {
    struct fci_ring *ring = &publisher->ring;
    if (fci_ring_look(ring) && ring->consumed == publisher->seen && ring->consumed != ring->committed) {
        take_events(publisher, 0);
    }
    publisher->seen = ring->consumed;
}

static int rest_ms(int64_t end_ns) {
    int64_t left_ns = end_ns == INT64_MAX ? INT64_MAX - NS_PER_MS : end_ns - fci_now_ns();
    int64_t left_ms = left_ns <= 0 ? 0 : (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    return (int)(left_ms < INT_MAX ? left_ms : INT_MAX);
}

static fc_status await(struct fc_publisher *publisher, enum wish wish, int64_t wanted, int timeout_ms, fc_error *error) {
    int64_t end_ns = timeout_ms < 0 ? INT64_MAX : timeout_ms == 0 ? 0 : fci_now_ns() + timeout_ms * NS_PER_MS;
    fc_status status = look(publisher, wish, wanted, error);
    while (status == FC_WOULD_BLOCK) {
        /* The server's next step is an event from here on. What happened before is seen now. */
        take_events(publisher, 0);
        fci_ring_sleep(&publisher->ring, true);
        status = look(publisher, wish, wanted, error);
        int rest = rest_ms(end_ns);
        if (status != FC_WOULD_BLOCK) {
            fci_ring_sleep(&publisher->ring, false);
            return status;
        }
        bool uninterrupted = rest > 0 && take_events(publisher, rest);
        if (rest == 0 || !uninterrupted) {
            /* The server looks for subscribers as long as the word says that this client waits. Who waits for room may go
             * on to wait by fc_publish_fd. */
            fci_ring_sleep(&publisher->ring, wish != READY);
            return rest == 0 ? fci_fail(error, FC_WOULD_BLOCK, "%s", fc_status_text(FC_WOULD_BLOCK))
                             : fci_fail(error, FC_INTERRUPTED, "interrupted");
        }
        status = look(publisher, wish, wanted, error);
    }
    return status;
}

/* Whether the caller may use the publisher now. */
static fc_status standing(const struct fc_publisher *publisher, const char *call, fc_error *error) {
    if (publisher == NULL) {
        return fci_fail(error, FC_E_ARGUMENT, "%s: expected a publisher, got NULL", call);
    }
    if (publisher->forked) {
        return fci_fail(error, FC_E_ARGUMENT, "%s: the publisher is of the process that forked; open one in this process",
                        call);
    }
    if (publisher->final.status != FC_OK) {
        return fci_fail(error, publisher->final.status, "%s", publisher->final.text);
    }
    if (publisher->abandoned) {
        return fci_fail(error, FC_E_ARGUMENT, "%s: the stream is abandoned; open another publisher", call);
    }
    return FC_OK;
}

/* Whether it may begin a record. */
static fc_status writable(const struct fc_publisher *publisher, const char *call, fc_error *error) {
    fc_status status = standing(publisher, call, error);
    if (status == FC_OK && publisher->ending) {
        return fci_fail(error, FC_E_ARGUMENT, "%s: the stream has ended; open another publisher", call);
    }
    if (status == FC_OK && publisher->claimed != 0) {
        return fci_fail(error, FC_E_ARGUMENT, "%s: a frame is claimed; call fc_commit or fc_abort first", call);
    }
    return status;
}

static fc_status too_long(const struct fc_publisher *publisher, uint64_t bytes, fc_error *error) {
    bool by_ring = publisher->frame_max > ring_frame_max(publisher);
    return fci_fail(error, FC_E_TOO_LONG, "publisher: a frame of %llu bytes is longer than the %llu of %s; raise %s",
                    (unsigned long long)bytes, (unsigned long long)fc_publish_frame_max(publisher),
                    by_ring ? "the publisher's ring" : publisher->channel.name,
                    by_ring ? "ring_bytes or frame_max of fc_publish_options" : "frame-max= of the URI");
}

fc_status fc_claim(fc_publisher *publisher, uint64_t bytes, int timeout_ms, void **data, fc_error *error) {
    if (data == NULL) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_claim: expected a place for the address, got NULL");
    }
    *data = NULL;
    fc_status status = writable(publisher, "fc_claim", error);
    if (status != FC_OK) {
        return status;
    }
    if (bytes == 0) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_claim: expected 1 … %llu bytes, got 0",
                        (unsigned long long)fc_publish_frame_max(publisher));
    }
    if (bytes > fc_publish_frame_max(publisher)) {
        return too_long(publisher, bytes, error);
    }
    look_for_end(publisher);
    status = await(publisher, ROOM, fci_record_bytes((int64_t)bytes, FCI_METADATA_MAX), timeout_ms, error);
    if (status == FC_OK) {
        publisher->claimed = (int64_t)bytes;
        *data = fci_ring_payload(&publisher->ring);
    }
    return status;
}

static fc_status check(const struct fc_publisher *publisher, const fc_commit_options *options, fc_error *error) {
    if (options->metadata_bytes > FCI_METADATA_MAX) {
        return fci_fail(error, FC_E_TOO_LONG, "publisher: expected at most %d bytes of metadata, got %u", FCI_METADATA_MAX,
                        (unsigned)options->metadata_bytes);
    }
    if (options->metadata_bytes > 0 && options->metadata == NULL) {
        return fci_fail(error, FC_E_ARGUMENT, "publisher: expected %u bytes of metadata, got NULL",
                        (unsigned)options->metadata_bytes);
    }
    if (options->bytes > (uint64_t)publisher->claimed) {
        return fci_fail(error, FC_E_TOO_LONG, "fc_commit: %llu bytes are more than the %lld that were claimed",
                        (unsigned long long)options->bytes, (long long)publisher->claimed);
    }
    return FC_OK;
}

fc_status fc_commit(fc_publisher *publisher, const fc_commit_options *given, fc_error *error) {
    fc_status status = standing(publisher, "fc_commit", error);
    if (status != FC_OK) {
        return status;
    }
    if (publisher->claimed == 0 || (given != NULL && given->size < sizeof given->size)) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_commit: expected %s", publisher->claimed == 0
                        ? "a frame of fc_claim, got none" : "options with their size");
    }
    fc_commit_options options = FC_COMMIT_OPTIONS_DEFAULT;
    if (given != NULL) {
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    }
    status = check(publisher, &options, error);
    if (status != FC_OK) {
        return status;
    }
    struct fci_record record = {.kind = FC_CLIENT_FRAME,
                                .flags = options.keyframe != 0 ? FC_CLIENT_KEYFRAME : 0,
                                .length = options.bytes == 0 ? publisher->claimed : (int64_t)options.bytes,
                                .timestamp_ns = options.timestamp_ns,
                                .metadata = options.metadata,
                                .metadata_bytes = options.metadata_bytes};
    publisher->claimed = 0;
    fci_ring_commit(&publisher->ring, &record);
    return FC_OK;
}

void fc_abort(fc_publisher *publisher) {
    if (publisher != NULL) {
        publisher->claimed = 0;
    }
}

fc_status fc_send(fc_publisher *publisher, const void *data, uint64_t bytes, const fc_commit_options *given, int timeout_ms,
                  fc_error *error) {
    if (data == NULL) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_send: expected %llu bytes, got NULL", (unsigned long long)bytes);
    }
    fc_commit_options options = FC_COMMIT_OPTIONS_DEFAULT;
    if (given != NULL && given->size >= sizeof given->size) {
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
        options.size = sizeof options;
        options.bytes = 0;
    }
    void *to;
    fc_status status = fc_claim(publisher, bytes, timeout_ms, &to, error);
    if (status != FC_OK) {
        return status;
    }
    memcpy(to, data, (size_t)bytes);
    status = fc_commit(publisher, &options, error);
    if (status != FC_OK) {
        fc_abort(publisher);
    }
    return status;
}

fc_status fc_publish_format(fc_publisher *publisher, const void *cbor, size_t bytes, int timeout_ms, fc_error *error) {
    fc_status status = writable(publisher, "fc_publish_format", error);
    if (status != FC_OK) {
        return status;
    }
    if (bytes < 1 || bytes > FCI_FORMAT_MAX || cbor == NULL) {
        return fci_fail(error, bytes > FCI_FORMAT_MAX ? FC_E_TOO_LONG : FC_E_ARGUMENT,
                        "fc_publish_format: expected 1 … %d bytes of CBOR, got %zu%s", FCI_FORMAT_MAX, bytes,
                        cbor == NULL ? " at NULL" : "");
    }
    status = await(publisher, ROOM, fci_record_bytes((int64_t)bytes, 0), timeout_ms, error);
    if (status == FC_OK) {
        memcpy(fci_ring_payload(&publisher->ring), cbor, bytes);
        struct fci_record record = {.kind = FC_CLIENT_FORMAT, .length = (int64_t)bytes};
        fci_ring_commit(&publisher->ring, &record);
    }
    return status;
}

int fc_ready_subscribers(const fc_publisher *publisher) {
    return publisher == NULL ? 0 : fci_ring_ready(&publisher->ring);
}

fc_status fc_wait_ready(fc_publisher *publisher, int subscribers, int timeout_ms, fc_error *error) {
    fc_status status = standing(publisher, "fc_wait_ready", error);
    if (status == FC_OK && publisher->ending) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_wait_ready: the stream has ended; open another publisher");
    }
    return status == FC_OK ? await(publisher, READY, subscribers, timeout_ms, error) : status;
}

uint64_t fc_publish_frame_max(const fc_publisher *publisher) {
    int64_t of_ring = ring_frame_max(publisher);
    return (uint64_t)(publisher->frame_max < of_ring ? publisher->frame_max : of_ring);
}

int fc_publish_fd(const fc_publisher *publisher) {
    return publisher->epoll;
}

fc_status fc_publish_end(fc_publisher *publisher, int timeout_ms, fc_error *error) {
    if (publisher != NULL && publisher->ended) {
        return FC_OK;
    }
    fc_status status = publisher != NULL && publisher->ending ? standing(publisher, "fc_publish_end", error)
                                                              : writable(publisher, "fc_publish_end", error);
    if (status == FC_OK && !publisher->ending) {
        status = await(publisher, ROOM, fci_record_bytes(0, 0), timeout_ms, error);
    }
    if (status != FC_OK) {
        return status;
    }
    if (!publisher->ending) {
        publisher->ending = true;
        struct fci_record record = {.kind = FC_CLIENT_END};
        fci_ring_commit(&publisher->ring, &record);
    }
    status = await(publisher, END_OF_STREAM, 0, timeout_ms, error);
    publisher->ended = status == FC_OK;
    return status;
}

void fc_publish_abandon(fc_publisher *publisher) {
    if (publisher != NULL && !publisher->forked && publisher->socket >= 0) {
        publisher->abandoned = true;
        epoll_ctl(publisher->epoll, EPOLL_CTL_DEL, publisher->socket, NULL);
        close(publisher->socket);
        publisher->socket = -1;
    }
}

void fc_publish_close(fc_publisher *publisher) {
    if (publisher != NULL) {
        fc_publish_abandon(publisher);
        fci_publisher_unregister(publisher);
        free_publisher(publisher);
    }
}
