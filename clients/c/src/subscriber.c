#include "subscriber.h"

#include "error.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
#define EVENTS 8
#define NAP_NS 20000
#define FULL_NS 1000000
/* Copies take a part of the memory. */
#define COPIES_PART 4

int64_t fci_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void fci_count(int descriptor) {
    uint64_t one = 1;
    if (write(descriptor, &one, sizeof one) < 0) {
        /* Its counter is full: it is readable. */
        return;
    }
}

void fci_unref_connection(struct fci_connection *connection) {
    if (--connection->references == 0) {
        fci_connection_free(connection);
    }
}

void fci_unref_segment(struct fc_subscriber *subscriber, struct fci_segment *segment) {
    (void)subscriber;
    if (--segment->references == 0) {
        struct fci_connection *connection = segment->connection;
        fci_segment_free(segment);
        /* Last: then the leader may give this member's place to another. */
        fci_unref_connection(connection);
    }
}

void fci_unwatch(struct fc_subscriber *subscriber, struct fci_segment *segment) {
    /* Closing alone does not do it: the leader has the same counter open. The child of a fork shares the parent's epoll,
     * and would take the counter out of that. */
    if (!subscriber->forked) {
        epoll_ctl(subscriber->epoll, EPOLL_CTL_DEL, segment->waker, NULL);
    }
}

static void drop_segments(struct fc_subscriber *subscriber) {
    struct fci_segment *segment = subscriber->segment;
    subscriber->segment = NULL;
    if (segment != NULL) {
        segment->later = subscriber->coming;
    } else {
        segment = subscriber->coming;
    }
    subscriber->coming = NULL;
    while (segment != NULL) {
        struct fci_segment *later = segment->later;
        fci_leave(segment);
        fci_unwatch(subscriber, segment);
        fci_unref_segment(subscriber, segment);
        segment = later;
    }
}

void fci_end(struct fc_subscriber *subscriber, const fc_error *why) {
    if (subscriber->final.status == FC_OK) {
        subscriber->final = *why;
    }
    drop_segments(subscriber);
    fci_count(subscriber->news);
    fci_count(subscriber->waker);
}

static void free_subscriber(struct fc_subscriber *subscriber) {
    for (struct fci_frame *frame = subscriber->spare; frame != NULL;) {
        struct fci_frame *next = frame->next;
        fci_device_free(subscriber, frame);
        fci_frame_free_copy(subscriber, frame);
        free(frame);
        frame = next;
    }
    if (!subscriber->forked) {
        fci_device_close(subscriber->device);
    }
    fci_formats_free(&subscriber->formats);
    for (int i = 0; i < 3; i++) {
        int descriptor = i == 0 ? subscriber->epoll : i == 1 ? subscriber->news : subscriber->waker;
        if (descriptor >= 0) {
            close(descriptor);
        }
    }
    pthread_mutex_destroy(&subscriber->mutex);
    free(subscriber);
}

void fci_unlock_unref(struct fc_subscriber *subscriber) {
    bool last = --subscriber->references == 0;
    pthread_mutex_unlock(&subscriber->mutex);
    if (last) {
        fci_unregister(subscriber);
        free_subscriber(subscriber);
    }
}

static bool open_events(struct fc_subscriber *subscriber) {
    subscriber->epoll = epoll_create1(EPOLL_CLOEXEC);
    subscriber->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    subscriber->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.fd = subscriber->news}};
    return subscriber->epoll >= 0 && subscriber->news >= 0 && subscriber->waker >= 0
           && epoll_ctl(subscriber->epoll, EPOLL_CTL_ADD, subscriber->news, &event) == 0;
}

/* The thread takes no signal: handlers run on threads of the program. */
static bool start_thread(struct fc_subscriber *subscriber) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&subscriber->thread, NULL, fci_membership_run, subscriber);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

static fc_status open_subscriber(struct fc_subscriber *subscriber, const char *uri, fc_error *error) {
    fc_status status = fci_parse(uri, &subscriber->channel, error);
    if (status == FC_OK) {
        status = fci_meet(&subscriber->channel, &subscriber->meeting, error);
    }
    if (status == FC_OK && subscriber->options.cuda_device < FC_DEVICE_NONE) {
        status = fci_fail(error, FC_E_ARGUMENT, "fc_subscribe: cuda_device: expected a GPU from 0 on, FC_DEVICE_OF_URI or"
                          " FC_DEVICE_NONE, got %d", (int)subscriber->options.cuda_device);
    }
    int ordinal = subscriber->options.cuda_device == FC_DEVICE_OF_URI ? subscriber->channel.cuda_device
                                                                       : subscriber->options.cuda_device;
    if (status == FC_OK && ordinal >= 0) {
        status = fci_device_open(ordinal, &subscriber->device, error);
    }
    if (status == FC_OK && !open_events(subscriber)) {
        status = fci_fail(error, FC_E_RESOURCES, "no descriptor is left: %s; raise ulimit -n", strerror(errno));
    }
    if (status == FC_OK) {
        status = fci_enter_first(subscriber, error);
    }
    if (status == FC_OK && !start_thread(subscriber)) {
        status = fci_fail(error, FC_E_RESOURCES, "no thread is left; raise ulimit -u");
    }
    return status;
}

fc_status fc_subscribe(const char *uri, const fc_options *options, fc_subscriber **to, fc_error *error) {
    if (uri == NULL || to == NULL || (options != NULL && options->size < sizeof options->size)) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_subscribe: expected a URI, options with their size, and a place for the"
                        " subscriber");
    }
    *to = NULL;
    struct fc_subscriber *subscriber = calloc(1, sizeof *subscriber);
    if (subscriber == NULL) {
        return fci_fail(error, FC_E_RESOURCES, "no memory for a subscriber");
    }
    subscriber->references = 1;
    subscriber->epoll = subscriber->news = subscriber->waker = -1;
    subscriber->copied_max = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / COPIES_PART;
    subscriber->options = (fc_options)FC_OPTIONS_DEFAULT;
    if (options != NULL) {
        size_t known = options->size < sizeof *options ? options->size : sizeof *options;
        memcpy(&subscriber->options, options, known);
    }
    if (getrandom(&subscriber->number, sizeof subscriber->number, 0) != (ssize_t)sizeof subscriber->number) {
        /* Before Linux 3.17 and in sandboxes. */
        subscriber->number = (uint64_t)fci_now_ns() ^ (uint64_t)(uintptr_t)subscriber;
    }
    subscriber->number |= 1;
    pthread_mutex_init(&subscriber->mutex, NULL);
    fc_status status = open_subscriber(subscriber, uri, error);
    if (status != FC_OK) {
        fci_membership_end(subscriber);
        free_subscriber(subscriber);
        return status;
    }
    fci_register(subscriber);
    *to = subscriber;
    return FC_OK;
}

/* Asks the leaders to wake this process. False where there is news already. */
static bool fall_asleep(struct fc_subscriber *subscriber) {
    bool quiet = subscriber->segment == NULL || fci_sleep(subscriber->segment);
    for (struct fci_segment *made = subscriber->coming; made != NULL && quiet; made = made->later) {
        quiet = fci_sleep(made);
    }
    subscriber->asleep = true;
    return quiet;
}

/* Takes the events, at most for so long. The counters themselves are never read: leaders have them open too, and may
 * have made them block. An edge shows that one was added to. */
static int take_events(const struct fc_subscriber *subscriber, int timeout_ms) {
    struct epoll_event events[EVENTS];
    return epoll_wait(subscriber->epoll, events, EVENTS, timeout_ms);
}

static void wake_up(struct fc_subscriber *subscriber) {
    if (!subscriber->asleep) {
        return;
    }
    subscriber->asleep = false;
    if (subscriber->segment != NULL) {
        fci_wake_up(subscriber->segment);
    }
    for (struct fci_segment *made = subscriber->coming; made != NULL; made = made->later) {
        fci_wake_up(made);
    }
    if (subscriber->polled_outside) {
        take_events(subscriber, 0);
    }
}

/* Without the lock: whether to look again. */
static bool rest(struct fc_subscriber *subscriber, int64_t left_ns) {
    int64_t left_ms = left_ns < 0 ? -1 : (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    int timeout = left_ms > INT_MAX ? INT_MAX : (int)left_ms;
    return take_events(subscriber, timeout) >= 0 || errno != EINTR;
}

/* With the lock. FC_OK: look again. */
static fc_status await(struct fc_subscriber *subscriber, int64_t end_ns) {
    int64_t left_ns = end_ns == INT64_MAX ? -1 : end_ns - fci_now_ns();
    bool waits = end_ns == INT64_MAX || left_ns > 0;
    if (!waits && !subscriber->polled_outside) {
        return FC_EMPTY;
    }
    if (!fall_asleep(subscriber)) {
        wake_up(subscriber);
        return FC_OK;
    }
    if (!waits) {
        return FC_EMPTY;
    }
    pthread_mutex_unlock(&subscriber->mutex);
    bool rested = rest(subscriber, left_ns);
    pthread_mutex_lock(&subscriber->mutex);
    wake_up(subscriber);
    return rested ? FC_OK : FC_INTERRUPTED;
}

/* A little, without the lock: no event says that a frame has come to device memory. False where a signal ended it. */
static bool nap(struct fc_subscriber *subscriber, long ns) {
    struct timespec rest = {.tv_sec = 0, .tv_nsec = ns};
    pthread_mutex_unlock(&subscriber->mutex);
    bool rested = nanosleep(&rest, NULL) == 0;
    pthread_mutex_lock(&subscriber->mutex);
    return rested;
}

/* The user holds all the frames that he may have: until he releases some, or the time is over. FC_OK: look again. */
static fc_status await_release(struct fc_subscriber *subscriber, int64_t end_ns) {
    if (subscriber->woken) {
        subscriber->woken = false;
        return FC_INTERRUPTED;
    }
    if (end_ns != INT64_MAX && fci_now_ns() >= end_ns) {
        return FC_EMPTY;
    }
    return nap(subscriber, FULL_NS) ? FC_OK : FC_INTERRUPTED;
}

static fc_status next(struct fc_subscriber *subscriber, int64_t end_ns, const fc_frame **to, fc_error *error) {
    wake_up(subscriber);
    for (;;) {
        fci_device_reap(subscriber);
        fci_make_room(subscriber);
        struct fci_frame *frame = fci_poll(subscriber);
        if (frame != NULL) {
            *to = &frame->shown;
            return FC_OK;
        }
        if (subscriber->awaits_device) {
            nap(subscriber, NAP_NS);
            continue;
        }
        fc_status status = fci_standing(subscriber, error);
        if (status != FC_EMPTY) {
            return status;
        }
        if (subscriber->full) {
            status = await_release(subscriber, end_ns);
            if (status != FC_OK) {
                return fci_fail(error, status, "%s", fc_status_text(status));
            }
            continue;
        }
        if (subscriber->woken) {
            subscriber->woken = false;
            return fci_fail(error, FC_INTERRUPTED, "interrupted");
        }
        status = await(subscriber, end_ns);
        if (status != FC_OK) {
            return fci_fail(error, status, "%s", fc_status_text(status));
        }
    }
}

fc_status fc_next(fc_subscriber *subscriber, int timeout_ms, const fc_frame **frame, fc_error *error) {
    if (subscriber == NULL || frame == NULL) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_next: expected a subscriber, and a place for the frame");
    }
    *frame = NULL;
    int64_t end_ns = timeout_ms < 0 ? INT64_MAX : timeout_ms == 0 ? 0 : fci_now_ns() + timeout_ms * NS_PER_MS;
    pthread_mutex_lock(&subscriber->mutex);
    fc_status status = subscriber->forked
                           ? fci_fail(error, FC_E_ARGUMENT, "fc_next: the subscriber is of the process that forked;"
                                      " subscribe in this one")
                           : next(subscriber, end_ns, frame, error);
    pthread_mutex_unlock(&subscriber->mutex);
    return status;
}

int fc_fd(fc_subscriber *subscriber) {
    pthread_mutex_lock(&subscriber->mutex);
    subscriber->polled_outside = true;
    pthread_mutex_unlock(&subscriber->mutex);
    return subscriber->epoll;
}

void fc_wake(fc_subscriber *subscriber) {
    pthread_mutex_lock(&subscriber->mutex);
    subscriber->woken = true;
    fci_count(subscriber->news);
    pthread_mutex_unlock(&subscriber->mutex);
}

int fc_cuda_device(const fc_subscriber *subscriber) {
    return subscriber->device == NULL ? -1 : subscriber->device->ordinal;
}

void fc_stats_of(fc_subscriber *subscriber, fc_stats *stats) {
    pthread_mutex_lock(&subscriber->mutex);
    *stats = subscriber->stats;
    pthread_mutex_unlock(&subscriber->mutex);
}

void fc_close(fc_subscriber *subscriber) {
    if (subscriber == NULL) {
        return;
    }
    pthread_mutex_lock(&subscriber->mutex);
    subscriber->closed = true;
    bool forked = subscriber->forked;
    fci_count(subscriber->waker);
    pthread_mutex_unlock(&subscriber->mutex);
    if (!forked) {
        pthread_join(subscriber->thread, NULL);
    }
    pthread_mutex_lock(&subscriber->mutex);
    fci_device_drain(subscriber);
    fci_membership_end(subscriber);
    drop_segments(subscriber);
    fci_unlock_unref(subscriber);
}
