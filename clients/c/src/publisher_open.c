/* Looks for a server of the channel, and gives it the ring. */
#include "error.h"
#include "publisher.h"
#include "subscriber.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
#define RETRY_MS 20
/* Between questions whether the caller still waits. */
#define ASK_MS 50
/* A server that accepted the connection makes a publisher before it answers. */
#define ANSWER_LEAST_MS 5000

struct wait {
    const fc_publish_options *options;
    uint64_t frame_max;
    int64_t end_ns;
};

struct answer {
    uint32_t version;
    uint32_t code;
    int64_t frame_max;
};

static void put(uint8_t *message, int64_t at, uint64_t value, size_t bytes) {
    memcpy(message + at, &value, bytes);
}

static bool send_publish(const struct fc_publisher *publisher, int to, uint64_t frame_max) {
    uint8_t message[FC_CLIENT_MESSAGE_BYTES] = {0};
    put(message, FC_CLIENT_MESSAGE_MAGIC, FC_CLIENT_MAGIC, 8);
    put(message, FC_CLIENT_MESSAGE_VERSION, FC_CLIENT_VERSION, 4);
    put(message, FC_CLIENT_MESSAGE_TYPE, FC_CLIENT_TYPE_PUBLISH, 4);
    put(message, FC_CLIENT_MESSAGE_PROCESS, (uint64_t)getpid(), 8);
    put(message, FC_CLIENT_MESSAGE_FRAME_MAX, frame_max, 8);
    const int *descriptors = publisher->ring.descriptors;
    union {
        char bytes[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr aligned;
    } control = {{0}};
    struct iovec part = {.iov_base = message, .iov_len = sizeof message};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(4 * sizeof(int));
    memcpy(CMSG_DATA(rights), descriptors, 4 * sizeof(int));
    return sendmsg(to, &header, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

static int64_t left_ns(int64_t end_ns) {
    int64_t now_ns = fci_now_ns();
    return end_ns == INT64_MAX ? INT64_MAX : end_ns > now_ns ? end_ns - now_ns : 0;
}

static bool is_given_up(const struct wait *wait) {
    return wait->options->on_wait != NULL && wait->options->on_wait(wait->options->context) != 0;
}

/* 1: the answer is here, 0: none within the time, −1: the caller waits no more. */
static int await_answer(int from, const struct wait *wait) {
    int64_t least_ns = fci_now_ns() + ANSWER_LEAST_MS * NS_PER_MS;
    int64_t end_ns = wait->end_ns < least_ns ? least_ns : wait->end_ns;
    struct pollfd polled = {.fd = from, .events = POLLIN, .revents = 0};
    int ready = 0;
    while (ready == 0 && left_ns(end_ns) > 0) {
        ready = is_given_up(wait) ? -1 : poll(&polled, 1, ASK_MS);
    }
    return ready;
}

/* FC_EMPTY: the server is gone. */
static fc_status hear(int from, const struct wait *wait, struct answer *answer, fc_error *error) {
    int ready = await_answer(from, wait);
    if (ready < 0) {
        return fci_fail(error, FC_INTERRUPTED, "interrupted");
    }
    uint8_t message[64];
    ssize_t bytes = ready == 0 ? 0 : recv(from, message, sizeof message, MSG_DONTWAIT);
    if (bytes <= 0) {
        return FC_EMPTY;
    }
    int64_t magic = 0;
    uint32_t type = 0;
    if (bytes == FC_CLIENT_MESSAGE_BYTES) {
        memcpy(&magic, message + FC_CLIENT_MESSAGE_MAGIC, 8);
        memcpy(&type, message + FC_CLIENT_MESSAGE_TYPE, 4);
        memcpy(&answer->version, message + FC_CLIENT_MESSAGE_VERSION, 4);
        memcpy(&answer->code, message + FC_CLIENT_MESSAGE_CODE, 4);
        memcpy(&answer->frame_max, message + FC_CLIENT_MESSAGE_FRAME_MAX, 8);
    }
    bool sound = magic == FC_CLIENT_MAGIC && type == FC_CLIENT_TYPE_ANSWER;
    return sound ? FC_OK : fci_fail(error, FC_E_BROKEN, "publisher: the server's answer makes no sense; restart it");
}

static fc_status judge(struct fc_publisher *publisher, const struct answer *answer, pid_t server, fc_error *error) {
    const char *name = publisher->channel.name;
    switch (answer->code) {
    case FC_CLIENT_ACCEPTED:
        if (answer->frame_max < 1) {
            return fci_fail(error, FC_E_BROKEN, "publisher: the server (process %d) takes frames of %lld bytes; restart it",
                            (int)server, (long long)answer->frame_max);
        }
        publisher->server = server;
        publisher->frame_max = answer->frame_max;
        return FC_OK;
    case FC_CLIENT_BUSY:
        return fci_fail(error, FC_E_BUSY, "publisher: another client publishes on %s by process %d; end it, wait longer, or"
                        " use another channel", name, (int)server);
    case FC_CLIENT_OTHER_VERSION:
        return fci_fail(error, FC_E_VERSION, "publisher: the server (process %d) speaks version %u of publishing, libframecast"
                        " version %d; take both of the same release", (int)server, (unsigned)answer->version,
                        (int)FC_CLIENT_VERSION);
    default:
        return fci_fail(error, FC_E_REFUSED, "publisher: the server (process %d) cannot publish on %s; its output says why",
                        (int)server, name);
    }
}

/* One attempt. FC_EMPTY: no answer came. */
static fc_status attempt(struct fc_publisher *publisher, const char *path, const struct wait *wait, fc_error *error) {
    struct fci_connection *connection = fci_connect(path);
    if (connection == NULL) {
        return FC_EMPTY;
    }
    struct answer answer = {0};
    fc_status status = FC_EMPTY;
    if (send_publish(publisher, connection->socket, wait->frame_max)) {
        status = hear(connection->socket, wait, &answer, error);
    }
    if (status == FC_OK) {
        status = judge(publisher, &answer, connection->leader, error);
    }
    if (status == FC_OK) {
        publisher->socket = connection->socket;
        connection->socket = -1;
    }
    fci_connection_free(connection);
    return status;
}

static fc_status attempt_all(struct fc_publisher *publisher, const struct fci_servers *servers, const struct wait *wait,
                             fc_error *error) {
    fc_status status = FC_EMPTY;
    for (int i = 0; i < servers->count && status == FC_EMPTY; i++) {
        status = attempt(publisher, servers->path[i], wait, error);
    }
    return status;
}

fc_status fci_publisher_enter(struct fc_publisher *publisher, uint64_t frame_max, const fc_publish_options *options,
                              fc_error *error) {
    struct fci_servers servers;
    fc_status status = fci_find_servers(&publisher->channel, &servers, error);
    if (status != FC_OK) {
        return status;
    }
    int64_t most_ms = (INT64_MAX - fci_now_ns()) / NS_PER_MS - 1;
    int64_t timeout_ms = options->timeout_ms;
    struct wait wait = {.options = options, .frame_max = frame_max};
    wait.end_ns = timeout_ms < 0 || timeout_ms > most_ms ? INT64_MAX : fci_now_ns() + timeout_ms * NS_PER_MS;
    for (;;) {
        status = attempt_all(publisher, &servers, &wait, error);
        /* The server notices the end of a client that was killed a little later. */
        if ((status != FC_EMPTY && status != FC_E_BUSY) || left_ns(wait.end_ns) == 0) {
            break;
        }
        if (is_given_up(&wait) || poll(NULL, 0, RETRY_MS) < 0) {
            return fci_fail(error, FC_INTERRUPTED, "interrupted");
        }
    }
    if (status != FC_EMPTY) {
        return status;
    }
    char where[FCI_WHERE_BYTES];
    const struct fci_servers *looked = &servers;
    fci_tell_where(looked->path, looked->count, where, sizeof where);
    return fci_fail(error, FC_E_NO_SERVER, "publisher: no process publishes for clients of %s on this host; start `framecast"
                    " serve --publish URI` with the same transport, group= and channel=, as the same user, and network"
                    " namespace%s", publisher->channel.name, where);
}
