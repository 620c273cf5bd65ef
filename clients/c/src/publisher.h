#ifndef FC_PUBLISHER_H
#define FC_PUBLISHER_H

#include "meeting.h"
#include "publisher_ring.h"

struct fc_publisher {
    struct fc_publisher *sibling;
    struct fci_channel channel;
    struct fci_ring ring;
    int socket;
    int epoll;
    pid_t server;
    int64_t frame_max;
    /* Bytes that are claimed; 0: none. */
    int64_t claimed;
    /* Consumed bytes when the server was looked at last. */
    int64_t seen;
    bool hung_up;
    /* A record of kind END is committed; the server confirmed it. */
    bool ending;
    bool ended;
    bool abandoned;
    /* After fork: the child changes nothing. */
    bool forked;
    /* Why nothing can be published any more. */
    fc_error final;
};

/* publisher_open.c */
/* Connects to a server that accepts the ring: sets socket, server and the longest frame. */
fc_status fci_publisher_enter(struct fc_publisher *publisher, uint64_t frame_max, const fc_publish_options *options,
                              fc_error *error);

/* publisher_fork.c: the child of a fork closes its copy of the connection, by which the server would take its parent for
 * alive. */
void fci_publisher_register(struct fc_publisher *publisher);
void fci_publisher_unregister(struct fc_publisher *publisher);

#endif
