/* A publisher against a server of the test's own. */
#include "check.h"
#include "fake_leader.h"
#include "framecast.h"
#include "meeting.h"
#include "publisher_ring.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING (4 * 4096)
#define WAIT_MS 5000

/* As docs/host-segment.md asks of one. */
struct server {
    char path[128];
    int listener;
    int connection;
    int descriptors[4];
    uint64_t frame_max_wanted;
    uint8_t *ring;
    uint8_t *words;
    int64_t consumed;
    /* How it answers. */
    uint32_t code;
    uint64_t frame_max;
    uint32_t version;
};

struct pair {
    struct server server;
    fc_publisher *publisher;
};

static void listen_at(struct server *server, const char *uri) {
    struct fci_channel channel;
    struct fci_servers servers;
    CHECK(fci_parse_published(uri, &channel, NULL) == FC_OK && fci_find_servers(&channel, &servers, NULL) == FC_OK);
    *server = (struct server){
        .connection = -1, .frame_max = 8000, .version = FC_CLIENT_VERSION, .descriptors = {-1, -1, -1, -1}};
    snprintf(server->path, sizeof server->path, "%s", servers.path[0]);
    unlink(server->path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, server->path, strlen(server->path) + 1);
    server->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(bind(server->listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(server->listener, 8) == 0);
}

static void receive_publish(struct server *server) {
    uint8_t message[64];
    union {
        char bytes[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = message, .iov_len = sizeof message};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    CHECK_NUMBER(FC_CLIENT_MESSAGE_BYTES, recvmsg(server->connection, &header, MSG_CMSG_CLOEXEC));
    uint64_t magic;
    uint32_t version;
    memcpy(&magic, message, 8);
    memcpy(&version, message + FC_CLIENT_MESSAGE_VERSION, 4);
    memcpy(&server->frame_max_wanted, message + FC_CLIENT_MESSAGE_FRAME_MAX, 8);
    CHECK(magic == FC_CLIENT_MAGIC && version == FC_CLIENT_VERSION);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    CHECK(rights != NULL && rights->cmsg_len == CMSG_LEN(4 * sizeof(int)));
    memcpy(server->descriptors, CMSG_DATA(rights), 4 * sizeof(int));
}

static void answer(struct server *server) {
    uint8_t message[FC_CLIENT_MESSAGE_BYTES] = {0};
    uint64_t magic = FC_CLIENT_MAGIC;
    uint32_t type = FC_CLIENT_TYPE_ANSWER;
    memcpy(message, &magic, 8);
    memcpy(message + FC_CLIENT_MESSAGE_VERSION, &server->version, 4);
    memcpy(message + FC_CLIENT_MESSAGE_TYPE, &type, 4);
    memcpy(message + FC_CLIENT_MESSAGE_CODE, &server->code, 4);
    memcpy(message + FC_CLIENT_MESSAGE_FRAME_MAX, &server->frame_max, 8);
    CHECK(send(server->connection, message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message);
}

static int64_t *word64(const struct server *server, int64_t at) {
    return (int64_t *)(void *)(server->words + at);
}

static int32_t *word32(const struct server *server, int64_t at) {
    return (int32_t *)(void *)(server->words + at);
}

static int64_t load(const struct server *server, int64_t at) {
    return __atomic_load_n(word64(server, at), __ATOMIC_SEQ_CST);
}

static void map(struct server *server) {
    void *words = mmap(NULL, FC_CLIENT_WORDS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                       server->descriptors[FC_CLIENT_WORDS], 0);
    CHECK(words != MAP_FAILED);
    server->words = words;
    size_t length = (size_t)load(server, FC_CLIENT_RING_BYTES_AT);
    /* Once: it does not trust the client's second mapping. */
    void *ring = mmap(NULL, length, PROT_READ, MAP_SHARED, server->descriptors[FC_CLIENT_RING], 0);
    CHECK(ring != MAP_FAILED);
    server->ring = ring;
}

static void *serve(void *of) {
    struct server *server = of;
    server->connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(server->connection >= 0);
    receive_publish(server);
    map(server);
    answer(server);
    return NULL;
}

static void drop(struct server *server) {
    for (int i = 0; i < 4; i++) {
        if (server->descriptors[i] >= 0) {
            close(server->descriptors[i]);
            server->descriptors[i] = -1;
        }
    }
    if (server->words != NULL) {
        munmap(server->ring, (size_t)load(server, FC_CLIENT_RING_BYTES_AT));
        munmap(server->words, FC_CLIENT_WORDS_BYTES);
        server->words = NULL;
    }
    if (server->connection >= 0) {
        close(server->connection);
        server->connection = -1;
    }
}

static void stop(struct server *server) {
    drop(server);
    close(server->listener);
    unlink(server->path);
}

static fc_status open_with(struct pair *pair, const char *uri, const fc_publish_options *options, fc_error *error) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, serve, &pair->server) == 0);
    fc_status status = fc_publish_open(uri, options, &pair->publisher, error);
    pthread_join(thread, NULL);
    return status;
}

static void begin(struct pair *pair) {
    listen_at(&pair->server, FAKE_URI);
    fc_publish_options options = FC_PUBLISH_OPTIONS_DEFAULT;
    options.ring_bytes = RING;
    fc_error error = {.status = FC_OK, .text = ""};
    open_with(pair, FAKE_URI, &options, &error);
    CHECK_TEXT("", error.text);
}

static void end(struct pair *pair) {
    fc_publish_close(pair->publisher);
    stop(&pair->server);
}

static void wake_client(struct server *server) {
    uint64_t one = 1;
    if (__atomic_exchange_n(word32(server, FC_CLIENT_CLIENT_SLEEPS_AT), 0, __ATOMIC_SEQ_CST) != 0) {
        CHECK(write(server->descriptors[FC_CLIENT_CLIENT_WAKER], &one, 8) == 8);
    }
}

static void become(struct server *server, int32_t state) {
    __atomic_store_n(word32(server, FC_CLIENT_STATE_AT), state, __ATOMIC_SEQ_CST);
    wake_client(server);
}

static uint8_t byte_at(const struct server *server, int64_t at) {
    return server->ring[at % load(server, FC_CLIENT_RING_BYTES_AT)];
}

static int64_t field(const struct server *server, int64_t at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint64_t)byte_at(server, server->consumed + at + i) << (8 * i);
    }
    return bytes == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static bool has_record(const struct server *server) {
    return load(server, FC_CLIENT_COMMITTED_AT) > server->consumed;
}

static void consume(struct server *server) {
    server->consumed += fci_record_bytes(field(server, FC_CLIENT_RECORD_LENGTH, 8), field(server, FC_CLIENT_RECORD_METADATA, 4));
    CHECK(server->consumed <= load(server, FC_CLIENT_COMMITTED_AT));
    __atomic_store_n(word64(server, FC_CLIENT_CONSUMED_AT), server->consumed, __ATOMIC_SEQ_CST);
    wake_client(server);
}

/* The next record is a frame of these bytes, with "m" and its number as metadata. */
static void next_is(struct server *server, int number, int64_t bytes) {
    CHECK(has_record(server));
    CHECK_NUMBER(FC_CLIENT_FRAME, field(server, FC_CLIENT_RECORD_KIND, 4));
    CHECK_NUMBER(number % 2, field(server, FC_CLIENT_RECORD_FLAGS, 4));
    CHECK_NUMBER(bytes, field(server, FC_CLIENT_RECORD_LENGTH, 8));
    CHECK_NUMBER(1000 + number, field(server, FC_CLIENT_RECORD_TIMESTAMP, 8));
    int64_t payload = server->consumed + FC_CLIENT_RECORD_BYTES;
    for (int64_t i = 0; i < bytes; i++) {
        CHECK(byte_at(server, payload + i) == (uint8_t)(number + i));
    }
    char metadata[16];
    snprintf(metadata, sizeof metadata, "m%d", number);
    CHECK_NUMBER(strlen(metadata), field(server, FC_CLIENT_RECORD_METADATA, 4));
    for (size_t i = 0; i < strlen(metadata); i++) {
        CHECK(byte_at(server, payload + (bytes + 63) / 64 * 64 + (int64_t)i) == (uint8_t)metadata[i]);
    }
    consume(server);
}

static fc_status publish(struct pair *pair, int number, int64_t bytes, int timeout_ms) {
    void *data;
    fc_error error;
    fc_status status = fc_claim(pair->publisher, (uint64_t)bytes, timeout_ms, &data, &error);
    if (status != FC_OK) {
        CHECK(data == NULL && error.status == status);
        return status;
    }
    CHECK_NUMBER(0, (uintptr_t)data % 64);
    for (int64_t i = 0; i < bytes; i++) {
        ((uint8_t *)data)[i] = (uint8_t)(number + i);
    }
    char metadata[16];
    fc_commit_options options = FC_COMMIT_OPTIONS_DEFAULT;
    options.keyframe = number % 2;
    options.timestamp_ns = 1000 + number;
    options.metadata = metadata;
    options.metadata_bytes = (uint32_t)snprintf(metadata, sizeof metadata, "m%d", number);
    CHECK_NUMBER(FC_OK, fc_commit(pair->publisher, &options, NULL));
    return FC_OK;
}

static void refuses(fc_status expected, const char *part, fc_status status, const fc_error *error) {
    CHECK_NUMBER(expected, status);
    CHECK_NUMBER(expected, error->status);
    if (strstr(error->text, part) == NULL || strchr(error->text, '\n') != NULL) {
        CHECK_TEXT(part, error->text);
    }
}

static void should_carry_frames_beyond_the_end_of_the_ring(void) {
    struct pair pair;
    begin(&pair);
    CHECK_NUMBER(8000, fc_publish_frame_max(pair.publisher));
    for (int i = 0; i < 400; i++) {
        int64_t bytes = 1 + i * 7919 % 8000;
        CHECK_NUMBER(FC_OK, publish(&pair, i, bytes, 0));
        next_is(&pair.server, i, bytes);
    }
    end(&pair);
}

static void should_fill_the_ring_and_no_more(void) {
    struct pair pair;
    begin(&pair);
    int published = 0;
    while (publish(&pair, published, 1000, 0) == FC_OK) {
        published++;
    }
    /* 1152 bytes each; a claim keeps room for the longest metadata. */
    CHECK_NUMBER(13, published);
    CHECK_NUMBER(FC_WOULD_BLOCK, publish(&pair, published, 1000, 30));
    for (int i = 0; i < published; i++) {
        next_is(&pair.server, i, 1000);
    }
    CHECK(!has_record(&pair.server));
    CHECK_NUMBER(FC_OK, publish(&pair, published, 1000, 0));
    next_is(&pair.server, published, 1000);
    end(&pair);
}

static void *consume_all(void *of) {
    struct server *server = of;
    for (int i = 0; i < 2000; i++) {
        while (!has_record(server)) {
            struct pollfd polled = {.fd = server->descriptors[FC_CLIENT_SERVER_WAKER], .events = POLLIN, .revents = 0};
            __atomic_store_n(word32(server, FC_CLIENT_SERVER_SLEEPS_AT), 1, __ATOMIC_SEQ_CST);
            if (!has_record(server)) {
                uint64_t count;
                CHECK(poll(&polled, 1, WAIT_MS) == 1 && read(polled.fd, &count, 8) == 8);
            }
        }
        next_is(server, i, 1 + i % 5000);
    }
    return NULL;
}

static void should_wait_for_room_and_wake_the_server(void) {
    struct pair pair;
    begin(&pair);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, consume_all, &pair.server) == 0);
    for (int i = 0; i < 2000; i++) {
        CHECK_NUMBER(FC_OK, publish(&pair, i, 1 + i % 5000, WAIT_MS));
    }
    pthread_join(thread, NULL);
    end(&pair);
}

static bool is_readable(const fc_publisher *publisher, int timeout_ms) {
    struct pollfd polled = {.fd = fc_publish_fd(publisher), .events = POLLIN, .revents = 0};
    return poll(&polled, 1, timeout_ms) == 1;
}

static void should_be_readable_when_there_may_be_room(void) {
    struct pair pair;
    begin(&pair);
    int published = 0;
    for (int round = 0; round < 3; round++) {
        while (publish(&pair, published, 3000, 0) == FC_OK) {
            published++;
        }
        CHECK(!is_readable(pair.publisher, 0));
        consume(&pair.server);
        CHECK(is_readable(pair.publisher, WAIT_MS));
    }
    while (publish(&pair, published, 3000, 0) == FC_OK) {
        published++;
    }
    CHECK(!is_readable(pair.publisher, 0));
    close(pair.server.connection);
    pair.server.connection = -1;
    CHECK(is_readable(pair.publisher, WAIT_MS));
    CHECK_NUMBER(FC_SERVER_GONE, publish(&pair, published, 3000, 0));
    end(&pair);
}

static void should_shorten_or_abort_a_claim(void) {
    struct pair pair;
    begin(&pair);
    void *data;
    fc_error error;
    CHECK_NUMBER(FC_OK, fc_claim(pair.publisher, 8000, 0, &data, NULL));
    refuses(FC_E_ARGUMENT, "a frame is claimed; call fc_commit or fc_abort first",
            fc_claim(pair.publisher, 1, 0, &data, &error), &error);
    fc_abort(pair.publisher);
    refuses(FC_E_ARGUMENT, "expected a frame of fc_claim, got none", fc_commit(pair.publisher, NULL, &error), &error);
    CHECK_NUMBER(FC_OK, fc_claim(pair.publisher, 8000, 0, &data, NULL));
    memset(data, 7, 8000);
    fc_commit_options options = FC_COMMIT_OPTIONS_DEFAULT;
    options.bytes = 8001;
    refuses(FC_E_TOO_LONG, "8001 bytes are more than the 8000", fc_commit(pair.publisher, &options, &error), &error);
    options.bytes = 65;
    CHECK_NUMBER(FC_OK, fc_commit(pair.publisher, &options, NULL));
    CHECK_NUMBER(65, field(&pair.server, FC_CLIENT_RECORD_LENGTH, 8));
    CHECK_NUMBER(INT64_MIN, field(&pair.server, FC_CLIENT_RECORD_TIMESTAMP, 8));
    CHECK_NUMBER(192, load(&pair.server, FC_CLIENT_COMMITTED_AT));
    consume(&pair.server);
    CHECK_NUMBER(FC_OK, fc_send(pair.publisher, "hello", 5, NULL, 0, NULL));
    CHECK_NUMBER(5, field(&pair.server, FC_CLIENT_RECORD_LENGTH, 8));
    CHECK_NUMBER('h', byte_at(&pair.server, pair.server.consumed + FC_CLIENT_RECORD_BYTES));
    end(&pair);
}

static void should_refuse_what_is_too_long(void) {
    struct pair pair;
    begin(&pair);
    void *data;
    fc_error error;
    refuses(FC_E_TOO_LONG, "publisher: a frame of 8001 bytes is longer than the 8000 of fake; raise frame-max= of the URI",
            fc_claim(pair.publisher, 8001, 0, &data, &error), &error);
    refuses(FC_E_ARGUMENT, "expected 1 … 8000 bytes, got 0", fc_claim(pair.publisher, 0, 0, &data, &error), &error);
    fc_commit_options options = FC_COMMIT_OPTIONS_DEFAULT;
    char metadata[1025] = {0};
    options.metadata = metadata;
    options.metadata_bytes = 1025;
    refuses(FC_E_TOO_LONG, "at most 1024 bytes of metadata, got 1025",
            fc_send(pair.publisher, "a", 1, &options, 0, &error), &error);
    options.metadata_bytes = 1024;
    CHECK_NUMBER(FC_OK, fc_send(pair.publisher, "a", 1, &options, 0, &error));
    refuses(FC_E_TOO_LONG, "expected 1 … 1024 bytes of CBOR, got 1025",
            fc_publish_format(pair.publisher, metadata, 1025, 0, &error), &error);
    refuses(FC_E_ARGUMENT, "expected 1 … 1024 bytes of CBOR, got 0 at NULL",
            fc_publish_format(pair.publisher, NULL, 0, 0, &error), &error);
    end(&pair);
}

static void should_take_the_longest_frame_of_the_ring_where_that_is_less(void) {
    struct pair pair;
    listen_at(&pair.server, FAKE_URI);
    pair.server.frame_max = 1 << 20;
    fc_publish_options options = FC_PUBLISH_OPTIONS_DEFAULT;
    options.ring_bytes = 8192;
    CHECK_NUMBER(FC_OK, open_with(&pair, FAKE_URI, &options, NULL));
    CHECK_NUMBER(8192 - 64 - 1024, fc_publish_frame_max(pair.publisher));
    CHECK_NUMBER(FC_OK, publish(&pair, 1, 8192 - 64 - 1024, 0));
    next_is(&pair.server, 1, 8192 - 64 - 1024);
    CHECK_NUMBER(FC_OK, publish(&pair, 2, 8192 - 64 - 1024, 0));
    next_is(&pair.server, 2, 8192 - 64 - 1024);
    void *data;
    fc_error error;
    refuses(FC_E_TOO_LONG, "of the publisher's ring; raise ring_bytes", fc_claim(pair.publisher, 8192, 0, &data, &error),
            &error);
    end(&pair);
    options.frame_max = 8192;
    refuses(FC_E_ARGUMENT, "a ring of 8192 bytes cannot hold a frame of 8192; give ring_bytes of 9280 or more",
            fc_publish_open(FAKE_URI, &options, &pair.publisher, &error), &error);
}

static void should_ask_for_the_frame_max_of_the_uri(void) {
    struct pair pair;
    listen_at(&pair.server, FAKE_URI);
    CHECK_NUMBER(FC_OK, open_with(&pair, FAKE_URI "|frame-max=5k|delivery=evict=2s|host-group=off|join=keyframe", NULL, NULL));
    CHECK_NUMBER(5120, pair.server.frame_max_wanted);
    end(&pair);
}

static void should_carry_a_format_and_end_the_stream(void) {
    struct pair pair;
    begin(&pair);
    fc_error error;
    CHECK_NUMBER(FC_OK, fc_publish_format(pair.publisher, "\xa1\x61v\x01", 4, 0, NULL));
    CHECK_NUMBER(FC_CLIENT_FORMAT, field(&pair.server, FC_CLIENT_RECORD_KIND, 4));
    CHECK_NUMBER(4, field(&pair.server, FC_CLIENT_RECORD_LENGTH, 8));
    consume(&pair.server);
    refuses(FC_WOULD_BLOCK, "not within the time", fc_publish_end(pair.publisher, 0, &error), &error);
    CHECK_NUMBER(FC_CLIENT_END, field(&pair.server, FC_CLIENT_RECORD_KIND, 4));
    consume(&pair.server);
    CHECK_NUMBER(FC_WOULD_BLOCK, fc_publish_end(pair.publisher, 20, NULL));
    CHECK(!has_record(&pair.server));
    refuses(FC_E_ARGUMENT, "the stream has ended", fc_send(pair.publisher, "a", 1, NULL, 0, &error), &error);
    become(&pair.server, FC_CLIENT_ENDED);
    close(pair.server.connection);
    pair.server.connection = -1;
    CHECK_NUMBER(FC_OK, fc_publish_end(pair.publisher, -1, NULL));
    CHECK_NUMBER(FC_OK, fc_publish_end(pair.publisher, -1, NULL));
    end(&pair);
}

/* The bytes of docs/formats.md without a rate. */
static void should_describe_frames_by_a_struct(void) {
    static const char EXPECTED[] =
        "\xa3\x61v\x01\x66tensor\xa2\x64type\x83\x01\x08\x01\x65shape\x83\x19\x01\xe0\x19\x02\x80\x03"
        "\x67picture\xa5\x66pixels\x65rgb24\x65width\x19\x02\x80\x66height\x19\x01\xe0"
        "\x66planes\x81\x82\x00\x19\x07\x80\x65range\x00";
    struct pair pair;
    begin(&pair);
    fc_error error;
    fc_picture picture = {.pixels = "rgb24", .width = 640, .height = 480};
    fc_tensor tensor;
    fc_format format = {.picture = &picture, .tensor = fc_picture_tensor(&picture, &tensor) ? &tensor : NULL};
    CHECK_NUMBER(FC_OK, fc_publish_describe(pair.publisher, &format, 0, NULL));
    CHECK_NUMBER(FC_CLIENT_FORMAT, field(&pair.server, FC_CLIENT_RECORD_KIND, 4));
    CHECK_NUMBER(sizeof EXPECTED - 1, field(&pair.server, FC_CLIENT_RECORD_LENGTH, 8));
    for (size_t i = 0; i < sizeof EXPECTED - 1; i++) {
        CHECK_NUMBER((uint8_t)EXPECTED[i], byte_at(&pair.server, pair.server.consumed + FC_CLIENT_RECORD_BYTES + (int64_t)i));
    }
    consume(&pair.server);
    picture.pixels = "rgb25";
    refuses(FC_E_ARGUMENT, "picture: expected a pixel format", fc_publish_describe(pair.publisher, &format, 0, &error), &error);
    refuses(FC_E_ARGUMENT, "expected a format", fc_publish_describe(pair.publisher, NULL, 0, &error), &error);
    picture.pixels = "rgb24";
    refuses(FC_E_ARGUMENT, "expected a publisher", fc_publish_describe(NULL, &format, 0, &error), &error);
    CHECK(!has_record(&pair.server));
    end(&pair);
}

static void *become_ready(void *of) {
    struct server *server = of;
    for (int ready = 1; ready <= 2; ready++) {
        usleep(20000);
        __atomic_store_n(word32(server, FC_CLIENT_READY_AT), ready, __ATOMIC_SEQ_CST);
        wake_client(server);
    }
    return NULL;
}

static void should_wait_for_subscribers(void) {
    struct pair pair;
    begin(&pair);
    CHECK_NUMBER(0, fc_ready_subscribers(pair.publisher));
    CHECK_NUMBER(FC_WOULD_BLOCK, fc_wait_ready(pair.publisher, 1, 0, NULL));
    CHECK_NUMBER(FC_WOULD_BLOCK, fc_wait_ready(pair.publisher, 1, 5, NULL));
    /* The server need not look for subscribers any more. */
    CHECK_NUMBER(0, *word32(&pair.server, FC_CLIENT_CLIENT_SLEEPS_AT));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, become_ready, &pair.server) == 0);
    CHECK_NUMBER(FC_OK, fc_wait_ready(pair.publisher, 2, WAIT_MS, NULL));
    pthread_join(thread, NULL);
    CHECK_NUMBER(2, fc_ready_subscribers(pair.publisher));
    __atomic_store_n(word32(&pair.server, FC_CLIENT_READY_AT), -7, __ATOMIC_SEQ_CST);
    CHECK_NUMBER(0, fc_ready_subscribers(pair.publisher));
    end(&pair);
}

static void should_survive_hostile_words(void) {
    const int64_t hostile[] = {-1, 1, INT64_MAX, INT64_MIN, 4096};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct pair pair;
        begin(&pair);
        __atomic_store_n(word64(&pair.server, FC_CLIENT_CONSUMED_AT), hostile[i], __ATOMIC_SEQ_CST);
        fc_error error;
        refuses(FC_E_BROKEN, "says that it consumed what was never committed; restart it",
                fc_send(pair.publisher, "a", 1, NULL, 0, &error), &error);
        refuses(FC_E_BROKEN, "never committed", fc_publish_end(pair.publisher, 0, &error), &error);
        end(&pair);
    }
}

static void should_survive_random_words(void) {
    uint32_t random = 1;
    for (int round = 0; round < 200; round++) {
        struct pair pair;
        begin(&pair);
        for (int i = 0; i < 50; i++) {
            random = random * 1664525 + 1013904223;
            int64_t at = (int64_t)(random >> 8) % (FC_CLIENT_WORDS_BYTES / 8) * 8;
            at = random % 4 == 0 ? FC_CLIENT_CONSUMED_AT : random % 4 == 1 ? at % 192 : at;
            int64_t value = random % 3 == 0 ? (int64_t)(random >> 20) * 64 : (int64_t)((uint64_t)random << (random % 40));
            __atomic_store_n(word64(&pair.server, at), value, __ATOMIC_SEQ_CST);
            fc_status status = publish(&pair, i, 1 + random % 8000, 0);
            CHECK(status == FC_OK || status == FC_WOULD_BLOCK || status == FC_E_BROKEN || status == FC_SERVER_GONE);
            fc_wait_ready(pair.publisher, (int)(random % 3), 0, NULL);
        }
        *word64(&pair.server, FC_CLIENT_RING_BYTES_AT) = RING;
        end(&pair);
    }
}

static void should_say_that_the_server_gave_up(void) {
    struct pair pair;
    begin(&pair);
    become(&pair.server, FC_CLIENT_FAILED);
    fc_error error;
    refuses(FC_SERVER_GONE, "gave this stream up; its output says why", fc_send(pair.publisher, "a", 1, NULL, 0, &error), &error);
    refuses(FC_SERVER_GONE, "gave this stream up", fc_publish_end(pair.publisher, 0, &error), &error);
    end(&pair);
}

static void *die(void *of) {
    struct server *server = of;
    usleep(30000);
    shutdown(server->connection, SHUT_RDWR);
    return NULL;
}

static void should_notice_a_server_that_died(void) {
    struct pair pair;
    begin(&pair);
    int published = 0;
    while (publish(&pair, published, 3000, 0) == FC_OK) {
        published++;
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, die, &pair.server) == 0);
    CHECK_NUMBER(FC_SERVER_GONE, publish(&pair, published, 3000, -1));
    pthread_join(thread, NULL);
    fc_error error;
    refuses(FC_SERVER_GONE, "is gone; start `framecast serve --publish URI` again", fc_publish_end(pair.publisher, -1, &error),
            &error);
    end(&pair);
    /* And with room left. */
    begin(&pair);
    CHECK_NUMBER(FC_OK, publish(&pair, 0, 100, 0));
    drop(&pair.server);
    publish(&pair, 1, 100, 0);
    CHECK_NUMBER(FC_SERVER_GONE, publish(&pair, 2, 100, 0));
    end(&pair);
}

static void should_refuse_in_one_line(void) {
    fc_publish_options options = FC_PUBLISH_OPTIONS_DEFAULT;
    options.timeout_ms = 0;
    fc_error error;
    struct pair pair;
    refuses(FC_E_NO_SERVER, "publisher: no process publishes for clients of fake on this host; start `framecast serve --publish URI`",
            fc_publish_open(FAKE_URI, &options, &pair.publisher, &error), &error);
    refuses(FC_E_URI, "unknown key chanel; nearest is channel",
            fc_publish_open(FAKE_URI "|chanel=a", &options, &pair.publisher, &error), &error);
    refuses(FC_E_UNSUPPORTED, "control: clients publish on a multicast channel",
            fc_publish_open("framecast:udp?control=10.0.0.1:5", &options, &pair.publisher, &error), &error);
    const struct {
        uint32_t code;
        fc_status status;
        const char *text;
    } refusals[] = {{FC_CLIENT_BUSY, FC_E_BUSY, "publisher: another client publishes on fake by process"},
                    {FC_CLIENT_OTHER_VERSION, FC_E_VERSION, "speaks version 9 of publishing, libframecast version 1; take"},
                    {FC_CLIENT_REFUSED, FC_E_REFUSED, "cannot publish on fake; its output says why"},
                    {77, FC_E_REFUSED, "cannot publish on fake"}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        listen_at(&pair.server, FAKE_URI);
        pair.server.code = refusals[i].code;
        pair.server.version = refusals[i].code == FC_CLIENT_OTHER_VERSION ? 9 : FC_CLIENT_VERSION;
        refuses(refusals[i].status, refusals[i].text, open_with(&pair, FAKE_URI, &options, &error), &error);
        CHECK(pair.publisher == NULL);
        stop(&pair.server);
    }
}

static void should_find_a_server_of_transport_auto(void) {
    struct pair pair;
    listen_at(&pair.server, "framecast:auto?group=224.20.30.39:24326|channel=fake");
    CHECK_NUMBER(FC_OK, open_with(&pair, FAKE_URI, NULL, NULL));
    end(&pair);
    listen_at(&pair.server, FAKE_URI);
    CHECK_NUMBER(FC_OK, open_with(&pair, "framecast:auto?group=224.20.30.39:24326|channel=fake", NULL, NULL));
    end(&pair);
}

static void on_alarm(int signal) {
    (void)signal;
}

/* Again and again: one that comes between two waits ends none. */
static void set_alarms(int after_us) {
    struct itimerval often = {.it_interval = {.tv_usec = after_us}, .it_value = {.tv_usec = after_us}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
}

static void should_end_a_wait_by_a_signal(void) {
    struct pair pair;
    begin(&pair);
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    fc_publisher *none;
    set_alarms(30000);
    CHECK_NUMBER(FC_INTERRUPTED, fc_wait_ready(pair.publisher, 1, -1, NULL));
    CHECK_NUMBER(FC_INTERRUPTED, fc_publish_open("framecast:udp?group=224.20.30.39:1", NULL, &none, NULL));
    set_alarms(0);
    end(&pair);
}

static int stop_at_three(void *context) {
    int *calls = context;
    return ++*calls == 3;
}

static void should_end_the_wait_for_a_server_when_the_program_says_so(void) {
    fc_publisher *none;
    int calls = 0;
    fc_publish_options options = FC_PUBLISH_OPTIONS_DEFAULT;
    options.timeout_ms = -1;
    options.on_wait = stop_at_three;
    options.context = &calls;
    CHECK_NUMBER(FC_INTERRUPTED, fc_publish_open(FAKE_URI, &options, &none, NULL));
    CHECK(none == NULL);
    CHECK_NUMBER(3, calls);
    /* One that takes the connection, and gives no answer. */
    struct server silent;
    listen_at(&silent, FAKE_URI);
    calls = 0;
    CHECK_NUMBER(FC_INTERRUPTED, fc_publish_open(FAKE_URI, &options, &none, NULL));
    CHECK_NUMBER(3, calls);
    close(silent.listener);
    unlink(silent.path);
}

static void should_change_nothing_in_the_child_of_a_fork(void) {
    struct pair pair;
    begin(&pair);
    CHECK_NUMBER(FC_OK, publish(&pair, 0, 100, 0));
    pid_t child = fork();
    if (child == 0) {
        fc_error error;
        int64_t committed = load(&pair.server, FC_CLIENT_COMMITTED_AT);
        refuses(FC_E_ARGUMENT, "is of the process that forked; open one in this process",
                fc_send(pair.publisher, "a", 1, NULL, 0, &error), &error);
        refuses(FC_E_ARGUMENT, "process that forked", fc_publish_end(pair.publisher, 0, &error), &error);
        fc_publish_close(pair.publisher);
        _exit(load(&pair.server, FC_CLIENT_COMMITTED_AT) == committed ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    next_is(&pair.server, 0, 100);
    CHECK_NUMBER(FC_OK, publish(&pair, 1, 100, 0));
    next_is(&pair.server, 1, 100);
    end(&pair);
}

/* The server hears that the parent ends, though its child goes on. */
static void should_end_the_connection_with_the_parent_of_a_fork(void) {
    struct pair pair;
    begin(&pair);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    fc_publish_abandon(pair.publisher);
    fc_publish_abandon(pair.publisher);
    struct pollfd polled = {.fd = pair.server.connection, .events = POLLIN, .revents = 0};
    CHECK(poll(&polled, 1, WAIT_MS) == 1 && (polled.revents & POLLHUP) != 0);
    fc_error error;
    refuses(FC_E_ARGUMENT, "the stream is abandoned", fc_send(pair.publisher, "a", 1, NULL, 0, &error), &error);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    end(&pair);
}

static int open_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

int main(void) {
    fake_directory();
    fc_publish_close(NULL);
    int before = open_descriptors();
    should_carry_frames_beyond_the_end_of_the_ring();
    should_fill_the_ring_and_no_more();
    should_wait_for_room_and_wake_the_server();
    should_be_readable_when_there_may_be_room();
    should_shorten_or_abort_a_claim();
    should_refuse_what_is_too_long();
    should_take_the_longest_frame_of_the_ring_where_that_is_less();
    should_ask_for_the_frame_max_of_the_uri();
    should_carry_a_format_and_end_the_stream();
    should_describe_frames_by_a_struct();
    should_wait_for_subscribers();
    should_survive_hostile_words();
    should_survive_random_words();
    should_say_that_the_server_gave_up();
    should_notice_a_server_that_died();
    should_refuse_in_one_line();
    should_find_a_server_of_transport_auto();
    should_end_a_wait_by_a_signal();
    should_end_the_wait_for_a_server_when_the_program_says_so();
    should_change_nothing_in_the_child_of_a_fork();
    should_end_the_connection_with_the_parent_of_a_fork();
    CHECK_NUMBER(before, open_descriptors());
    printf("publisher_test: %d checks\n", checks);
    return 0;
}
