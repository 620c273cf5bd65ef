/* Frames in device memory, on a driver without a GPU (gpu-sink/src/test/c/stub_cuda.c), which works late: one command for
 * each look at an event. Where no such driver was built the test is skipped. */
#include "check.h"
#include "dlpack.h"
#include "fake_leader.h"
#include "framecast.h"
#include "share.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RING (16 * 4096)
#define WAIT_MS 5000
#define PLACES 4
#define PLACE_BYTES 8192
#define EXPORTER 5

struct pair {
    struct fake_leader leader;
    struct fake_segment segment;
    fc_subscriber *subscriber;
};

static struct {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_push)(void *context);
    int (*context_pop)(void **context);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*deallocate)(uint64_t address);
    int (*fill)(uint64_t to, unsigned char value, size_t bytes, void *stream);
    int (*copy_to_host)(void *to, uint64_t from, size_t bytes, void *stream);
    int (*ipc_handle)(void *handle, uint64_t address);
    long (*live)(const char *kind);
    void (*fail)(const char *name, int code);
} cuda;

static void *context;
static void *stream;

/* Called by the sanitizer: the driver keeps what a program might still use. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libcuda.so.1\n";
}

static void find(void *to, const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)to = dlsym(library, name);
    CHECK(*(void **)to != NULL);
}

static void find_all(void) {
    find(&cuda.init, "cuInit");
    find(&cuda.device_get, "cuDeviceGet");
    find(&cuda.context_retain, "cuDevicePrimaryCtxRetain");
    find(&cuda.context_release, "cuDevicePrimaryCtxRelease_v2");
    find(&cuda.context_push, "cuCtxPushCurrent_v2");
    find(&cuda.context_pop, "cuCtxPopCurrent_v2");
    find(&cuda.stream_create, "cuStreamCreate");
    find(&cuda.stream_destroy, "cuStreamDestroy_v2");
    find(&cuda.stream_synchronize, "cuStreamSynchronize");
    find(&cuda.allocate, "cuMemAlloc_v2");
    find(&cuda.deallocate, "cuMemFree_v2");
    find(&cuda.fill, "cuMemsetD8Async");
    find(&cuda.copy_to_host, "cuMemcpyDtoHAsync_v2");
    find(&cuda.ipc_handle, "cuIpcGetMemHandle");
    find(&cuda.live, "framecast_stub_live");
    find(&cuda.fail, "framecast_stub_fail");
}

/* As a program that uses the device beside the library. */
static void open_device(void) {
    int device;
    CHECK(cuda.init(0) == 0 && cuda.device_get(&device, 0) == 0 && cuda.context_retain(&context, device) == 0);
    CHECK(cuda.context_push(context) == 0);
    CHECK(cuda.stream_create(&stream, 1) == 0);
}

static void close_device(void) {
    void *left;
    CHECK(cuda.stream_destroy(stream) == 0);
    CHECK(cuda.context_pop(&left) == 0);
    CHECK(cuda.context_release(0) == 0);
}

static void begin(struct pair *pair, const char *uri, int flags) {
    fc_options options = FC_OPTIONS_DEFAULT;
    fc_error error = {.status = FC_OK, .text = ""};
    fake_listen(&pair->leader, uri, false);
    fc_subscribe(uri, &options, &pair->subscriber, &error);
    CHECK_TEXT("", error.text);
    fake_accept(&pair->leader);
    fake_segment_make(&pair->segment, RING, flags);
    CHECK(fake_share(&pair->leader, &pair->segment, 0, FC_LAYOUT_VERSION));
}

static void end(struct pair *pair) {
    fc_close(pair->subscriber);
    fake_stop(&pair->leader);
    fake_segment_free(&pair->segment);
}

static const fc_frame *next(struct pair *pair) {
    const fc_frame *frame;
    fc_error error = {.status = FC_OK, .text = ""};
    fc_next(pair->subscriber, WAIT_MS, &frame, &error);
    CHECK_TEXT("", error.text);
    return frame;
}

static void should_lie_on_the_device(const void *address, uint64_t bytes, uint64_t number) {
    uint8_t *read = malloc(bytes);
    CHECK(cuda.copy_to_host(read, (uint64_t)(uintptr_t)address, bytes, stream) == 0);
    CHECK(cuda.stream_synchronize(stream) == 0);
    for (uint64_t i = 0; i < bytes; i++) {
        CHECK_NUMBER(number, read[i]);
    }
    free(read);
}

static int64_t released(struct pair *pair) {
    return fake_get64(&pair->segment, fake_member(0, FC_LAYOUT_MEMBER_RELEASED));
}

static void should_release(struct pair *pair, int64_t below) {
    struct timespec rest = {.tv_nsec = 1000000};
    for (int i = 0; i < WAIT_MS && released(pair) < below; i++) {
        nanosleep(&rest, NULL);
    }
    CHECK_NUMBER(below, released(pair));
}

static int64_t own_record(int64_t field) {
    return FC_LAYOUT_DEVICES_PLACE + field;
}

static void should_copy_frames(void) {
    struct pair pair;
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    for (int64_t number = 0; number < 40; number++) {
        fake_publish(&pair.leader, &pair.segment, number, 5000, false);
        const fc_frame *frame = next(&pair);
        const void *address;
        CHECK_NUMBER(FC_OK, fc_frame_device(frame, stream, &address, NULL));
        CHECK(((const uint8_t *)frame->data)[4999] == number && address != frame->data);
        should_lie_on_the_device(address, frame->bytes, (uint64_t)number);
        CHECK_NUMBER(FC_FRAME_IN_PLACE, frame->flags);
        fc_frame_release(frame);
        should_release(&pair, number + 1);
    }
    CHECK_NUMBER(FC_LAYOUT_TAKES, fake_get64(&pair.segment, own_record(FC_LAYOUT_DEVICE_WISH)) & 0xff);
    /* Big-endian, as UUIDs are written. */
    CHECK_NUMBER(0x7374756220475055, fake_get64(&pair.segment, own_record(FC_LAYOUT_DEVICE_IDENTITY)));
    CHECK_NUMBER(1, cuda.live("device"));
    end(&pair);
}

static void should_keep_the_ring_until_it_is_copied(void) {
    struct pair pair;
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    fake_publish(&pair.leader, &pair.segment, 7, 5000, false);
    const fc_frame *frame = next(&pair);
    const void *address;
    CHECK_NUMBER(FC_OK, fc_frame_device(frame, stream, &address, NULL));
    fc_frame_release(frame);
    should_release(&pair, 1);
    /* Written again at once: its copy, which no other frame has replaced, is done. */
    memset(pair.segment.bytes, 0xee, 5000);
    should_lie_on_the_device(address, 5000, 7);
    end(&pair);
}

static void should_wait_on_the_host(void) {
    struct pair pair;
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 100, false);
    const fc_frame *frame = next(&pair);
    const void *address;
    CHECK_NUMBER(FC_OK, fc_frame_device(frame, FC_STREAM_HOST, &address, NULL));
    should_lie_on_the_device(address, 100, 0);
    fc_frame_release(frame);
    CHECK_NUMBER(1, released(&pair));
    end(&pair);
}

/* Work that takes a look for each command. */
static uint64_t busy(int commands) {
    uint64_t memory;
    CHECK(cuda.allocate(&memory, 64) == 0);
    for (int i = 0; i < commands; i++) {
        CHECK(cuda.fill(memory, 1, 64, stream) == 0);
    }
    return memory;
}

static void should_release_when_the_stream_has_come_that_far(void) {
    struct pair pair;
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 100, false);
    const fc_frame *frame = next(&pair);
    const void *address;
    CHECK_NUMBER(FC_OK, fc_frame_device(frame, stream, &address, NULL));
    uint64_t memory = busy(200);
    fc_frame_release_on(frame, stream);
    CHECK_NUMBER(0, released(&pair));
    fc_stats stats;
    fc_stats_of(pair.subscriber, &stats);
    CHECK_NUMBER(1, stats.held);
    should_release(&pair, 1);
    CHECK(cuda.deallocate(memory) == 0);
    end(&pair);
}

static void should_wait_for_streams_when_it_is_closed(void) {
    struct pair pair;
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    for (int64_t number = 0; number < 2; number++) {
        fake_publish(&pair.leader, &pair.segment, number, 100, false);
    }
    const fc_frame *first = next(&pair);
    const fc_frame *second = next(&pair);
    uint64_t memory = busy(3);
    fc_frame_release_on(first, stream);
    fc_close(pair.subscriber);
    CHECK_NUMBER(1, released(&pair));
    uint64_t more = busy(3);
    const void *address;
    CHECK_NUMBER(FC_OK, fc_frame_device(second, stream, &address, NULL));
    should_lie_on_the_device(address, 100, 1);
    fc_frame_release_on(second, stream);
    CHECK_NUMBER(0, cuda.live("registered"));
    pair.subscriber = NULL;
    CHECK(cuda.deallocate(memory) == 0 && cuda.deallocate(more) == 0);
    end(&pair);
}

static void should_give_tensors(void) {
    struct pair pair;
    begin(&pair, FAKE_URI "|device=cuda", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 100, false);
    fake_publish(&pair.leader, &pair.segment, 1, 100, false);
    const fc_frame *frame = next(&pair);
    DLManagedTensor *tensor = fc_frame_cuda_tensor(frame, stream);
    DLManagedTensorVersioned *versioned = fc_frame_cuda_tensor_versioned(frame, NULL);
    DLManagedTensorVersioned *on_host = fc_frame_tensor_versioned(frame);
    fc_frame_release(frame);
    CHECK_NUMBER(kDLCUDA, tensor->dl_tensor.device.device_type);
    CHECK_NUMBER(0, tensor->dl_tensor.device.device_id);
    CHECK(tensor->dl_tensor.ndim == 1 && tensor->dl_tensor.shape[0] == 100 && tensor->dl_tensor.strides[0] == 1);
    CHECK(versioned->dl_tensor.data == tensor->dl_tensor.data && on_host->dl_tensor.data != tensor->dl_tensor.data);
    CHECK(versioned->version.major == 1 && versioned->flags == 0);
    CHECK(on_host->flags == DLPACK_FLAG_READ_ONLY && on_host->dl_tensor.device.device_type == kDLCPU);
    should_lie_on_the_device(tensor->dl_tensor.data, 100, 0);
    tensor->deleter(tensor);
    versioned->deleter(versioned);
    CHECK_NUMBER(0, released(&pair));
    on_host->deleter(on_host);
    should_release(&pair, 1);
    /* Of the default stream, which is given as NULL. */
    frame = next(&pair);
    tensor = fc_frame_cuda_tensor(frame, NULL);
    fc_frame_release(frame);
    tensor->deleter(tensor);
    should_release(&pair, 2);
    end(&pair);
}

static void should_copy_what_may_be_written_again(void) {
    struct pair pair;
    begin(&pair, FAKE_URI "|device=cuda:0|delivery=latest", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 3000, false);
    const fc_frame *frame = next(&pair);
    memset(pair.segment.bytes, 0xee, 3000);
    const void *address;
    CHECK_NUMBER(FC_OK, fc_frame_device(frame, stream, &address, NULL));
    should_lie_on_the_device(address, 3000, 0);
    CHECK_NUMBER(1, cuda.live("pinned"));
    fc_frame_release(frame);
    end(&pair);
}

/* Another process's device memory, whose place p holds 100 + p. */
struct exporter {
    pid_t process;
    int stays;
    char handle[2 * 64 + 1];
};

static void export_memory(int to, int stays) {
    uint64_t memory;
    uint8_t handle[64];
    open_device();
    CHECK(cuda.allocate(&memory, PLACES * PLACE_BYTES) == 0);
    for (int i = 0; i < PLACES; i++) {
        CHECK(cuda.fill(memory + (uint64_t)i * PLACE_BYTES, (unsigned char)(100 + i), PLACE_BYTES, stream) == 0);
    }
    CHECK(cuda.stream_synchronize(stream) == 0 && cuda.ipc_handle(handle, memory) == 0);
    char text[129];
    for (int i = 0; i < 64; i++) {
        snprintf(text + 2 * i, 3, "%02x", handle[i]);
    }
    CHECK(write(to, text, 128) == 128);
    char none;
    if (read(stays, &none, 1) < 0) {
        exit(1);
    }
    exit(0);
}

static void exporter_start(struct exporter *exporter) {
    int said[2];
    int stays[2];
    CHECK(pipe(said) == 0 && pipe(stays) == 0);
    exporter->process = fork();
    if (exporter->process == 0) {
        close(stays[1]);
        export_memory(said[1], stays[0]);
    }
    close(stays[0]);
    exporter->stays = stays[1];
    CHECK_NUMBER(128, read(said[0], exporter->handle, 128));
    close(said[0]);
    close(said[1]);
}

static void exporter_end(struct exporter *exporter) {
    int status;
    kill(exporter->process, SIGKILL);
    close(exporter->stays);
    CHECK(waitpid(exporter->process, &status, 0) == exporter->process);
}

static int64_t its_record(int64_t field) {
    return FC_LAYOUT_DEVICES_PLACE + EXPORTER * FC_LAYOUT_DEVICE_BYTES + field;
}

static void offer(struct fake_segment *segment, const struct exporter *exporter, int64_t id) {
    fake_set32(segment, fake_member(EXPORTER, FC_LAYOUT_MEMBER_STATE), FC_LAYOUT_MEMBER_ACTIVE);
    fake_set64(segment, fake_member(EXPORTER, FC_LAYOUT_MEMBER_RELEASED), FC_LAYOUT_NOTHING_HELD);
    fake_set64(segment, its_record(FC_LAYOUT_DEVICE_IDENTITY), 0x7374756220475055);
    fake_set64(segment, its_record(FC_LAYOUT_DEVICE_IDENTITY) + 8, 0x206e756d62657230);
    fake_set64(segment, its_record(FC_LAYOUT_DEVICE_ID), id);
    fake_set32(segment, its_record(FC_LAYOUT_DEVICE_PROCESS), exporter->process);
    fake_set64(segment, its_record(FC_LAYOUT_DEVICE_NAMESPACE), fci_pid_namespace());
    fake_set32(segment, its_record(FC_LAYOUT_DEVICE_SLOTS), PLACES);
    fake_set64(segment, its_record(FC_LAYOUT_DEVICE_SLOT_BYTES), PLACE_BYTES);
    fake_set64(segment, its_record(FC_LAYOUT_DEVICE_MEMORY_BYTES), PLACES * PLACE_BYTES);
    fake_set32(segment, its_record(FC_LAYOUT_DEVICE_HANDLE_BYTES), 128);
    memcpy(segment->words + its_record(FC_LAYOUT_DEVICE_HANDLE), exporter->handle, 128);
    fake_set32(segment, its_record(FC_LAYOUT_DEVICE_STATE), FC_LAYOUT_OFFERED);
}

static void fill(struct fake_segment *segment, int place, int64_t number) {
    fake_set64(segment, its_record(FC_LAYOUT_DEVICE_SLOT) + place * 8, number + 1);
    fake_set64(segment, its_record(FC_LAYOUT_DEVICE_DECIDED), number + 1);
}

static void should_be_open(struct fake_segment *segment, int64_t id) {
    struct timespec rest = {.tv_nsec = 1000000};
    for (int i = 0; i < WAIT_MS && fake_get64(segment, own_record(FC_LAYOUT_DEVICE_USES)) != id; i++) {
        nanosleep(&rest, NULL);
    }
    CHECK_NUMBER(id, fake_get64(segment, own_record(FC_LAYOUT_DEVICE_USES)));
}

/* The first frame comes from the ring: the library looks for offers when it reads. */
static void first_is_from_the_ring(struct pair *pair) {
    fake_publish(&pair->leader, &pair->segment, 0, 100, false);
    const fc_frame *frame = next(pair);
    CHECK((frame->flags & (FC_FRAME_DEVICE_PEER | FC_FRAME_DEVICE_SHARED)) == 0);
    fc_frame_release(frame);
    struct timespec rest = {.tv_nsec = 20000000};
    nanosleep(&rest, NULL);
}

static void should_copy_from_another_process(void) {
    struct pair pair;
    struct exporter exporter;
    exporter_start(&exporter);
    open_device();
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    first_is_from_the_ring(&pair);
    offer(&pair.segment, &exporter, 77);
    should_be_open(&pair.segment, 77);
    fill(&pair.segment, 2, 1);
    fake_publish(&pair.leader, &pair.segment, 1, 100, false);
    const fc_frame *frame = next(&pair);
    const void *address;
    CHECK((frame->flags & FC_FRAME_DEVICE_PEER) != 0);
    CHECK_NUMBER(0, fake_get64(&pair.segment, own_record(FC_LAYOUT_DEVICE_HOLDS)));
    CHECK_NUMBER(FC_OK, fc_frame_device(frame, stream, &address, NULL));
    should_lie_on_the_device(address, 100, 102);
    fc_frame_release(frame);
    /* No place has it, and none will. */
    fake_set64(&pair.segment, its_record(FC_LAYOUT_DEVICE_DECIDED), 3);
    fake_publish(&pair.leader, &pair.segment, 2, 100, false);
    frame = next(&pair);
    CHECK((frame->flags & FC_FRAME_DEVICE_PEER) == 0);
    fc_frame_release(frame);
    /* Nor is it decided ever. */
    fake_publish(&pair.leader, &pair.segment, 3, 100, false);
    frame = next(&pair);
    CHECK((frame->flags & FC_FRAME_DEVICE_PEER) == 0);
    CHECK_NUMBER(FC_OK, fc_frame_device(frame, stream, &address, NULL));
    should_lie_on_the_device(address, 100, 3);
    fc_frame_release(frame);
    /* The offer is taken back. */
    fake_set32(&pair.segment, its_record(FC_LAYOUT_DEVICE_STATE), 0);
    should_be_open(&pair.segment, 0);
    CHECK_NUMBER(0, cuda.live("imported"));
    end(&pair);
    close_device();
    exporter_end(&exporter);
}

static void should_read_in_place_where_that_is_asked_for(void) {
    struct pair pair;
    struct exporter exporter;
    exporter_start(&exporter);
    open_device();
    begin(&pair, FAKE_URI "|device=cuda:0|placement=shared", 0);
    first_is_from_the_ring(&pair);
    offer(&pair.segment, &exporter, 78);
    should_be_open(&pair.segment, 78);
    fill(&pair.segment, 3, 1);
    fake_publish(&pair.leader, &pair.segment, 1, 100, false);
    const fc_frame *frame = next(&pair);
    const void *address;
    CHECK((frame->flags & FC_FRAME_DEVICE_SHARED) != 0);
    CHECK_NUMBER(1 << 3, fake_get64(&pair.segment, own_record(FC_LAYOUT_DEVICE_HOLDS)));
    CHECK_NUMBER(FC_OK, fc_frame_device(frame, stream, &address, NULL));
    should_lie_on_the_device(address, 100, 103);
    /* The memory stays open while it is read. */
    fake_set32(&pair.segment, its_record(FC_LAYOUT_DEVICE_STATE), 0);
    struct timespec rest = {.tv_nsec = 50000000};
    nanosleep(&rest, NULL);
    CHECK_NUMBER(78, fake_get64(&pair.segment, own_record(FC_LAYOUT_DEVICE_USES)));
    fc_frame_release_on(frame, stream);
    should_release(&pair, 2);
    should_be_open(&pair.segment, 0);
    end(&pair);
    close_device();
    exporter_end(&exporter);
}

/* A program that reads no more does not keep another one's memory. */
static void should_close_the_memory_behind_the_end(void) {
    struct pair pair;
    struct exporter exporter;
    exporter_start(&exporter);
    open_device();
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    first_is_from_the_ring(&pair);
    offer(&pair.segment, &exporter, 81);
    should_be_open(&pair.segment, 81);
    fake_become(&pair.leader, &pair.segment, FC_LAYOUT_END_OF_STREAM);
    fake_stop(&pair.leader);
    const fc_frame *frame;
    CHECK_NUMBER(FC_END_OF_STREAM, fc_next(pair.subscriber, WAIT_MS, &frame, NULL));
    struct timespec rest = {.tv_nsec = 100000000};
    nanosleep(&rest, NULL);
    fake_set32(&pair.segment, its_record(FC_LAYOUT_DEVICE_STATE), 0);
    should_be_open(&pair.segment, 0);
    fc_close(pair.subscriber);
    fake_segment_free(&pair.segment);
    close_device();
    exporter_end(&exporter);
}

static void should_copy_from_the_ring_when_the_other_process_died(void) {
    struct pair pair;
    struct exporter exporter;
    exporter_start(&exporter);
    open_device();
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    first_is_from_the_ring(&pair);
    offer(&pair.segment, &exporter, 79);
    should_be_open(&pair.segment, 79);
    exporter_end(&exporter);
    fill(&pair.segment, 1, 1);
    fake_publish(&pair.leader, &pair.segment, 1, 100, false);
    const fc_frame *frame = next(&pair);
    const void *address;
    CHECK((frame->flags & FC_FRAME_DEVICE_PEER) == 0);
    CHECK_NUMBER(FC_OK, fc_frame_device(frame, stream, &address, NULL));
    should_lie_on_the_device(address, 100, 1);
    fc_frame_release(frame);
    end(&pair);
    close_device();
}

/* Of a process that stands still: no place has any frame, while the ring is written over and over. */
static bool given;

static void *write_over(void *argument) {
    struct pair *pair = argument;
    struct timespec rest = {.tv_nsec = 10000000};
    for (int64_t number = 1; number < 200 && !__atomic_load_n(&given, __ATOMIC_SEQ_CST); number++) {
        fake_set64(&pair->segment, FC_LAYOUT_FREED_AT, pair->segment.published);
        fake_publish(&pair->leader, &pair->segment, number, 100, false);
        nanosleep(&rest, NULL);
    }
    return NULL;
}

static void should_wait_a_tenth_of_a_second_at_most(void) {
    struct pair pair;
    struct exporter exporter;
    pthread_t writer;
    exporter_start(&exporter);
    open_device();
    begin(&pair, FAKE_URI "|device=cuda:0|delivery=latest", 0);
    first_is_from_the_ring(&pair);
    offer(&pair.segment, &exporter, 80);
    should_be_open(&pair.segment, 80);
    CHECK(pthread_create(&writer, NULL, write_over, &pair) == 0);
    struct timespec from;
    struct timespec to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    const fc_frame *frame = next(&pair);
    clock_gettime(CLOCK_MONOTONIC, &to);
    CHECK((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 < 1000);
    CHECK((frame->flags & FC_FRAME_DEVICE_PEER) == 0);
    fc_frame_release(frame);
    __atomic_store_n(&given, true, __ATOMIC_SEQ_CST);
    CHECK(pthread_join(writer, NULL) == 0);
    end(&pair);
    close_device();
    exporter_end(&exporter);
}

static void should_refuse_offers_that_make_no_sense(void) {
    struct pair pair;
    struct exporter exporter;
    exporter_start(&exporter);
    open_device();
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    first_is_from_the_ring(&pair);
    for (int i = 0; i < 7; i++) {
        offer(&pair.segment, &exporter, 90 + i);
        switch (i) {
        case 0: fake_set32(&pair.segment, its_record(FC_LAYOUT_DEVICE_SLOTS), 65); break;
        case 1: fake_set64(&pair.segment, its_record(FC_LAYOUT_DEVICE_SLOT_BYTES), INT64_MAX); break;
        case 2: fake_set64(&pair.segment, its_record(FC_LAYOUT_DEVICE_IDENTITY), 1); break;
        /* Of a process of another container, whose number may be that of one here. */
        case 3: fake_set64(&pair.segment, its_record(FC_LAYOUT_DEVICE_NAMESPACE), 1); break;
        case 4: pair.segment.words[its_record(FC_LAYOUT_DEVICE_HANDLE)] = 'x'; break;
        case 5: fake_set32(&pair.segment, its_record(FC_LAYOUT_DEVICE_HANDLE_BYTES), INT32_MAX); break;
        /* Longer than the memory is. */
        default:
            fake_set64(&pair.segment, its_record(FC_LAYOUT_DEVICE_SLOT_BYTES), 2 * PLACE_BYTES);
            fake_set64(&pair.segment, its_record(FC_LAYOUT_DEVICE_MEMORY_BYTES), 2 * PLACES * PLACE_BYTES);
        }
        fake_publish(&pair.leader, &pair.segment, i + 1, 100, false);
        const fc_frame *frame = next(&pair);
        CHECK((frame->flags & FC_FRAME_DEVICE_PEER) == 0);
        fc_frame_release(frame);
        struct timespec rest = {.tv_nsec = 20000000};
        nanosleep(&rest, NULL);
        CHECK_NUMBER(0, fake_get64(&pair.segment, own_record(FC_LAYOUT_DEVICE_USES)));
    }
    CHECK_NUMBER(0, cuda.live("imported"));
    end(&pair);
    close_device();
    exporter_end(&exporter);
}

static void should_say_what_is_missing(void) {
    fc_subscriber *none;
    fc_error error;
    fc_options options = FC_OPTIONS_DEFAULT;
    options.cuda_device = 5;
    CHECK_NUMBER(FC_E_DEVICE, fc_subscribe(FAKE_URI, &options, &none, &error));
    CHECK_TEXT("cuda:5: this process sees 1 GPUs; name one below that, and look at CUDA_VISIBLE_DEVICES", error.text);
    CHECK_NUMBER(FC_E_URI, fc_subscribe(FAKE_URI "|device=cuda:x", NULL, &none, &error));
    /* A device that is asked for elsewhere, and not here. */
    options.cuda_device = -3;
    CHECK_NUMBER(FC_E_ARGUMENT, fc_subscribe(FAKE_URI, &options, &none, &error));
    CHECK_TEXT("fc_subscribe: cuda_device: expected a GPU from 0 on, FC_DEVICE_OF_URI or FC_DEVICE_NONE, got -3", error.text);
    options.cuda_device = FC_DEVICE_NONE;
    options.leader_wait_ms = 0;
    CHECK_NUMBER(FC_E_NO_LEADER, fc_subscribe(FAKE_URI "|device=cuda:7", &options, &none, &error));
}

static void should_end_when_the_device_has_no_room(void) {
    struct pair pair;
    begin(&pair, FAKE_URI "|device=cuda:0", 0);
    fake_publish(&pair.leader, &pair.segment, 0, 100, false);
    cuda.fail("cuMemAlloc_v2", 2);
    const fc_frame *frame;
    fc_error error;
    CHECK_NUMBER(FC_E_DEVICE, fc_next(pair.subscriber, WAIT_MS, &frame, &error));
    cuda.fail("", 0);
    CHECK(strncmp(error.text, "cuda:0: a copy to the device gave 2", 35) == 0);
    CHECK(strstr(error.text, "for a frame of 100 bytes; is memory left there") != NULL);
    end(&pair);
}

static void should_need_no_driver(void) {
    pid_t child = fork();
    if (child == 0) {
        setenv("FRAMECAST_STUB_INIT", "100", 1);
        fc_subscriber *none;
        fc_error error;
        CHECK_NUMBER(FC_E_DEVICE, fc_subscribe(FAKE_URI "|device=cuda:0", NULL, &none, &error));
        CHECK(strncmp(error.text, "cuda: the CUDA driver does not start: cuInit gave 100", 53) == 0);
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void should_leave_nothing(void) {
    static const char *const KINDS[] = {"contexts", "device", "imported", "registered", "pinned", "streams", "events"};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        CHECK_NUMBER(0, cuda.live(KINDS[i]));
    }
}

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL || dlsym(library, "framecast_stub_live") == NULL) {
        printf("device_test: skipped, no stub of libcuda.so.1 in LD_LIBRARY_PATH\n");
        return 0;
    }
    fake_directory();
    find_all();
    should_need_no_driver();
    should_copy_from_another_process();
    should_read_in_place_where_that_is_asked_for();
    should_close_the_memory_behind_the_end();
    should_copy_from_the_ring_when_the_other_process_died();
    should_wait_a_tenth_of_a_second_at_most();
    should_refuse_offers_that_make_no_sense();
    open_device();
    should_copy_frames();
    should_keep_the_ring_until_it_is_copied();
    should_wait_on_the_host();
    should_release_when_the_stream_has_come_that_far();
    should_wait_for_streams_when_it_is_closed();
    should_give_tensors();
    should_copy_what_may_be_written_again();
    should_say_what_is_missing();
    should_end_when_the_device_has_no_room();
    close_device();
    should_leave_nothing();
    printf("device_test: %d checks\n", checks);
    return 0;
}
