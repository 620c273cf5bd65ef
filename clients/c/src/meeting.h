#ifndef FC_MEETING_H
#define FC_MEETING_H

#include "uri.h"

#include <sys/types.h>

#define FCI_PATH_BYTES 108
#define FCI_TRANSPORTS 3
/* Its own transports, and `auto` as the server's URI may have it. */
#define FCI_SERVERS (FCI_TRANSPORTS + 1)

/* Where the members of a channel's group meet: sockets of the publisher and of the leader, for each transport that
 * `auto` may stand for, the preferred one in front. */
struct fci_meeting {
    int transports;
    char source[FCI_TRANSPORTS][FCI_PATH_BYTES];
    char leader[FCI_TRANSPORTS][FCI_PATH_BYTES];
};

fc_status fci_meet(const struct fci_channel *channel, struct fci_meeting *meeting, fc_error *error);

/* The name of a group, 16 hexadecimal digits, and that of a publisher. */
void fci_leader_name(const struct fci_channel *channel, const char *transport, const char *space, int node, char name[17]);
void fci_source_name(const struct fci_channel *channel, const char *transport, const char *space, char name[17]);

/* Where servers accept publishers of a channel (docs/host-segment.md, "Publishing"). */
struct fci_servers {
    int count;
    char path[FCI_SERVERS][FCI_PATH_BYTES];
};

fc_status fci_find_servers(const struct fci_channel *channel, struct fci_servers *servers, fc_error *error);
void fci_server_name(const struct fci_channel *channel, const char *transport, const char *space, char name[17]);

#define FCI_WHERE_BYTES 320
/* The end of a sentence: where sockets were looked for in vain, and where one of the same name is instead.
 * Whether there is one. */
bool fci_tell_where(const char (*paths)[FCI_PATH_BYTES], int count, char *text, size_t room);

/* A connection to a leader. It stays open as long as anything that this leader shared is used. */
struct fci_connection {
    int socket;
    int references;
    pid_t leader;
    const char *path;
    ino_t inode;
};

/* NULL where no process listens. */
struct fci_connection *fci_connect(const char *path);
/* Whether another socket is at the path now. */
bool fci_is_replaced(const struct fci_connection *connection);
/* The caller counts references, under a lock of its own. */
void fci_connection_free(struct fci_connection *connection);

/* The number is the member's own, the same to all leaders. */
bool fci_send_hello(struct fci_connection *connection, uint64_t number, uint64_t generation,
                    const struct fci_channel *channel);

enum fci_heard { FCI_NOTHING, FCI_SEGMENT, FCI_GONE, FCI_OTHER_VERSION, FCI_NO_PLACE };

struct fci_invitation {
    /* Ring, words, this member's eventfd, the leader's. −1: none came. */
    int descriptors[4];
    int member;
    /* Of another version: which. */
    uint32_t version;
};

/* The next message, without waiting. With FCI_SEGMENT the descriptors are the caller's. */
enum fci_heard fci_hear(struct fci_connection *connection, struct fci_invitation *invitation);
void fci_dismiss(struct fci_invitation *invitation);

#endif
