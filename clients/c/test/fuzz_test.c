/* Words and messages of a hostile leader: nothing is read outside its memory, and no call hangs. A first argument is
 * the number of rounds, a second one the seed. */
#include "check.h"
#include "dlpack.h"
#include "fake_leader.h"
#include "framecast.h"
#include "subscriber.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define RING (4 * 4096)
#define HELD 8

static uint64_t state;

/* xorshift64 (Marsaglia 2003). */
static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int64_t word(void) {
    static const int64_t EDGES[] = {0, 1, -1, 2, RING - 1, RING, RING + 1, 4095, 4096, 4097, INT64_MAX, INT64_MIN,
                                    INT64_MAX - 1, INT32_MAX, UINT32_MAX, 0x7fffffff00000000};
    switch (draw() % 4) {
    case 0: return (int64_t)draw();
    case 1: return (int64_t)(draw() % 64);
    case 2: return (int64_t)(draw() % (2 * RING));
    default: return EDGES[draw() % (sizeof EDGES / sizeof EDGES[0])];
    }
}

/* Where words are that a follower reads. */
static int64_t any_place(const struct fake_segment *segment) {
    static const int64_t HEADER[] = {
        FC_LAYOUT_PUBLISHED_AT, FC_LAYOUT_STATE_AT, FC_LAYOUT_WANTS_AT, FC_LAYOUT_FREED_AT, FC_LAYOUT_WAITS_AT,
        FC_LAYOUT_WAITED_FROM_AT, FC_LAYOUT_CLOCK_OFFSET_AT, FC_LAYOUT_CLOCK_ERROR_AT, FC_LAYOUT_OPEN_AT,
        FC_LAYOUT_HEARTBEAT_AT, FC_LAYOUT_START_FRAME_AT};
    switch (draw() % 5) {
    case 0: return (int64_t)(draw() % (FC_LAYOUT_HEADER_BYTES / 8)) * 8;
    case 3: return FC_LAYOUT_FORMATS_PLACE + (int64_t)(draw() % 3) * FC_LAYOUT_FORMAT_STRIDE + (int64_t)(draw() % 18) * 8;
    case 1: return HEADER[draw() % (sizeof HEADER / sizeof HEADER[0])];
    case 2: return fake_member((int)(draw() % 2), (int64_t)(draw() % 16) * 8);
    default: return fake_entry(segment->published - (int64_t)(draw() % 4), (int64_t)(draw() % 8) * 8);
    }
}

static void scribble(struct fake_segment *segment, int words) {
    for (int i = 0; i < words; i++) {
        fake_set64(segment, any_place(segment), word());
    }
}

/* {v: 1, tensor: {type: [1, 8, 1], shape: [2, 3]}, keys: {a: b}}, with strides [4, 1]. */
static const uint8_t FORMAT[] = {
    0xa3, 0x61, 'v', 1, 0x66, 't', 'e', 'n', 's', 'o', 'r', 0xa3, 0x64, 't', 'y', 'p', 'e', 0x83, 1, 8, 1, 0x65, 's', 'h',
    'a', 'p', 'e', 0x82, 2, 3, 0x67, 's', 't', 'r', 'i', 'd', 'e', 's', 0x82, 4, 1, 0x64, 'k', 'e', 'y', 's', 0xa1, 0x61,
    'a', 0x61, 'b'};

/* A tensor lies within the frame, whatever its format says. */
static void look_at_tensor(const fc_frame *frame) {
    const fc_format *format = fc_frame_format(frame);
    char text[128];
    if (format != NULL) {
        CHECK(fc_format_text(format, text, sizeof text) >= 0);
    }
    DLManagedTensor *tensor = fc_frame_tensor(frame);
    CHECK(tensor != NULL);
    const DLTensor *shown = &tensor->dl_tensor;
    int64_t last = 0;
    for (int i = 0; i < shown->ndim; i++) {
        last += (shown->shape[i] - 1) * shown->strides[i];
    }
    CHECK((uint64_t)(last + 1) * ((uint64_t)(shown->dtype.bits * shown->dtype.lanes + 7) / 8) <= frame->bytes);
    tensor->deleter(tensor);
}

static void look_at(const fc_frame *frame) {
    const struct fci_frame *inner = (const struct fci_frame *)(const void *)frame;
    CHECK(frame->bytes > 0 && frame->bytes <= RING && frame->metadata_bytes <= 1024);
    if (inner->segment != NULL) {
        const uint8_t *from = frame->data;
        CHECK(from >= inner->segment->ring && from + frame->bytes <= inner->segment->ring + 2 * RING);
    }
    unsigned sum = 0;
    for (uint64_t i = 0; i < frame->bytes; i++) {
        sum += ((const uint8_t *)frame->data)[i];
    }
    volatile unsigned all = sum;
    (void)all;
    look_at_tensor(frame);
}

static void read_some(fc_subscriber *subscriber, const fc_frame *held[HELD]) {
    for (int i = 0; i < 4; i++) {
        const fc_frame **place = &held[draw() % HELD];
        fc_frame_release(*place);
        *place = NULL;
        if (fc_next(subscriber, draw() % 8 == 0 ? 1 : 0, place, NULL) == FC_OK) {
            look_at(*place);
        }
    }
}

static int any_descriptor(void) {
    int pair[2];
    switch (draw() % 6) {
    case 0: return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    case 1: CHECK(pipe2(pair, O_CLOEXEC) == 0); close(pair[1]); return pair[0];
    case 2: return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    case 3: return open("/dev/null", O_RDWR | O_CLOEXEC);
    default: {
        int made = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        int64_t bytes = draw() % 2 == 0 ? FC_LAYOUT_WORDS_BYTES : (int64_t)(draw() % 3) * 4096;
        CHECK(ftruncate(made, bytes) == 0 && fcntl(made, F_ADD_SEALS, draw() % 2 == 0 ? F_SEAL_SHRINK : 0) == 0);
        return made;
    }
    }
}

/* A message that is a SEGMENT, nearly. */
static void send_any(struct fake_leader *leader) {
    uint8_t message[128];
    uint64_t head[4] = {FC_LAYOUT_MAGIC, FC_LAYOUT_VERSION | (uint64_t)FC_LAYOUT_MESSAGE_SEGMENT << 32, 1, draw() % 80};
    for (size_t i = 0; i < sizeof message; i++) {
        message[i] = (uint8_t)draw();
    }
    memcpy(message, head, sizeof head);
    if (draw() % 3 == 0) {
        message[draw() % 32] = (uint8_t)draw();
    }
    int descriptors[8];
    size_t count = draw() % 9;
    for (size_t i = 0; i < count; i++) {
        descriptors[i] = any_descriptor();
    }
    union {
        char bytes[CMSG_SPACE(sizeof descriptors)];
        struct cmsghdr aligned;
    } control = {{0}};
    size_t bytes = draw() % 2 == 0 ? (size_t)FC_LAYOUT_MESSAGE_BYTES : 1 + draw() % (sizeof message - 1);
    struct iovec part = {.iov_base = message, .iov_len = bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
    }
    /* It may have closed the connection by then. */
    (void)!sendmsg(leader->connection, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (size_t i = 0; i < count; i++) {
        close(descriptors[i]);
    }
}

static void round_of(int number) {
    static const char *const URIS[] = {FAKE_URI, FAKE_URI "|delivery=latest", FAKE_URI "|delivery=deadline=1s",
                                       FAKE_URI "|rejoin=1s|attach-after=40ms"};
    const char *uri = URIS[draw() % 4];
    fc_options options = FC_OPTIONS_DEFAULT;
    options.leader_wait_ms = 1;
    struct fake_leader leader;
    struct fake_segment segment;
    fc_subscriber *subscriber;
    const fc_frame *held[HELD] = {NULL};
    fake_listen(&leader, uri, draw() % 2 == 0);
    CHECK_NUMBER(FC_OK, fc_subscribe(uri, &options, &subscriber, NULL));
    fake_accept(&leader);
    fake_segment_make(&segment, RING, draw() % 8 == 0 ? FAKE_UNSEALED : draw() % 2 == 0 ? FAKE_SOURCE : 0);
    fake_format(&segment, 1, 1, FORMAT, sizeof FORMAT);
    if (number % 4 == 0) {
        scribble(&segment, 2);
    }
    if (number % 4 == 1) {
        for (int i = 0; i < 4; i++) {
            send_any(&leader);
        }
    }
    /* Behind messages that make no sense no process listens. */
    if (number % 4 != 1) {
        CHECK(fake_share(&leader, &segment, (int)(draw() % 2), FC_LAYOUT_VERSION));
    }
    const fc_frame *frame;
    fc_next(subscriber, 2, &frame, NULL);
    fc_frame_release(frame);
    for (int i = 0; i < 40; i++) {
        fake_publish(&leader, &segment, number + i, 1 + (int64_t)(draw() % 3000), draw() % 4 == 0);
        if (draw() % 4 == 0) {
            scribble(&segment, 1 + (int)(draw() % 3));
        }
        read_some(subscriber, held);
    }
    if (draw() % 2 == 0) {
        fc_close(subscriber);
        subscriber = NULL;
    }
    for (int i = 0; i < HELD; i++) {
        if (held[i] != NULL) {
            look_at(held[i]);
            fc_frame_release(held[i]);
        }
    }
    fc_close(subscriber);
    fake_stop(&leader);
    fake_segment_free(&segment);
}

int main(int count, char **words) {
    int rounds = count > 1 ? atoi(words[1]) : 500;
    state = count > 2 ? strtoull(words[2], NULL, 10) : 88172645463325252U;
    fake_directory();
    for (int i = 0; i < rounds; i++) {
        round_of(i);
    }
    printf("fuzz_test: %d rounds, %d checks\n", rounds, checks);
    return 0;
}
