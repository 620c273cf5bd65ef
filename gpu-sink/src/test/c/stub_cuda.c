/*
 * A libcuda.so.1 for tests: no GPU, but the rules of one, so that a wrong call shows.
 *
 * - Device memory lies behind addresses that are no pointers; ranges are checked.
 * - Work is queued per stream and done late: when something waits for it, or one command per cuEventQuery or
 *   cuStreamQuery. A program that reads before it waits
 *   reads old bytes. Copies from memory that is neither pinned nor registered are done at once,
 *   as a driver does by staging them.
 * - To free memory or to unload a module waits for all work of all streams, persistent kernels too.
 * - A call without a current context or in another than the primary one, with a stale handle, or with host memory where
 *   device memory belongs, fails. Each thread has a stack of contexts; any may make one of its own by cuCtxCreate.
 * - Device memory is a memory file, which other processes open by a handle (cuIpc…): process, descriptor and the file's
 *   own number. A handle is refused in the process that made it. To free memory that a living process has open fails,
 *   and memory whose process is dead reads as 0xDE: both are undefined on a GPU.
 * - Every call is counted by name; framecast_stub_live says what was made and not freed.
 *
 * Functions not here come from a generated file of weak functions that answer 801 (CUDA_ERROR_NOT_SUPPORTED).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600,
    ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, NOT_SUPPORTED = 801
};

#define DEVICE_BIT (1ULL << 61)
#define MEMORY_BYTES (1ULL << 30)
#define RANGES_MAX 4096
#define ARGUMENTS_MAX 32
#define NAMES_MAX 512
#define CONTEXTS_MAX 64
#define PROCESSORS 4
#define PROCESSOR_THREADS 1024
#define PROCESSOR_BLOCKS 16

/* fd and owner: of device memory that is a file of this process, or of another one. */
typedef struct { uint64_t start; uint64_t bytes; char *memory; int fd, owner; uint64_t id; } Range;
typedef struct Stream Stream;
typedef struct Event { int magic; Stream *stream; uint64_t position; } Event;
typedef struct Command {
    enum { COPY, FILL, WAIT, LAUNCH } kind;
    char *to; const char *from; uint64_t bytes; unsigned char value;
    /* Of a copy of rows; one row, unless it is said. */
    uint64_t rows, to_pitch, from_pitch;
    Stream *other; uint64_t position;
    const char *kernel; uint64_t arguments[ARGUMENTS_MAX]; unsigned blocks; void *running;
    struct Command *next;
} Command;
struct Stream { int magic; uint64_t enqueued, done; Command *first, *last; Stream *next_open; };
typedef struct { int magic; char *ptx; } Module;

enum { STREAM_MAGIC = 0x57524541, EVENT_MAGIC = 0x4556454E, MODULE_MAGIC = 0x4D4F4455 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local void *current[CONTEXTS_MAX];
static _Thread_local int depth;
static int initialized, contexts, context_token, other_token;
static Range device[RANGES_MAX], pinned[RANGES_MAX], registered[RANGES_MAX], imported[RANGES_MAX];
static uint64_t device_bytes, allocated;
static int streams, events, modules;
static Stream *open_streams;
static struct { const char *name; long count; } calls[NAMES_MAX];

void framecast_stub_count(const char *name) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < NAMES_MAX; i++) {
        if (!calls[i].name) calls[i].name = name;
        if (strcmp(calls[i].name, name) == 0) { calls[i].count++; break; }
    }
    pthread_mutex_unlock(&lock);
}

long framecast_stub_calls(const char *name) {
    long count = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < NAMES_MAX && calls[i].name; i++) {
        if (strcmp(calls[i].name, name) == 0) count = calls[i].count;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

static void *top(void) { return depth ? current[depth - 1] : 0; }

/* How many contexts lie on the calling thread's stack. */
int framecast_stub_depth(void) { return depth; }

static int live(const Range *ranges) {
    int count = 0;
    for (int i = 0; i < RANGES_MAX; i++) count += ranges[i].bytes != 0;
    return count;
}

long framecast_stub_live(const char *what) {
    pthread_mutex_lock(&lock);
    const long count = !strcmp(what, "contexts") ? contexts : !strcmp(what, "device") ? live(device)
            : !strcmp(what, "imported") ? live(imported) : !strcmp(what, "pinned") ? live(pinned) : !strcmp(what, "registered") ? live(registered)
            : !strcmp(what, "streams") ? streams : !strcmp(what, "events") ? events
            : !strcmp(what, "modules") ? modules : -1;
    pthread_mutex_unlock(&lock);
    return count;
}

static Range *find(Range *ranges, uint64_t at, uint64_t bytes) {
    for (int i = 0; i < RANGES_MAX; i++) {
        if (ranges[i].bytes && at >= ranges[i].start && at - ranges[i].start <= ranges[i].bytes
                && bytes <= ranges[i].bytes - (at - ranges[i].start)) return &ranges[i];
    }
    return 0;
}

static Range *starting(Range *ranges, uint64_t start) {
    for (int i = 0; i < RANGES_MAX; i++) {
        if (ranges[i].bytes && ranges[i].start == start) return &ranges[i];
    }
    return 0;
}

static Range *unused(Range *ranges) {
    for (int i = 0; i < RANGES_MAX; i++) if (!ranges[i].bytes) return &ranges[i];
    return 0;
}

/* A process that ended and was not waited for still has a number. */
static int lives(int process) {
    char path[64], target[8];
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    return readlink(path, target, sizeof target) > 0;
}

/* Behind the bytes, in a page of its own: the processes that have the memory open. */
enum { IMPORTERS_MAX = 64, PAGE = 4096 };

static uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) & ~(uint64_t) (PAGE - 1); }

static int *importers(const Range *range) { return (int *) (range->memory + pages(range->bytes)); }

static char *map_file(int fd, uint64_t bytes) {
    char *memory = mmap(0, pages(bytes) + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? 0 : memory;
}

static void unmap(Range *range) {
    munmap(range->memory, pages(range->bytes) + PAGE);
    close(range->fd);
    range->bytes = 0;
}

static char *resolve(uint64_t at, uint64_t bytes) {
    Range *range = find(device, at, bytes);
    if (!range) {
        range = find(imported, at, bytes);
        if (range && !lives(range->owner)) memset(range->memory, 0xDE, range->bytes);
    }
    return range ? range->memory + (at - range->start) : 0;
}

/* The kernels this device knows, in C; the driver would compile them from the PTX. */
static void contract_add(const uint64_t *a) {
    char *to = resolve(a[0], a[2]), *from = resolve(a[1], a[2]);
    for (uint64_t i = 0; to && from && i < a[2]; i++) to[i] = (char) (from[i] + a[3]);
}

static void gather(const uint64_t *a) {
    for (int i = 0; i < 30; i += 3) {
        char *to = resolve(a[i], a[i + 2]), *from = resolve(a[i + 1], a[i + 2]);
        if (a[i + 2] && to && from) memcpy(to, from, a[i + 2]);
    }
}

static int ends_by_itself(const char *kernel) {
    return !strcmp(kernel, "contract_add") || !strcmp(kernel, "framecast_gather");
}

/* Persistent kernels, on threads of their own, where stub_kernels.cpp was linked in. */
__attribute__((weak)) void *framecast_stub_start(const char *name, unsigned blocks, const uint64_t *arguments);
__attribute__((weak)) int framecast_stub_ended(void *running);

static int persistent(const Command *c) { return c->kind == LAUNCH && !ends_by_itself(c->kernel); }

/* spin.ptx: says that it runs, and ends by the clock. */
static int spins(const char *kernel) { return !strcmp(kernel, "framecast_spin"); }

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *start(const Command *c) {
    if (!spins(c->kernel)) return framecast_stub_start(c->kernel, c->blocks, c->arguments);
    *(volatile int *) c->arguments[1] = 1;
    uint64_t *until = malloc(sizeof *until);
    *until = now_ns() + c->arguments[0];
    return until;
}

static int ended(const Command *c) {
    return spins(c->kernel) ? now_ns() >= *(uint64_t *) c->running : framecast_stub_ended(c->running);
}

/* Stops before a persistent kernel that has not ended. */
static void run_until(Stream *s, uint64_t position) {
    while (s->done < position && s->first) {
        Command *c = s->first;
        if (persistent(c)) {
            /* Blocks that wait for each other and are not resident at once: it never ends. */
            if (c->blocks > PROCESSORS * PROCESSOR_BLOCKS) return;
            if (!c->running) c->running = start(c);
            if (!ended(c)) return;
        }
        for (uint64_t row = 0; c->kind == COPY && row < c->rows; row++) {
            memmove(c->to + row * c->to_pitch, c->from + row * c->from_pitch, c->bytes);
        }
        if (c->kind == FILL) memset(c->to, c->value, c->bytes);
        if (c->kind == LAUNCH && !persistent(c)) (strcmp(c->kernel, "contract_add") ? gather : contract_add)(c->arguments);
        if (c->kind == WAIT) {
            for (Stream *o = open_streams; o; o = o->next_open) if (o == c->other) run_until(o, c->position);
        }
        s->first = c->next;
        s->done++;
        free(c);
    }
}

/* Waits, as a driver does, also for persistent kernels; others may call meanwhile. */
static void wait_until(Stream *s, uint64_t position) {
    run_until(s, position);
    while (s->done < position) {
        pthread_mutex_unlock(&lock);
        usleep(50);
        pthread_mutex_lock(&lock);
        run_until(s, position);
    }
}

static void run_all(void) {
    for (Stream *s = open_streams; s; s = s->next_open) wait_until(s, s->enqueued);
}

static Command *enqueue(Stream *s, int kind) {
    Command *c = calloc(1, sizeof *c);
    c->kind = kind;
    if (s->first) s->last->next = c; else s->first = c;
    s->last = c;
    s->enqueued++;
    return c;
}

/* CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, as one. NULL is refused: a program that means it says so. */
static Stream default_stream = {.magic = STREAM_MAGIC};

static Stream *stream_of(void *h) {
    if (h == (void *) 1 || h == (void *) 2) {
        Stream **end = &open_streams;
        while (*end && *end != &default_stream) end = &(*end)->next_open;
        *end = &default_stream;
        return *end;
    }
    for (Stream *s = open_streams; s; s = s->next_open) if (s == h) return s;
    return 0;
}

/* Failures that a test asks for: of one function, or of all that need a context, from now on. */
static char failing[64];
static int failing_code, broken_code;

void framecast_stub_fail(const char *name, int code) {
    pthread_mutex_lock(&lock);
    strncpy(failing, name, sizeof failing - 1);
    failing_code = code;
    pthread_mutex_unlock(&lock);
}

void framecast_stub_break(int code) { pthread_mutex_lock(&lock); broken_code = code; pthread_mutex_unlock(&lock); }

/* The objects of a context go with its last reference. */
void framecast_stub_reset(void) {
    pthread_mutex_lock(&lock);
    if (!contexts) {
        for (int i = 0; i < RANGES_MAX; i++) {
            if (device[i].bytes) unmap(&device[i]);
            if (imported[i].bytes) unmap(&imported[i]);
            if (pinned[i].bytes) free(pinned[i].memory);
            device[i].bytes = pinned[i].bytes = registered[i].bytes = 0;
        }
        device_bytes = 0;
        streams = events = modules = 0;
        open_streams = 0;
    }
    pthread_mutex_unlock(&lock);
}

static int planned(const char *name) { return strcmp(name, failing) ? OK : failing_code; }

/* ENTER counts the call and takes the lock; LEAVE gives it back and answers. */
#define ENTER framecast_stub_count(__func__); pthread_mutex_lock(&lock); int answer = planned(__func__); \
    if (answer) goto leave;
#define FAIL(code) do { answer = (code); goto leave; } while (0)
#define LEAVE leave: pthread_mutex_unlock(&lock); return answer;
#define NEEDS_CONTEXT if (broken_code) FAIL(broken_code); if (top() != &context_token || !contexts) FAIL(INVALID_CONTEXT);
#define NEEDS_STREAM(h) NEEDS_CONTEXT Stream *s = stream_of(h); if (!s) FAIL(INVALID_HANDLE);
#define NEEDS_EVENT(h) Event *e = (h); if (!e || e->magic != EVENT_MAGIC) FAIL(INVALID_HANDLE);

int cuInit(unsigned flags) {
    ENTER
    (void) flags;
    const char *code = getenv("FRAMECAST_STUB_INIT");
    if (code) FAIL(atoi(code));
    initialized = 1;
    LEAVE
}

int cuDriverGetVersion(int *version) { ENTER *version = 12060; goto leave; LEAVE }

int cuDeviceGetCount(int *count) { ENTER if (!initialized) FAIL(NOT_INITIALIZED); *count = 1; LEAVE }

int cuDeviceGet(int *dev, int ordinal) { ENTER if (ordinal) FAIL(INVALID_DEVICE); *dev = 0; LEAVE }

int cuDeviceGetName(char *name, int bytes, int dev) {
    ENTER
    if (dev) FAIL(INVALID_DEVICE);
    strncpy(name, "stub libcuda, no GPU", bytes);
    LEAVE
}

int cuDeviceGetPCIBusId(char *id, int bytes, int dev) {
    ENTER
    if (dev) FAIL(INVALID_DEVICE);
    strncpy(id, "0000:3B:00.0", bytes);
    LEAVE
}

int cuDeviceTotalMem_v2(size_t *bytes, int dev) { ENTER if (dev) FAIL(INVALID_DEVICE); *bytes = MEMORY_BYTES; LEAVE }

int cuDeviceGetAttribute(int *value, int which, int dev) {
    ENTER
    if (dev) FAIL(INVALID_DEVICE);
    /* 41: unified addresses; 124: dma-buf; 117: remote writes are flushed by the host, 118: no reader sees them in order. */
    *value = which == 75 ? 7 : which == 76 ? 5 : which == 16 ? PROCESSORS : which == 124 || which == 117 || which == 41 ? 1 : 0;
    LEAVE
}

int cuDevicePrimaryCtxRetain(void **ctx, int dev) {
    ENTER
    if (dev || !initialized) FAIL(INVALID_DEVICE);
    contexts++;
    *ctx = &context_token;
    LEAVE
}

int cuDevicePrimaryCtxRelease_v2(int dev) {
    ENTER
    if (dev || !contexts) FAIL(INVALID_CONTEXT);
    contexts--;
    LEAVE
}

static int is_context(void *ctx) { return ctx == &other_token || (ctx == &context_token && contexts); }

int cuCtxSetCurrent(void *ctx) {
    ENTER
    if (ctx == &context_token && broken_code == 709) FAIL(broken_code);
    if (ctx && !is_context(ctx)) FAIL(INVALID_CONTEXT);
    if (depth) depth--;
    if (ctx) current[depth++] = ctx;
    LEAVE
}

int cuCtxGetCurrent(void **ctx) { ENTER *ctx = top(); goto leave; LEAVE }

int cuCtxPushCurrent_v2(void *ctx) {
    ENTER
    if (ctx == &context_token && broken_code == 709) FAIL(broken_code);
    if (!is_context(ctx) || depth == CONTEXTS_MAX) FAIL(INVALID_CONTEXT);
    current[depth++] = ctx;
    LEAVE
}

int cuCtxPopCurrent_v2(void **ctx) {
    ENTER
    if (!depth) FAIL(INVALID_CONTEXT);
    depth--;
    if (ctx) *ctx = current[depth];
    LEAVE
}

/* A user's own, in which nothing of the primary one is valid. */
int cuCtxCreate_v2(void **ctx, unsigned flags, int dev) {
    ENTER
    (void) flags;
    if (dev || !initialized || depth == CONTEXTS_MAX) FAIL(INVALID_DEVICE);
    *ctx = current[depth++] = &other_token;
    LEAVE
}

int cuCtxDestroy_v2(void *ctx) {
    ENTER
    if (ctx != &other_token) FAIL(INVALID_CONTEXT);
    if (top() == ctx) depth--;
    LEAVE
}

int cuGetErrorName(int code, const char **name) { ENTER *name = code ? "error of the stub" : "no error"; goto leave; LEAVE }

int cuGetErrorString(int code, const char **text) { ENTER *text = code ? "error of the stub" : "no error"; goto leave; LEAVE }

int cuMemGetInfo_v2(size_t *unused, size_t *total) {
    ENTER
    NEEDS_CONTEXT
    *unused = MEMORY_BYTES - device_bytes;
    *total = MEMORY_BYTES;
    LEAVE
}

/* With the lock. */
static int allocate(uint64_t *out, size_t bytes) {
    Range *range = unused(device);
    if (!bytes) return INVALID_VALUE;
    if (!range || bytes > MEMORY_BYTES - device_bytes) return OUT_OF_MEMORY;
    int fd = memfd_create("stub-gpu", MFD_CLOEXEC);
    if (fd < 0) return OUT_OF_MEMORY;
    char *memory = ftruncate(fd, pages(bytes) + PAGE) ? 0 : map_file(fd, bytes);
    if (!memory) { close(fd); return OUT_OF_MEMORY; }
    memset(memory, 0xA5, bytes);
    *range = (Range) {(uint64_t) memory | DEVICE_BIT, bytes, memory, fd, getpid(), ++allocated};
    device_bytes += bytes;
    *out = range->start;
    return OK;
}

int cuMemAlloc_v2(uint64_t *out, size_t bytes) { ENTER NEEDS_CONTEXT answer = allocate(out, bytes); goto leave; LEAVE }

/* Rows begin at multiples of 512 bytes, as on a GPU. */
int cuMemAllocPitch_v2(uint64_t *out, size_t *pitch, size_t width, size_t height, unsigned element) {
    ENTER
    NEEDS_CONTEXT
    if (!width || (element != 4 && element != 8 && element != 16)) FAIL(INVALID_VALUE);
    *pitch = (width + 511) & ~(size_t) 511;
    answer = allocate(out, *pitch * height);
    goto leave;
    LEAVE
}

int cuMemFree_v2(uint64_t start) {
    ENTER
    NEEDS_CONTEXT
    Range *range = starting(device, start);
    if (!range) FAIL(INVALID_VALUE);
    for (int i = 0; i < IMPORTERS_MAX; i++) if (importers(range)[i] && lives(importers(range)[i])) FAIL(INVALID_VALUE);
    run_all();
    device_bytes -= range->bytes;
    unmap(range);
    LEAVE
}

int cuMemGetAddressRange_v2(uint64_t *start, size_t *bytes, uint64_t at) {
    ENTER
    NEEDS_CONTEXT
    Range *range = find(device, at, 1);
    if (!range) range = find(imported, at, 1);
    if (!range) FAIL(INVALID_VALUE);
    *start = range->start;
    *bytes = range->bytes;
    LEAVE
}

int cuDeviceGetUuid(unsigned char *uuid, int dev) {
    ENTER
    if (dev) FAIL(INVALID_DEVICE);
    memcpy(uuid, "stub GPU number0", 16);
    LEAVE
}

int cuDeviceCanAccessPeer(int *can, int dev, int peer) {
    ENTER
    if (dev || peer) FAIL(INVALID_DEVICE);
    *can = 0;
    LEAVE
}

typedef struct { int process, fd; uint64_t inode, bytes; char rest[40]; } Handle;

int cuIpcGetMemHandle(Handle *handle, uint64_t start) {
    ENTER
    NEEDS_CONTEXT
    Range *range = starting(device, start);
    struct stat file;
    if (!range || fstat(range->fd, &file)) FAIL(INVALID_VALUE);
    *handle = (Handle) {getpid(), range->fd, file.st_ino, range->bytes, ""};
    LEAVE
}

int cuIpcOpenMemHandle_v2(uint64_t *out, Handle handle, unsigned flags) {
    ENTER
    NEEDS_CONTEXT
    Range *range = unused(imported);
    if (handle.process == getpid()) FAIL(INVALID_CONTEXT);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat file;
    if (fd < 0 || fstat(fd, &file) || file.st_ino != handle.inode || flags != 1 || !range) {
        if (fd >= 0) close(fd);
        FAIL(INVALID_VALUE);
    }
    char *memory = map_file(fd, handle.bytes);
    if (!memory) { close(fd); FAIL(OUT_OF_MEMORY); }
    *range = (Range) {(uint64_t) memory | DEVICE_BIT, handle.bytes, memory, fd, handle.process};
    for (int i = 0; i < IMPORTERS_MAX; i++) {
        int none = 0;
        if (__atomic_compare_exchange_n(importers(range) + i, &none, getpid(), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            break;
        }
    }
    *out = range->start;
    LEAVE
}

int cuIpcCloseMemHandle(uint64_t start) {
    ENTER
    NEEDS_CONTEXT
    Range *range = starting(imported, start);
    if (!range) FAIL(INVALID_VALUE);
    run_all();
    for (int i = 0; i < IMPORTERS_MAX; i++) {
        int own = getpid();
        if (__atomic_compare_exchange_n(importers(range) + i, &own, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break;
    }
    unmap(range);
    LEAVE
}

/* Attribute 7: the number of an allocation, which no other one ever has. */
int cuPointerGetAttribute(void *out, int attribute, uint64_t at) {
    ENTER
    NEEDS_CONTEXT
    Range *range = find(device, at, 1);
    if (!range || attribute != 7) FAIL(INVALID_VALUE);
    *(uint64_t *) out = range->id;
    LEAVE
}

/* A descriptor of something; no NIC ever sees it. */
int cuMemGetHandleForAddressRange(int *fd, uint64_t start, size_t bytes, int type, unsigned long long flags) {
    ENTER
    NEEDS_CONTEXT
    Range *range = find(device, start, bytes);
    if (!range || type != 1 || flags) FAIL(INVALID_VALUE);
    *fd = open("/dev/null", O_RDWR);
    LEAVE
}

int cuFlushGPUDirectRDMAWrites(int target, int scope) {
    ENTER
    NEEDS_CONTEXT
    if (target || scope != 100) FAIL(INVALID_VALUE);
    LEAVE
}

int cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    ENTER
    (void) flags;
    NEEDS_CONTEXT
    Range *range = unused(pinned);
    char *memory = range && bytes ? aligned_alloc(4096, (bytes + 4095) & ~(size_t) 4095) : 0;
    if (!memory) FAIL(OUT_OF_MEMORY);
    *range = (Range) {(uint64_t) memory, bytes, memory, -1, 0};
    *out = memory;
    LEAVE
}

int cuMemAllocHost_v2(void **out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

int cuMemFreeHost(void *start) {
    ENTER
    NEEDS_CONTEXT
    Range *range = starting(pinned, (uint64_t) start);
    if (!range) FAIL(INVALID_VALUE);
    run_all();
    free(range->memory);
    range->bytes = 0;
    LEAVE
}

/* Pages that cannot be written are pinned only with CU_MEMHOSTREGISTER_READ_ONLY. */
static int is_writable(void *start) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], may_write = 0;
    uint64_t from, to;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*c%c", &from, &to, &may_write) == 3 && (uint64_t) start - from < to - from) break;
    if (maps) fclose(maps);
    return may_write == 'w';
}

int cuMemHostRegister_v2(void *start, size_t bytes, unsigned flags) {
    ENTER
    NEEDS_CONTEXT
    if (!(flags & 8) && !is_writable(start)) FAIL(INVALID_VALUE);
    if (starting(registered, (uint64_t) start)) FAIL(ALREADY_REGISTERED);
    Range *range = unused(registered);
    if (!range || !bytes) FAIL(INVALID_VALUE);
    *range = (Range) {(uint64_t) start, bytes, 0, -1, 0};
    LEAVE
}

int cuMemHostUnregister(void *start) {
    ENTER
    NEEDS_CONTEXT
    Range *range = starting(registered, (uint64_t) start);
    if (!range) FAIL(NOT_REGISTERED);
    run_all();
    range->bytes = 0;
    LEAVE
}

/* Streams that wait for the legacy default one slow a program down: those of others are let through by the environment. */
int cuStreamCreate(void **out, unsigned flags) {
    ENTER
    NEEDS_CONTEXT
    if (flags != 1 && (flags || !getenv("FRAMECAST_STUB_BLOCKING_STREAMS"))) FAIL(INVALID_VALUE);
    Stream *s = calloc(1, sizeof *s);
    s->magic = STREAM_MAGIC;
    s->next_open = open_streams;
    open_streams = s;
    streams++;
    *out = s;
    LEAVE
}

int cuStreamDestroy_v2(void *h) {
    ENTER
    NEEDS_STREAM(h)
    wait_until(s, s->enqueued);
    for (Stream **p = &open_streams; *p; p = &(*p)->next_open) if (*p == s) { *p = s->next_open; break; }
    /* Not freed: an event may still point here, and finds it done. */
    streams--;
    LEAVE
}

/* GStreamer 1.22 looks for this name. */
int cuStreamDestroy(void *h) { return cuStreamDestroy_v2(h); }

int cuStreamQuery(void *h) {
    ENTER
    NEEDS_STREAM(h)
    if (s->done < s->enqueued) {
        run_until(s, s->done + 1);
        FAIL(NOT_READY);
    }
    LEAVE
}

int cuStreamSynchronize(void *h) { ENTER NEEDS_STREAM(h) wait_until(s, s->enqueued); LEAVE }

int cuStreamWaitEvent(void *h, void *event, unsigned flags) {
    ENTER
    NEEDS_STREAM(h)
    NEEDS_EVENT(event)
    if (flags) FAIL(INVALID_VALUE);
    if (e->stream) {
        Command *c = enqueue(s, WAIT);
        c->other = e->stream;
        c->position = e->position;
    }
    LEAVE
}

int cuEventCreate(void **out, unsigned flags) {
    ENTER
    NEEDS_CONTEXT
    if (!(flags & 2)) FAIL(INVALID_VALUE);
    Event *e = calloc(1, sizeof *e);
    e->magic = EVENT_MAGIC;
    events++;
    *out = e;
    LEAVE
}

int cuEventDestroy_v2(void *h) { ENTER NEEDS_CONTEXT NEEDS_EVENT(h) e->magic = 0; events--; LEAVE }

int cuEventRecord(void *h, void *stream) {
    ENTER
    NEEDS_STREAM(stream)
    NEEDS_EVENT(h)
    e->stream = s;
    e->position = s->enqueued;
    LEAVE
}

int cuEventQuery(void *h) {
    ENTER
    NEEDS_CONTEXT
    NEEDS_EVENT(h)
    if (e->stream && e->stream->done < e->position) {
        run_until(e->stream, e->stream->done + 1);
        FAIL(NOT_READY);
    }
    LEAVE
}

int cuEventSynchronize(void *h) {
    ENTER
    NEEDS_CONTEXT
    NEEDS_EVENT(h)
    if (e->stream) wait_until(e->stream, e->position);
    LEAVE
}

/* Queues a copy; from or to pageable memory it is done now. */
static void copy(Stream *s, char *to, const char *from, uint64_t bytes, const void *host) {
    Command *c = enqueue(s, COPY);
    c->to = to;
    c->from = from;
    c->bytes = bytes;
    c->rows = 1;
    if (host && !find(pinned, (uint64_t) host, bytes) && !find(registered, (uint64_t) host, bytes)) {
        run_until(s, s->enqueued);
    }
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *h) {
    ENTER
    NEEDS_STREAM(h)
    char *target = resolve(to, bytes);
    if (!target || (uint64_t) from & DEVICE_BIT) FAIL(INVALID_VALUE);
    copy(s, target, from, bytes, from);
    LEAVE
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *h) {
    ENTER
    NEEDS_STREAM(h)
    char *source = resolve(from, bytes);
    if (!source || (uint64_t) to & DEVICE_BIT) FAIL(INVALID_VALUE);
    copy(s, to, source, bytes, to);
    LEAVE
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *h) {
    ENTER
    NEEDS_STREAM(h)
    char *target = resolve(to, bytes), *source = resolve(from, bytes);
    if (!target || !source) FAIL(INVALID_VALUE);
    copy(s, target, source, bytes, 0);
    LEAVE
}

/* CUDA_MEMCPY2D. Memory type 1: of the host, 2: of the device. */
typedef struct {
    size_t from_x, from_y; int from_type; const void *from_host; uint64_t from_device; void *from_array; size_t from_pitch;
    size_t to_x, to_y; int to_type; void *to_host; uint64_t to_device; void *to_array; size_t to_pitch;
    size_t bytes, rows;
} Rows;

/* The first byte of the rows; 0 where they do not lie in memory of this type. */
static char *side(int type, const void *host, uint64_t at, size_t x, size_t y, size_t pitch, const Rows *rows) {
    const uint64_t begin = y * pitch + x, bytes = (rows->rows - 1) * pitch + rows->bytes;
    if (pitch < x + rows->bytes) return 0;
    if (type == 2) return resolve(at + begin, bytes);
    return type == 1 && host && !((uint64_t) host & DEVICE_BIT) ? (char *) host + begin : 0;
}

/* With the lock. */
static int copy_rows(Stream *s, const Rows *rows) {
    if (!rows->bytes || !rows->rows) return OK;
    char *to = side(rows->to_type, rows->to_host, rows->to_device, rows->to_x, rows->to_y, rows->to_pitch, rows);
    char *from = side(rows->from_type, rows->from_host, rows->from_device, rows->from_x, rows->from_y, rows->from_pitch, rows);
    if (!to || !from) return INVALID_VALUE;
    copy(s, to, from, rows->bytes, 0);
    s->last->rows = rows->rows;
    s->last->to_pitch = rows->to_pitch;
    s->last->from_pitch = rows->from_pitch;
    const char *host = rows->to_type == 1 ? to : rows->from_type == 1 ? from : 0;
    const uint64_t bytes = (rows->rows - 1) * (rows->to_type == 1 ? rows->to_pitch : rows->from_pitch) + rows->bytes;
    if (host && !find(pinned, (uint64_t) host, bytes) && !find(registered, (uint64_t) host, bytes)) run_until(s, s->enqueued);
    return OK;
}

int cuMemcpy2DAsync_v2(const Rows *rows, void *h) { ENTER NEEDS_STREAM(h) answer = copy_rows(s, rows); goto leave; LEAVE }

/* In the legacy default stream, and waited for: streams that do not wait for that one may still be at work. */
int cuMemcpy2D_v2(const Rows *rows) {
    ENTER
    NEEDS_STREAM((void *) 1)
    answer = copy_rows(s, rows);
    if (!answer) wait_until(s, s->enqueued);
    goto leave;
    LEAVE
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *h) {
    ENTER
    NEEDS_STREAM(h)
    char *target = resolve(to, bytes);
    if (!target) FAIL(INVALID_VALUE);
    Command *c = enqueue(s, FILL);
    c->to = target;
    c->value = value;
    c->bytes = bytes;
    LEAVE
}

int cuModuleLoadData(void **out, const void *image) {
    ENTER
    NEEDS_CONTEXT
    /* A JIT would read to the terminating NUL, as strstr does. */
    if (!strstr(image, ".version") || !strstr(image, ".target")) FAIL(INVALID_PTX);
    /* As a driver for CUDA 12.6, which knows PTX up to 8.5. */
    if (strtod(strstr(image, ".version") + 8, 0) > 8.5) FAIL(222);
    run_all();
    Module *m = calloc(1, sizeof *m);
    m->magic = MODULE_MAGIC;
    m->ptx = strdup(image);
    modules++;
    *out = m;
    LEAVE
}

int cuModuleUnload(void *h) {
    ENTER
    NEEDS_CONTEXT
    Module *m = h;
    if (!m || m->magic != MODULE_MAGIC) FAIL(INVALID_HANDLE);
    run_all();
    m->magic = 0;
    free(m->ptx);
    modules--;
    LEAVE
}

int cuModuleGetFunction(void **out, void *h, const char *name) {
    ENTER
    NEEDS_CONTEXT
    Module *m = h;
    if (!m || m->magic != MODULE_MAGIC) FAIL(INVALID_HANDLE);
    char entry[256] = ".entry ";
    strncat(entry, name, sizeof entry - 16);
    strcat(entry, "(");
    if (!strstr(m->ptx, entry)) FAIL(NOT_FOUND);
    *out = strdup(name);
    LEAVE
}

int cuFuncGetAttribute(int *value, int which, void *function) {
    ENTER
    (void) which;
    if (!function) FAIL(INVALID_HANDLE);
    *value = 1024;
    LEAVE
}

int cuFuncLoad(void *function) { ENTER if (!function) FAIL(INVALID_HANDLE); LEAVE }

/* As of a kernel that is short of nothing but threads. */
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
    ENTER
    NEEDS_CONTEXT
    if (!function) FAIL(INVALID_HANDLE);
    if (threads < 1 || shared) FAIL(INVALID_VALUE);
    *blocks = PROCESSOR_THREADS / threads < PROCESSOR_BLOCKS ? PROCESSOR_THREADS / threads : PROCESSOR_BLOCKS;
    LEAVE
}

int cuLaunchKernel(const char *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
        unsigned shared, void *h, void **parameters, void **extra) {
    ENTER
    NEEDS_STREAM(h)
    if (!gx || gy != 1 || gz != 1 || !bx || bx > 1024 || by != 1 || bz != 1 || shared || extra) FAIL(INVALID_VALUE);
    if (!ends_by_itself(function) && !spins(function) && !framecast_stub_start) FAIL(NOT_SUPPORTED);
    Command *c = enqueue(s, LAUNCH);
    for (int i = 0; i < ARGUMENTS_MAX; i++) c->arguments[i] = *(uint64_t *) parameters[i];
    c->kernel = function;
    c->blocks = gx;
    /* It starts by itself, for the program may never wait for it. */
    if (persistent(c)) run_until(s, s->enqueued);
    LEAVE
}
