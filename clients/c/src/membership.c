/* A subscriber's place in its host group, on a thread of its own: it brings what leaders share, and finds the next
 * leader when one is gone or stands still. It never leads. */
#include "error.h"
#include "subscriber.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
/* Between two tries to find a leader. */
#define LOOK_MS 20
/* Between two looks at what CUDA reads. */
#define READS_MS 1
/* A leader whose heartbeat did not change for so many looks stands still. Looks are counted and no time is measured:
 * this process may have stood still itself. */
#define STILL_LOOKS 4
/* Connections in a row that ended before a session came; of a leader that dies, one or two. */
#define REFUSALS_MAX 5
#define REFUSALS_AT_ONCE 2
#define REFUSAL_PAUSE_MS 100
/* Segments that wait to be read. A leader that shares more of them has lost its mind. */
#define COMING_MAX 64

typedef struct fci_membership membership;

static void ref_segment(struct fc_subscriber *subscriber, struct fci_segment **to, struct fci_segment *segment) {
    if (segment != NULL) {
        segment->references++;
    }
    if (*to != NULL) {
        fci_unref_segment(subscriber, *to);
    }
    *to = segment;
}

/* From which a successor would go on; NULL for a newcomer. */
static struct fci_segment *last_segment(const membership *group) {
    return group->newest == NULL || fci_is_open(group->newest) ? group->newest : group->past;
}

/* By its socket: processes of other containers have no number here. */
static bool is_of(const struct fci_connection *connection, const struct fci_connection *leader) {
    return leader != NULL && connection->inode == leader->inode && strcmp(connection->path, leader->path) == 0;
}

static struct fci_connection *find_leader(const struct fci_meeting *meeting, const struct fci_connection *fenced) {
    for (int i = 0; i < meeting->transports; i++) {
        struct fci_connection *publisher = fci_connect(meeting->source[i]);
        if (publisher != NULL) {
            return publisher;
        }
    }
    for (int i = 0; i < meeting->transports; i++) {
        struct fci_connection *leader = fci_connect(meeting->leader[i]);
        if (leader != NULL && !is_of(leader, fenced)) {
            return leader;
        }
        if (leader != NULL) {
            fci_connection_free(leader);
        }
    }
    return NULL;
}

/* Whether a leader was found that is not the fenced one. */
static bool enter(struct fc_subscriber *subscriber, const struct fci_connection *fenced) {
    membership *group = &subscriber->membership;
    struct fci_connection *found = find_leader(&subscriber->meeting, fenced);
    if (found == NULL) {
        return false;
    }
    struct fci_segment *last = last_segment(group);
    /* A leader that hung up by now may have said why: that is heard next. */
    fci_send_hello(found, subscriber->number, last == NULL ? 0 : last->generation, &subscriber->channel);
    pthread_mutex_lock(&subscriber->mutex);
    if (group->connection != NULL) {
        fci_unref_connection(group->connection);
    }
    group->connection = found;
    subscriber->stats.leader_process = (int32_t)found->leader;
    pthread_mutex_unlock(&subscriber->mutex);
    group->present = false;
    group->full = false;
    group->still_looks = 0;
    return true;
}

static fc_status fail_without_leader(const struct fc_subscriber *subscriber, fc_error *error) {
    const struct fci_meeting *meeting = &subscriber->meeting;
    char where[FCI_WHERE_BYTES];
    if (!fci_tell_where(meeting->leader, meeting->transports, where, sizeof where)) {
        fci_tell_where(meeting->source, meeting->transports, where, sizeof where);
    }
    return fci_fail(error, FC_E_NO_LEADER,
                    "host group: no process receives or publishes %s on this host; start `framecast serve URI`, or a"
                    " subscriber or publisher with |host-group=%s here, and look that interface=, frames-held=, ring=,"
                    " attach-after=, auth=, cipher= and payloads= are the same%s",
                    subscriber->channel.name, subscriber->channel.host_group, where);
}

fc_status fci_enter_first(struct fc_subscriber *subscriber, fc_error *error) {
    int64_t wait_ms = subscriber->options.leader_wait_ms;
    int64_t end_ns = fci_now_ns() + (wait_ms < INT64_MAX / NS_PER_MS / 2 ? wait_ms : INT64_MAX / NS_PER_MS / 2) * NS_PER_MS;
    while (!enter(subscriber, NULL)) {
        if (wait_ms >= 0 && fci_now_ns() >= end_ns) {
            return fail_without_leader(subscriber, error);
        }
        const fc_options *options = &subscriber->options;
        bool stops = options->on_wait != NULL && options->on_wait(options->context) != 0;
        if (stops || (poll(NULL, 0, LOOK_MS) < 0 && errno == EINTR)) {
            return fci_fail(error, FC_INTERRUPTED, "interrupted");
        }
    }
    return FC_OK;
}

/* With the lock. */
static void add_segment(struct fc_subscriber *subscriber, struct fci_segment *made) {
    membership *group = &subscriber->membership;
    struct fci_segment **end = &subscriber->coming;
    int count = 0;
    for (; *end != NULL; end = &(*end)->later) {
        count++;
    }
    *end = made;
    made->connection->references++;
    ref_segment(subscriber, &group->past, last_segment(group));
    ref_segment(subscriber, &group->newest, made);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.fd = made->waker}};
    if (count >= COMING_MAX || epoll_ctl(subscriber->epoll, EPOLL_CTL_ADD, made->waker, &event) != 0) {
        fc_error why;
        fci_fail(&why, FC_E_RESOURCES, "host group: no room for one more segment of the leader (process %d); raise"
                 " ulimit -n", (int)made->connection->leader);
        fci_end(subscriber, &why);
    }
    subscriber->stats.leaders += group->present ? 0 : 1;
    subscriber->stats.leader_is_publisher = made->of_source;
    fci_count(subscriber->news);
}

static void on_invitation(struct fc_subscriber *subscriber, struct fci_invitation *invitation) {
    membership *group = &subscriber->membership;
    fc_error why = {.status = FC_OK, .text = ""};
    struct fci_reading reading = {
        .drops = subscriber->channel.delivery != FCI_RELIABLE,
        .gpu = subscriber->device,
        .in_place = subscriber->channel.reads_in_place};
    struct fci_segment *made = fci_segment_map(invitation, group->connection, &reading, &why);
    pthread_mutex_lock(&subscriber->mutex);
    if (made == NULL) {
        fci_end(subscriber, &why);
    } else if (subscriber->closed || subscriber->over) {
        /* Its user knows that nothing more comes. It is a member all the same, and holds no one up. */
        fci_let_go(made);
        fci_segment_free(made);
    } else {
        add_segment(subscriber, made);
        group->heartbeat = fci_heartbeat(made);
        group->present = true;
        group->still_looks = 0;
        group->refusals = 0;
        group->looking_ns = 0;
    }
    pthread_mutex_unlock(&subscriber->mutex);
}

static void refuse(struct fc_subscriber *subscriber, fc_status status, const char *text) {
    fc_error why;
    fci_fail(&why, status, "%s", text);
    pthread_mutex_lock(&subscriber->mutex);
    fci_end(subscriber, &why);
    pthread_mutex_unlock(&subscriber->mutex);
}

/* Takes the leader's messages; whether the leader is gone. */
static bool hear(struct fc_subscriber *subscriber) {
    membership *group = &subscriber->membership;
    for (;;) {
        struct fci_invitation invitation;
        enum fci_heard heard = fci_hear(group->connection, &invitation);
        if (heard == FCI_SEGMENT) {
            on_invitation(subscriber, &invitation);
        } else if (heard == FCI_OTHER_VERSION) {
            char text[256];
            snprintf(text, sizeof text, "host group: this program speaks layout %d of the host segment, the leader (process"
                     " %d) layout %u; run both from the same release", (int)FC_LAYOUT_VERSION,
                     (int)group->connection->leader, invitation.version);
            refuse(subscriber, FC_E_VERSION, text);
            return false;
        } else {
            group->full = heard == FCI_NO_PLACE;
            return heard != FCI_NOTHING;
        }
    }
}

/* No successor is needed behind the end of a stream. */
static bool is_final(const struct fc_subscriber *subscriber, const struct fci_segment *last) {
    int state = fci_state(last);
    return state == FC_LAYOUT_END_OF_STREAM || (state == FC_LAYOUT_SOURCE_LOST && subscriber->channel.rejoin_ms == 0);
}

static void on_gone(struct fc_subscriber *subscriber) {
    membership *group = &subscriber->membership;
    int process = (int)group->connection->leader;
    pthread_mutex_lock(&subscriber->mutex);
    if (group->present) {
        group->newest->leader_lost = true;
    } else {
        group->refusals++;
    }
    struct fci_segment *last = last_segment(group);
    if (last != NULL) {
        fci_look_for_end(last);
        subscriber->over |= is_final(subscriber, last);
    }
    fci_unref_connection(group->connection);
    group->connection = NULL;
    group->present = false;
    subscriber->stats.leader_process = 0;
    fci_count(subscriber->news);
    pthread_mutex_unlock(&subscriber->mutex);
    group->looking_ns = group->looking_ns == 0 ? fci_now_ns() : group->looking_ns;
    if (group->refusals > REFUSALS_AT_ONCE) {
        poll(NULL, 0, REFUSAL_PAUSE_MS);
    }
    if (group->refusals >= REFUSALS_MAX) {
        char text[256];
        if (group->full) {
            snprintf(text, sizeof text, "host group: the leader (process %d) has no place left: it has %d members; end one of"
                     " them", process, (int)FC_LAYOUT_MEMBERS);
        } else {
            snprintf(text, sizeof text, "host group: the leader (process %d) ended %d connections before it shared a session;"
                     " its output may say why", process, group->refusals);
        }
        refuse(subscriber, FC_E_REFUSED, text);
    }
}

static void give_up(struct fc_subscriber *subscriber, const char *reason) {
    pthread_mutex_lock(&subscriber->mutex);
    fci_fail(&subscriber->gone, FC_LEADER_GONE, "host group: %s, and no other one came within %lld ms; start `framecast"
             " serve URI`, or a subscriber with |host-group=%s, on this host: it leads from then on", reason,
             (long long)subscriber->options.leader_wait_ms, subscriber->channel.host_group);
    subscriber->over = true;
    fci_count(subscriber->news);
    pthread_mutex_unlock(&subscriber->mutex);
}

static bool has_waited(const struct fc_subscriber *subscriber) {
    const membership *group = &subscriber->membership;
    int64_t wait_ms = subscriber->options.leader_wait_ms;
    /* For a source that was lost rejoin= counts. */
    return wait_ms >= 0 && group->lost_ns == 0 && group->looking_ns != 0
           && (fci_now_ns() - group->looking_ns) / NS_PER_MS >= wait_ms;
}

static bool stands_still(struct fc_subscriber *subscriber) {
    membership *group = &subscriber->membership;
    if (!group->present) {
        /* It shared nothing yet. */
        return fci_is_replaced(group->connection);
    }
    int64_t now_ns = fci_now_ns();
    int64_t beat_ns = subscriber->channel.attach_after_ms * NS_PER_MS / STILL_LOOKS;
    if (now_ns - group->looked_ns >= beat_ns) {
        int64_t beat = fci_heartbeat(group->newest);
        group->still_looks = beat == group->heartbeat ? group->still_looks + 1 : 0;
        group->heartbeat = beat;
        group->looked_ns = now_ns;
    }
    return group->still_looks >= STILL_LOOKS && !group->newest->of_source;
}

/* While the present leader stands still its memory is read on: it may wake up, where no process takes over. */
static void find_successor(struct fc_subscriber *subscriber) {
    membership *group = &subscriber->membership;
    group->looking_ns = group->looking_ns == 0 ? fci_now_ns() : group->looking_ns;
    if (!enter(subscriber, group->connection) && has_waited(subscriber)) {
        give_up(subscriber, "the leader stands still");
    }
}

/* What is not for the user is released, though he does not poll; and a source that was lost is waited for. */
static bool is_over(struct fc_subscriber *subscriber) {
    membership *group = &subscriber->membership;
    pthread_mutex_lock(&subscriber->mutex);
    bool lost = fci_look(subscriber) == FCI_LOST;
    group->lost_ns = !lost ? 0 : group->lost_ns == 0 ? fci_now_ns() : group->lost_ns;
    if (lost && !subscriber->over && (fci_now_ns() - group->lost_ns) / NS_PER_MS >= subscriber->channel.rejoin_ms) {
        subscriber->lost_for_good = true;
        subscriber->over = true;
        fci_count(subscriber->news);
    }
    bool over = subscriber->over || subscriber->final.status != FC_OK;
    pthread_mutex_unlock(&subscriber->mutex);
    return over;
}

static void step(struct fc_subscriber *subscriber) {
    membership *group = &subscriber->membership;
    if (group->connection != NULL && hear(subscriber)) {
        on_gone(subscriber);
    }
    if (is_over(subscriber)) {
        return;
    }
    if (group->connection != NULL) {
        if (stands_still(subscriber)) {
            find_successor(subscriber);
        } else {
            group->looking_ns = 0;
        }
    } else if (!enter(subscriber, NULL) && has_waited(subscriber)) {
        give_up(subscriber, "the leader is gone");
    }
}

/* Whether to go on. A subscriber that failed is no member any more. */
static bool is_running(struct fc_subscriber *subscriber) {
    pthread_mutex_lock(&subscriber->mutex);
    if (subscriber->final.status != FC_OK) {
        fci_membership_end(subscriber);
    }
    bool running = !subscriber->closed;
    pthread_mutex_unlock(&subscriber->mutex);
    return running;
}

/* Gives back what CUDA has read, and looks after memory that other processes offer. When to look again, ms; −1: there is no
 * need. */
static int look_after_device(struct fc_subscriber *subscriber) {
    if (subscriber->device == NULL) {
        return -1;
    }
    pthread_mutex_lock(&subscriber->mutex);
    fci_device_reap(subscriber);
    bool shares = false;
    if (subscriber->segment != NULL) {
        fci_share_look(subscriber->device, subscriber->segment);
        /* Its process keeps the memory until it is closed here. */
        shares = subscriber->segment->share.offer != 0;
    }
    int rest_ms = subscriber->device->pending != NULL ? READS_MS : shares ? LOOK_MS : -1;
    pthread_mutex_unlock(&subscriber->mutex);
    return rest_ms;
}

void *fci_membership_run(void *argument) {
    struct fc_subscriber *subscriber = argument;
    membership *group = &subscriber->membership;
    int beat_ms = subscriber->channel.attach_after_ms / STILL_LOOKS;
    int64_t stepped_ns = 0;
    while (is_running(subscriber)) {
        bool over = is_over(subscriber);
        bool looks = group->connection == NULL || group->looking_ns != 0;
        int device_ms = look_after_device(subscriber);
        struct pollfd polled[2] = {
            {.fd = subscriber->waker, .events = POLLIN, .revents = 0},
            {.fd = group->connection == NULL ? -1 : group->connection->socket, .events = POLLIN, .revents = 0}};
        int rest_ms = over ? -1 : looks ? LOOK_MS : beat_ms;
        poll(polled, 2, device_ms >= 0 && (over || device_ms < rest_ms) ? device_ms : rest_ms);
        uint64_t count;
        if (polled[0].revents != 0 && read(subscriber->waker, &count, sizeof count) > 0) {
            continue;
        }
        int64_t now_ns = fci_now_ns();
        if (device_ms != READS_MS || polled[1].revents != 0 || now_ns - stepped_ns >= LOOK_MS * NS_PER_MS) {
            stepped_ns = now_ns;
            step(subscriber);
        }
    }
    return NULL;
}

/* With the lock. */
void fci_membership_end(struct fc_subscriber *subscriber) {
    membership *group = &subscriber->membership;
    ref_segment(subscriber, &group->newest, NULL);
    ref_segment(subscriber, &group->past, NULL);
    if (group->connection != NULL) {
        fci_unref_connection(group->connection);
        group->connection = NULL;
    }
}
