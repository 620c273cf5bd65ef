#include "fake_leader.h"

#include "check.h"
#include "meeting.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void fake_directory(void) {
    static char directory[] = "/tmp/fake-leader-XXXXXX";
    CHECK(mkdtemp(directory) != NULL);
    CHECK(setenv("XDG_RUNTIME_DIR", directory, 1) == 0);
}

void fake_listen(struct fake_leader *leader, const char *uri, bool as_publisher) {
    struct fci_channel channel;
    struct fci_meeting meeting;
    CHECK(fci_parse(uri, &channel, NULL) == FC_OK && fci_meet(&channel, &meeting, NULL) == FC_OK);
    const char *path = as_publisher ? meeting.source[0] : meeting.leader[0];
    snprintf(leader->path, sizeof leader->path, "%s", path);
    unlink(path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    leader->connection = -1;
    leader->waker = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    leader->counter = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    leader->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(bind(leader->listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(leader->listener, 64) == 0);
}

uint64_t fake_accept(struct fake_leader *leader) {
    leader->connection = accept4(leader->listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(leader->connection >= 0);
    uint8_t hello[64];
    CHECK_NUMBER(FC_LAYOUT_MESSAGE_BYTES, recv(leader->connection, hello, sizeof hello, 0));
    uint64_t magic;
    uint64_t generation;
    memcpy(&magic, hello, 8);
    memcpy(&generation, hello + FC_LAYOUT_MESSAGE_GENERATION_AT, 8);
    CHECK_NUMBER(FC_LAYOUT_MAGIC, magic);
    return generation;
}

void fake_accept_unheard(struct fake_leader *leader) {
    leader->connection = accept4(leader->listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(leader->connection >= 0);
}

bool fake_refuse(struct fake_leader *leader, uint32_t version, uint64_t reason) {
    uint8_t message[FC_LAYOUT_MESSAGE_BYTES] = {0};
    uint64_t magic = FC_LAYOUT_MAGIC;
    uint32_t type = FC_LAYOUT_MESSAGE_REFUSED;
    memcpy(message, &magic, 8);
    memcpy(message + FC_LAYOUT_MESSAGE_VERSION_AT, &version, 4);
    memcpy(message + FC_LAYOUT_MESSAGE_TYPE_AT, &type, 4);
    memcpy(message + FC_LAYOUT_MESSAGE_NUMBER_AT, &reason, 8);
    return send(leader->connection, message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

void fake_stop(struct fake_leader *leader) {
    unlink(leader->path);
    close(leader->listener);
    if (leader->connection >= 0) {
        close(leader->connection);
    }
    close(leader->waker);
    close(leader->counter);
}

int64_t fake_get64(const struct fake_segment *segment, int64_t at) {
    return __atomic_load_n((int64_t *)(void *)(segment->words + at), __ATOMIC_SEQ_CST);
}

void fake_set64(struct fake_segment *segment, int64_t at, int64_t value) {
    __atomic_store_n((int64_t *)(void *)(segment->words + at), value, __ATOMIC_SEQ_CST);
}

void fake_set32(struct fake_segment *segment, int64_t at, int32_t value) {
    __atomic_store_n((int32_t *)(void *)(segment->words + at), value, __ATOMIC_SEQ_CST);
}

int64_t fake_member(int member, int64_t field) {
    return FC_LAYOUT_MEMBERS_PLACE + member * FC_LAYOUT_MEMBER_BYTES + field;
}

int64_t fake_entry(int64_t number, int64_t field) {
    return FC_LAYOUT_TABLE_PLACE + (number & (FC_LAYOUT_ENTRIES - 1)) * FC_LAYOUT_ENTRY_BYTES + field;
}

static int memory_file(int64_t bytes, bool sealed) {
    int made = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(made >= 0 && ftruncate(made, bytes) == 0);
    if (sealed) {
        CHECK(fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    }
    return made;
}

void fake_segment_make(struct fake_segment *segment, int64_t ring_bytes, int flags) {
    bool sealed = (flags & FAKE_UNSEALED) == 0;
    *segment = (struct fake_segment){.ring_bytes = ring_bytes};
    segment->ring = memory_file(ring_bytes, sealed);
    segment->words_file = memory_file(FC_LAYOUT_WORDS_BYTES, true);
    segment->bytes = mmap(NULL, (size_t)ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->ring, 0);
    segment->words = mmap(NULL, FC_LAYOUT_WORDS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, segment->words_file, 0);
    CHECK(segment->bytes != MAP_FAILED && segment->words != MAP_FAILED);
    fake_set32(segment, FC_LAYOUT_VERSION_AT, FC_LAYOUT_VERSION);
    fake_set64(segment, FC_LAYOUT_WORDS_BYTES_AT, FC_LAYOUT_WORDS_BYTES);
    fake_set64(segment, FC_LAYOUT_RING_BYTES_AT, ring_bytes);
    fake_set64(segment, FC_LAYOUT_SESSION_AT, 4711);
    fake_set64(segment, FC_LAYOUT_GENERATION_AT, 1);
    fake_set32(segment, FC_LAYOUT_ENTRIES_AT, FC_LAYOUT_ENTRIES);
    fake_set32(segment, FC_LAYOUT_MEMBERS_AT, FC_LAYOUT_MEMBERS);
    fake_set64(segment, FC_LAYOUT_FRAME_MAX_AT, ring_bytes / 2);
    fake_set32(segment, FC_LAYOUT_ORIGIN_AT, flags & FAKE_SOURCE ? 1 : 0);
    fake_set32(segment, FC_LAYOUT_RETAINS_AT, flags & FAKE_DOES_NOT_RETAIN ? 0 : 1);
    fake_set32(segment, FC_LAYOUT_WAITS_AT, 1);
    fake_set32(segment, FC_LAYOUT_OPEN_AT, 1);
    fake_set64(segment, FC_LAYOUT_CLOCK_ERROR_AT, 0);
    fake_set32(segment, FC_LAYOUT_STATE_AT, FC_LAYOUT_RUNNING);
    fake_set64(segment, FC_LAYOUT_MAGIC_AT, FC_LAYOUT_MAGIC);
}

void fake_segment_free(struct fake_segment *segment) {
    munmap(segment->bytes, (size_t)segment->ring_bytes);
    munmap(segment->words, FC_LAYOUT_WORDS_BYTES);
    close(segment->ring);
    close(segment->words_file);
}

static int read_only(int descriptor) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(opened >= 0);
    return opened;
}

static int fake_lock(int words, int command, int member) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = member, .l_len = 1};
    CHECK(fcntl(words, command, &lock) == 0);
    return lock.l_type;
}

/* In an open file of its own, with the lock on the byte of its place. */
static int words_of(const struct fake_segment *segment, int member) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", segment->words_file);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    CHECK(opened >= 0);
    fake_lock(opened, F_OFD_SETLK, member);
    return opened;
}

bool fake_lives(const struct fake_segment *segment, int member) {
    return fake_lock(segment->words_file, F_OFD_GETLK, member) != F_UNLCK;
}

bool fake_share(struct fake_leader *leader, struct fake_segment *segment, int member, uint32_t version) {
    fake_set64(segment, fake_member(member, FC_LAYOUT_MEMBER_FIRST), segment->published);
    fake_set64(segment, fake_member(member, FC_LAYOUT_MEMBER_RELEASED), segment->published);
    fake_set64(segment, fake_member(member, FC_LAYOUT_MEMBER_FIRST_FRAME), FC_LAYOUT_FROM_START);
    fake_set32(segment, fake_member(member, FC_LAYOUT_MEMBER_STATE), 1);
    uint8_t message[FC_LAYOUT_MESSAGE_BYTES] = {0};
    uint64_t magic = FC_LAYOUT_MAGIC;
    uint32_t type = FC_LAYOUT_MESSAGE_SEGMENT;
    uint32_t place = (uint32_t)member;
    memcpy(message, &magic, 8);
    memcpy(message + FC_LAYOUT_MESSAGE_VERSION_AT, &version, 4);
    memcpy(message + FC_LAYOUT_MESSAGE_TYPE_AT, &type, 4);
    memcpy(message + FC_LAYOUT_MESSAGE_MEMBER_AT, &place, 4);
    int ring = read_only(segment->ring);
    int words = words_of(segment, member);
    int descriptors[4] = {ring, words, leader->waker, leader->counter};
    union {
        char bytes[CMSG_SPACE(sizeof descriptors)];
        struct cmsghdr aligned;
    } control = {{0}};
    struct iovec part = {.iov_base = message, .iov_len = sizeof message};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof descriptors);
    memcpy(CMSG_DATA(rights), descriptors, sizeof descriptors);
    bool sent = sendmsg(leader->connection, &header, MSG_NOSIGNAL) == (ssize_t)sizeof message;
    close(words);
    close(ring);
    return sent;
}

static void wake(struct fake_leader *leader, struct fake_segment *segment) {
    uint64_t one = 1;
    for (int i = 0; i < FC_LAYOUT_MEMBERS; i++) {
        int64_t sleeps = fake_member(i, FC_LAYOUT_MEMBER_SLEEPS);
        if (__atomic_exchange_n((int32_t *)(void *)(segment->words + sleeps), 0, __ATOMIC_SEQ_CST) != 0) {
            CHECK_NUMBER(8, write(leader->waker, &one, 8));
        }
    }
}

static void publish(struct fake_leader *leader, struct fake_segment *segment) {
    int64_t number = segment->published++;
    fake_set64(segment, fake_entry(number, FC_LAYOUT_ENTRY_VERSION), 2 * number + 2);
    fake_set64(segment, FC_LAYOUT_PUBLISHED_AT, segment->published);
    wake(leader, segment);
}

void fake_format(struct fake_segment *segment, int place, int serial, const uint8_t *bytes, size_t length) {
    int64_t at = FC_LAYOUT_FORMATS_PLACE + (place - 1) * FC_LAYOUT_FORMAT_STRIDE;
    fake_set32(segment, at + FC_LAYOUT_FORMAT_SERIAL, serial);
    fake_set32(segment, at + FC_LAYOUT_FORMAT_LENGTH, (int32_t)length);
    memcpy(segment->words + at + FC_LAYOUT_FORMAT_BYTES, bytes, length);
    segment->format = place;
}

void fake_publish(struct fake_leader *leader, struct fake_segment *segment, int64_t number, int64_t bytes, bool keyframe) {
    int64_t entry = segment->published;
    int64_t offset = segment->write_at;
    for (int64_t i = 0; i < bytes; i++) {
        segment->bytes[(offset + i) % segment->ring_bytes] = (uint8_t)number;
    }
    segment->write_at = (offset + bytes) % segment->ring_bytes;
    char *metadata = (char *)segment->words + FC_LAYOUT_METADATA_PLACE
                     + (entry & (FC_LAYOUT_ENTRIES - 1)) * FC_LAYOUT_METADATA_BYTES_MAX;
    fake_set32(segment, fake_entry(entry, FC_LAYOUT_ENTRY_METADATA), snprintf(metadata, 32, "m%lld", (long long)number));
    fake_set32(segment, fake_entry(entry, FC_LAYOUT_ENTRY_KIND), FC_LAYOUT_FRAME);
    int32_t flags = segment->format << FC_LAYOUT_ENTRY_FORMAT_SHIFT | (keyframe ? FC_LAYOUT_KEYFRAME : 0);
    fake_set32(segment, fake_entry(entry, FC_LAYOUT_ENTRY_FLAGS), flags);
    fake_set64(segment, fake_entry(entry, FC_LAYOUT_ENTRY_FRAME_ID), number);
    fake_set64(segment, fake_entry(entry, FC_LAYOUT_ENTRY_OFFSET), offset);
    fake_set64(segment, fake_entry(entry, FC_LAYOUT_ENTRY_LENGTH), bytes);
    fake_set64(segment, fake_entry(entry, FC_LAYOUT_ENTRY_TIMESTAMP), 1000 + number);
    fake_set32(segment, fake_entry(entry, FC_LAYOUT_ENTRY_DETAIL), 1);
    publish(leader, segment);
}

void fake_lose(struct fake_leader *leader, struct fake_segment *segment, int64_t first, int64_t count, int reason) {
    int64_t entry = segment->published;
    fake_set32(segment, fake_entry(entry, FC_LAYOUT_ENTRY_KIND), FC_LAYOUT_LOSS);
    fake_set64(segment, fake_entry(entry, FC_LAYOUT_ENTRY_FRAME_ID), first);
    fake_set64(segment, fake_entry(entry, FC_LAYOUT_ENTRY_LENGTH), count);
    fake_set32(segment, fake_entry(entry, FC_LAYOUT_ENTRY_DETAIL), reason);
    publish(leader, segment);
}

void fake_become(struct fake_leader *leader, struct fake_segment *segment, int state) {
    fake_set32(segment, FC_LAYOUT_STATE_AT, state);
    wake(leader, segment);
}
