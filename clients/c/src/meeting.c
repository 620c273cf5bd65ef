#include "meeting.h"

#include "error.h"
#include "segment_layout.h"
#include "sha256.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define DESCRIPTION_BYTES 640

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the host segment is little-endian");

/* What `auto` stands for, the preferred one in front (docs/channel.md). */
static const char *const AUTO[FCI_TRANSPORTS] = {"verbs", "udp", "aeron"};

static void hash(const char *described, char name[17]) {
    uint8_t digest[32];
    fci_sha256(described, strlen(described), digest);
    for (int i = 0; i < 8; i++) {
        snprintf(name + (size_t)i * 2, 3, "%02x", digest[i]);
    }
}

void fci_leader_name(const struct fci_channel *channel, const char *transport, const char *space, int node, char name[17]) {
    char described[DESCRIPTION_BYTES];
    int length = snprintf(described, sizeof described, "%s|%s|%s|%s|%s|%s|%ld|%lld|%d", channel->host_group, space,
                          transport, channel->name, channel->group, channel->interface_name, channel->frames_held,
                          (long long)channel->ring_bytes, channel->attach_after_ms);
    if (node >= 0) {
        length += snprintf(described + length, sizeof described - (size_t)length, "|node%d", node);
    }
    if (channel->key_tag[0] != 0) {
        snprintf(described + length, sizeof described - (size_t)length, "|key %s|%s", channel->key_tag, channel->cipher);
    }
    hash(described, name);
}

static void name_of(const char *role, const struct fci_channel *channel, const char *transport, const char *space,
                    char name[17]) {
    char described[DESCRIPTION_BYTES];
    snprintf(described, sizeof described, "%s|%s|%s|%s|%s%s%s", role, space, transport, channel->name, channel->group,
             channel->key_tag[0] == 0 ? "" : "|key ", channel->key_tag);
    hash(described, name);
}

void fci_source_name(const struct fci_channel *channel, const char *transport, const char *space, char name[17]) {
    name_of("source", channel, transport, space, name);
}

void fci_server_name(const struct fci_channel *channel, const char *transport, const char *space, char name[17]) {
    name_of("publish", channel, transport, space, name);
}

static void network_namespace(char *space, size_t room) {
    ssize_t length = readlink("/proc/self/ns/net", space, room - 1);
    space[length < 0 ? 0 : length] = 0;
}

/* How many of the CPUs in a list such as `0-3,8` this process may use. */
static int count_cpus(FILE *list, const cpu_set_t *allowed) {
    int count = 0;
    int first;
    while (fscanf(list, "%d", &first) == 1) {
        int last = first;
        int separator = fgetc(list);
        if (separator == '-' && fscanf(list, "%d", &last) == 1) {
            separator = fgetc(list);
        }
        for (int cpu = first; cpu >= 0 && cpu <= last && cpu < CPU_SETSIZE; cpu++) {
            count += CPU_ISSET((size_t)cpu, allowed) ? 1 : 0;
        }
        if (separator != ',') {
            break;
        }
    }
    return count;
}

/* The NUMA node with most of this process's CPUs; −1 where the system shows none. */
static int own_node(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return -1;
    }
    int best = -1;
    int most = 0;
    for (int node = 0; node < 1024; node++) {
        char path[64];
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        FILE *list = fopen(path, "re");
        if (list != NULL) {
            int count = count_cpus(list, &allowed);
            fclose(list);
            best = count > most ? node : best;
            most = count > most ? count : most;
        }
    }
    return best;
}

/* Known to processes with another XDG_RUNTIME_DIR, too. */
static int common_directory(char *directory, size_t room) {
    return snprintf(directory, room, "/tmp/framecast-%u", (unsigned)getuid());
}

/* The user's runtime directory, else one in /tmp that no other user can have made. */
static fc_status find_directory(char *directory, size_t room, fc_error *error) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int length = runtime == NULL || *runtime == 0
                     ? common_directory(directory, room)
                     : snprintf(directory, room, "%s/framecast", runtime);
    if (length < 0 || (size_t)length >= room) {
        return fci_fail(error, FC_E_DIRECTORY, "host group: the path of XDG_RUNTIME_DIR is longer than %zu bytes;"
                        " set it to a shorter one", room);
    }
    struct stat found;
    if ((mkdir(directory, 0700) != 0 && errno != EEXIST) || lstat(directory, &found) != 0) {
        return fci_fail(error, FC_E_DIRECTORY, "host group: cannot use %s: %s; set XDG_RUNTIME_DIR to a directory of"
                        " yours", directory, strerror(errno));
    }
    if (!S_ISDIR(found.st_mode) || found.st_uid != getuid() || (found.st_mode & 0777) != 0700) {
        return fci_fail(error, FC_E_DIRECTORY, "host group: %s is not a directory of this user with mode 0700; remove"
                        " it, or set XDG_RUNTIME_DIR", directory);
    }
    return FC_OK;
}

/* Where sockets are, and what their names are of. */
struct place {
    /* Behind it come `/`, 16 digits and `.sock`. */
    char directory[FCI_PATH_BYTES - 22];
    char space[64];
};

static fc_status find_place(struct place *here, fc_error *error) {
    network_namespace(here->space, sizeof here->space);
    return find_directory(here->directory, sizeof here->directory, error);
}

fc_status fci_meet(const struct fci_channel *channel, struct fci_meeting *meeting, fc_error *error) {
    struct place here;
    fc_status status = find_place(&here, error);
    if (status != FC_OK) {
        return status;
    }
    int node = channel->by_socket ? own_node() : -1;
    bool any = strcmp(channel->transport, "auto") == 0;
    meeting->transports = any ? FCI_TRANSPORTS : 1;
    for (int i = 0; i < meeting->transports; i++) {
        const char *transport = any ? AUTO[i] : channel->transport;
        char name[17];
        fci_source_name(channel, transport, here.space, name);
        snprintf(meeting->source[i], FCI_PATH_BYTES, "%s/%s.sock", here.directory, name);
        fci_leader_name(channel, transport, here.space, node, name);
        snprintf(meeting->leader[i], FCI_PATH_BYTES, "%s/%s.sock", here.directory, name);
    }
    return FC_OK;
}

fc_status fci_find_servers(const struct fci_channel *channel, struct fci_servers *servers, fc_error *error) {
    struct place here;
    fc_status status = find_place(&here, error);
    if (status != FC_OK) {
        return status;
    }
    bool any = strcmp(channel->transport, "auto") == 0;
    const char *transports[FCI_SERVERS] = {channel->transport, any ? AUTO[0] : "auto", AUTO[1], AUTO[2]};
    servers->count = any ? FCI_SERVERS : 2;
    for (int i = 0; i < servers->count; i++) {
        char name[17];
        fci_server_name(channel, transports[i], here.space, name);
        snprintf(servers->path[i], FCI_PATH_BYTES, "%s/%s.sock", here.directory, name);
    }
    return FC_OK;
}

static ino_t inode(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 ? found.st_ino : 0;
}

static struct fci_connection *connected(int made, const char *path) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    struct fci_connection *connection = NULL;
    /* The directory is this user's own: another user at the other end had no business there. */
    if (getsockopt(made, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == getuid()) {
        connection = malloc(sizeof *connection);
    }
    if (connection == NULL) {
        close(made);
        return NULL;
    }
    *connection = (struct fci_connection){
        .socket = made, .references = 1, .leader = peer.pid, .path = path, .inode = inode(path)};
    return connection;
}

struct fci_connection *fci_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    /* Does not block: a leader that stands still may have a full backlog. */
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) {
        return NULL;
    }
    if (connect(made, (struct sockaddr *)&address, sizeof address) != 0) {
        close(made);
        return NULL;
    }
    return connected(made, path);
}

static bool is_listening(const char *path) {
    struct fci_connection *connection = fci_connect(path);
    if (connection != NULL) {
        fci_connection_free(connection);
    }
    return connection != NULL;
}

/* Another socket of the same name, in the directory that all processes of the user know or where a link in it points to.
 * False for none. */
static bool find_elsewhere(const char *path, char *other, size_t room) {
    char common[FCI_PATH_BYTES];
    common_directory(common, sizeof common);
    const char *name = strrchr(path, '/') + 1;
    int length = snprintf(other, room, "%s/%s", common, name);
    if (length > 0 && (size_t)length < room && strcmp(other, path) != 0 && is_listening(other)) {
        return true;
    }
    char link_path[2 * FCI_PATH_BYTES];
    snprintf(link_path, sizeof link_path, "%s/%.*s.elsewhere", common, (int)strcspn(name, "."), name);
    ssize_t bytes = readlink(link_path, other, room - 1);
    if (bytes <= 0) {
        return false;
    }
    other[bytes] = 0;
    return strcmp(other, path) != 0 && is_listening(other);
}

bool fci_tell_where(const char (*paths)[FCI_PATH_BYTES], int count, char *text, size_t room) {
    int length = snprintf(text, room, "; it looked in %.*s", (int)(strrchr(paths[0], '/') - paths[0]), paths[0]);
    char other[FCI_PATH_BYTES];
    for (int i = 0; i < count && length > 0 && (size_t)length < room; i++) {
        if (find_elsewhere(paths[i], other, sizeof other)) {
            snprintf(text + length, room - (size_t)length, ", and a process listens at %s: give both the same"
                     " XDG_RUNTIME_DIR, or none", other);
            return true;
        }
    }
    return false;
}

bool fci_is_replaced(const struct fci_connection *connection) {
    ino_t present = inode(connection->path);
    return present != 0 && present != connection->inode;
}

void fci_connection_free(struct fci_connection *connection) {
    if (connection->socket >= 0) {
        close(connection->socket);
    }
    free(connection);
}

static void put(uint8_t *message, int64_t at, uint64_t value, size_t bytes) {
    memcpy(message + at, &value, bytes);
}

static uint64_t get(const uint8_t *message, int64_t at, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, message + at, bytes);
    return value;
}

bool fci_send_hello(struct fci_connection *connection, uint64_t number, uint64_t generation,
                    const struct fci_channel *channel) {
    uint8_t message[FC_LAYOUT_MESSAGE_BYTES] = {0};
    uint64_t delivery = (uint64_t)channel->delivery | (uint64_t)channel->patience_ms << 16;
    put(message, 0, FC_LAYOUT_MAGIC, 8);
    put(message, FC_LAYOUT_MESSAGE_VERSION_AT, FC_LAYOUT_VERSION, 4);
    put(message, FC_LAYOUT_MESSAGE_TYPE_AT, FC_LAYOUT_MESSAGE_HELLO, 4);
    put(message, FC_LAYOUT_MESSAGE_NUMBER_AT, number, 8);
    put(message, FC_LAYOUT_MESSAGE_GENERATION_AT, generation, 8);
    put(message, FC_LAYOUT_MESSAGE_DELIVERY_AT, delivery, 4);
    return send(connection->socket, message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

void fci_dismiss(struct fci_invitation *invitation) {
    for (int i = 0; i < 4; i++) {
        if (invitation->descriptors[i] >= 0) {
            close(invitation->descriptors[i]);
            invitation->descriptors[i] = -1;
        }
    }
}

static void take_descriptors(struct msghdr *header, struct fci_invitation *invitation) {
    for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control != NULL; control = CMSG_NXTHDR(header, control)) {
        if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS) {
            size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(invitation->descriptors, CMSG_DATA(control), (count < 4 ? count : 4) * sizeof(int));
        }
    }
}

static enum fci_heard read_message(const uint8_t *message, size_t bytes, struct fci_invitation *invitation) {
    bool magic = bytes >= (size_t)FC_LAYOUT_MESSAGE_TYPE_AT && get(message, 0, 8) == (uint64_t)FC_LAYOUT_MAGIC;
    invitation->version = magic ? (uint32_t)get(message, FC_LAYOUT_MESSAGE_VERSION_AT, 4) : 0;
    if (magic && invitation->version != FC_LAYOUT_VERSION) {
        return FCI_OTHER_VERSION;
    }
    if (!magic || bytes != (size_t)FC_LAYOUT_MESSAGE_BYTES) {
        return FCI_GONE;
    }
    uint64_t type = get(message, FC_LAYOUT_MESSAGE_TYPE_AT, 4);
    if (type != (uint64_t)FC_LAYOUT_MESSAGE_SEGMENT) {
        bool full = type == (uint64_t)FC_LAYOUT_MESSAGE_REFUSED
                    && get(message, FC_LAYOUT_MESSAGE_NUMBER_AT, 8) == (uint64_t)FC_LAYOUT_MESSAGE_NO_PLACE;
        return full ? FCI_NO_PLACE : FCI_GONE;
    }
    uint32_t member = (uint32_t)get(message, FC_LAYOUT_MESSAGE_MEMBER_AT, 4);
    invitation->member = member < FC_LAYOUT_MEMBERS ? (int)member : -1;
    return FCI_SEGMENT;
}

enum fci_heard fci_hear(struct fci_connection *connection, struct fci_invitation *invitation) {
    uint8_t message[64];
    union {
        char bytes[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = message, .iov_len = sizeof message};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *invitation = (struct fci_invitation){.descriptors = {-1, -1, -1, -1}, .member = -1};
    ssize_t bytes = recvmsg(connection->socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes < 0 && errno == ECONNRESET) {
        /* The leader left before it read the HELLO. What it sent first lies behind that error, which comes once. */
        bytes = recvmsg(connection->socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    }
    if (bytes < 0) {
        return errno == EAGAIN || errno == EINTR ? FCI_NOTHING : FCI_GONE;
    }
    take_descriptors(&header, invitation);
    enum fci_heard heard = bytes == 0 ? FCI_GONE : read_message(message, (size_t)bytes, invitation);
    if (heard != FCI_SEGMENT) {
        fci_dismiss(invitation);
    }
    return heard;
}
