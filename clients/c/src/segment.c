#include "segment.h"

#include "clock.h"
#include "device.h"
#include "error.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t load64(const struct fci_segment *segment, int64_t at) {
    return __atomic_load_n((const int64_t *)(const void *)(segment->words + at), __ATOMIC_SEQ_CST);
}

static int32_t load32(const struct fci_segment *segment, int64_t at) {
    return __atomic_load_n((const int32_t *)(const void *)(segment->words + at), __ATOMIC_SEQ_CST);
}

static void store64(struct fci_segment *segment, int64_t at, int64_t value) {
    if (!segment->foreign) {
        __atomic_store_n((int64_t *)(void *)(segment->words + at), value, __ATOMIC_SEQ_CST);
    }
}

static void store32(struct fci_segment *segment, int64_t at, int32_t value) {
    if (!segment->foreign) {
        __atomic_store_n((int32_t *)(void *)(segment->words + at), value, __ATOMIC_SEQ_CST);
    }
}

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

static int64_t place(int64_t number) {
    return number & (FC_LAYOUT_ENTRIES - 1);
}

static int64_t entry_at(int64_t number) {
    return FC_LAYOUT_TABLE_PLACE + place(number) * FC_LAYOUT_ENTRY_BYTES;
}

/* 2n + 2, of any number. */
static int64_t version_of(int64_t number) {
    return (int64_t)(2 * (uint64_t)number + 2);
}

static void wake_leader(const struct fci_segment *segment) {
    uint64_t one = 1;
    struct pollfd polled = {.fd = segment->leader, .events = POLLOUT, .revents = 0};
    /* Looked at first: any process that has it open may have made it block. */
    if (!segment->foreign && poll(&polled, 1, 0) == 1 && write(segment->leader, &one, sizeof one) < 0) {
        /* Its counter is full, or it is gone: it looks by itself. */
        return;
    }
}

/* A file that cannot be made shorter: touching a page behind its end would be SIGBUS. F_GET_SEALS gives −1 for what
 * is no memory file. */
static bool is_sealed(int descriptor, int64_t bytes) {
    struct stat found;
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(descriptor, &found) == 0 && found.st_size >= bytes;
}

/* Another kind of file could block who writes to it. */
static bool is_counter(int descriptor) {
    char path[32];
    char kind[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(path, kind, sizeof kind - 1);
    kind[length < 0 ? 0 : length] = 0;
    return strcmp(kind, "anon_inode:[eventfd]") == 0;
}

const uint8_t *fci_map_ring(int descriptor, int64_t bytes) {
    int64_t page = sysconf(_SC_PAGESIZE);
    if (bytes <= 0 || bytes > INT64_MAX / 4 || bytes % page != 0 || !is_sealed(descriptor, bytes)) {
        return NULL;
    }
    size_t length = (size_t)bytes;
    int reserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint8_t *base = mmap(NULL, 2 * length, PROT_NONE, reserve, -1, 0);
    if (base == MAP_FAILED) {
        return NULL;
    }
    int shared = MAP_SHARED | MAP_FIXED;
    if (mmap(base, length, PROT_READ, shared, descriptor, 0) == MAP_FAILED
        || mmap(base + length, length, PROT_READ, shared, descriptor, 0) == MAP_FAILED) {
        munmap(base, 2 * length);
        return NULL;
    }
    return base;
}

static uint8_t *map_words(int descriptor) {
    if (!is_sealed(descriptor, FC_LAYOUT_WORDS_BYTES)) {
        return NULL;
    }
    void *words = mmap(NULL, FC_LAYOUT_WORDS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return words == MAP_FAILED ? NULL : words;
}

/* By an open file of its own. That of the leader holds a lock, by which a successor sees that this process lives; a
 * mapping would keep it in the child of a fork. */
static uint8_t *map_own(int descriptor) {
    if (!is_sealed(descriptor, FC_LAYOUT_WORDS_BYTES)) {
        return NULL;
    }
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    uint8_t *words = map_words(opened >= 0 ? opened : descriptor);
    if (opened >= 0) {
        close(opened);
    }
    return words;
}

static fc_status check_header(const struct fci_segment *segment, fc_error *error) {
    if (load64(segment, FC_LAYOUT_MAGIC_AT) != FC_LAYOUT_MAGIC) {
        return fci_fail(error, FC_E_BROKEN, "host group: the leader (process %d) shared words without the magic number;"
                        " restart it", (int)segment->connection->leader);
    }
    int32_t version = load32(segment, FC_LAYOUT_VERSION_AT);
    if (version != FC_LAYOUT_VERSION) {
        return fci_fail(error, FC_E_VERSION, "host group: this program speaks layout %d of the host segment, the leader"
                        " (process %d) layout %d; run both from the same release", (int)FC_LAYOUT_VERSION,
                        (int)segment->connection->leader, version);
    }
    bool sound = load64(segment, FC_LAYOUT_WORDS_BYTES_AT) == FC_LAYOUT_WORDS_BYTES
                 && load32(segment, FC_LAYOUT_ENTRIES_AT) == FC_LAYOUT_ENTRIES
                 && load32(segment, FC_LAYOUT_MEMBERS_AT) == FC_LAYOUT_MEMBERS
                 && load64(segment, segment->member + FC_LAYOUT_MEMBER_FIRST) >= 0;
    return sound ? FC_OK
                 : fci_fail(error, FC_E_BROKEN, "host group: the leader (process %d) shared a header that makes no"
                            " sense; restart it", (int)segment->connection->leader);
}

/* The member says whether it takes frames from others' device memory, so that none waits for its answer. */
static void write_wish(struct fci_segment *segment, const struct fci_reading *reading) {
    segment->gpu = reading->gpu;
    segment->reads_in_place = reading->in_place;
    if (segment->gpu != NULL) {
        segment->pinned = fci_device_pin(segment->gpu, segment->ring, 2 * (uint64_t)segment->ring_bytes);
        store64(segment, segment->device + FC_LAYOUT_DEVICE_IDENTITY, segment->gpu->identity[0]);
        store64(segment, segment->device + FC_LAYOUT_DEVICE_IDENTITY + 8, segment->gpu->identity[1]);
    }
    store32(segment, segment->device + FC_LAYOUT_DEVICE_WISH, segment->gpu == NULL ? FC_LAYOUT_WANTS_NOT : FC_LAYOUT_TAKES);
}

static fc_status attach(struct fci_segment *segment, const struct fci_invitation *invitation,
                        const struct fci_reading *reading, fc_error *error) {
    int process = (int)segment->connection->leader;
    segment->words = map_own(segment->life);
    bool counters = is_counter(segment->waker) && is_counter(segment->leader);
    if (segment->words == NULL || !counters || invitation->member < 0) {
        return fci_fail(error, FC_E_BROKEN, "host group: the leader (process %d) shared no sealed words of %lld bytes, two"
                        " counters and a place; restart it", process, (long long)FC_LAYOUT_WORDS_BYTES);
    }
    fc_status status = check_header(segment, error);
    if (status != FC_OK) {
        return status;
    }
    segment->ring_bytes = load64(segment, FC_LAYOUT_RING_BYTES_AT);
    segment->ring = fci_map_ring(invitation->descriptors[0], segment->ring_bytes);
    if (segment->ring == NULL) {
        return fci_fail(error, FC_E_BROKEN, "host group: cannot map the ring of %lld bytes of the leader (process %d);"
                        " is it sealed, and does ulimit -v leave room for twice as much?",
                        (long long)segment->ring_bytes, process);
    }
    segment->frame_max = clamp(load64(segment, FC_LAYOUT_FRAME_MAX_AT), 1, segment->ring_bytes);
    segment->session = (uint64_t)load64(segment, FC_LAYOUT_SESSION_AT);
    segment->generation = (uint64_t)load64(segment, FC_LAYOUT_GENERATION_AT);
    segment->of_source = load32(segment, FC_LAYOUT_ORIGIN_AT) == FC_LAYOUT_SOURCE;
    segment->continues = load64(segment, FC_LAYOUT_PREDECESSOR_AT) != 0;
    segment->next = clamp(load64(segment, segment->member + FC_LAYOUT_MEMBER_FIRST), 0, INT64_MAX);
    segment->released = segment->next;
    segment->begun = reading->drops;
    segment->unheld = reading->drops && load32(segment, FC_LAYOUT_RETAINS_AT) != 0;
    fci_keep_begin(segment, invitation->descriptors[0]);
    if (segment->unheld) {
        fci_let_go(segment);
    }
    write_wish(segment, reading);
    return FC_OK;
}

struct fci_segment *fci_segment_map(struct fci_invitation *invitation, struct fci_connection *connection,
                                    const struct fci_reading *reading, fc_error *error) {
    struct fci_segment *segment = calloc(1, sizeof *segment);
    if (segment == NULL) {
        fci_fail(error, FC_E_RESOURCES, "host group: no memory for a segment");
        fci_dismiss(invitation);
        return NULL;
    }
    segment->references = 1;
    segment->connection = connection;
    segment->member = FC_LAYOUT_MEMBERS_PLACE + clamp(invitation->member, 0, FC_LAYOUT_MEMBERS - 1) * FC_LAYOUT_MEMBER_BYTES;
    segment->device = FC_LAYOUT_DEVICES_PLACE + clamp(invitation->member, 0, FC_LAYOUT_MEMBERS - 1) * FC_LAYOUT_DEVICE_BYTES;
    segment->reader = FC_LAYOUT_READERS_PLACE + clamp(invitation->member, 0, FC_LAYOUT_MEMBERS - 1) * FC_LAYOUT_READER_BYTES;
    segment->keep.descriptor = -1;
    segment->life = invitation->descriptors[1];
    segment->waker = invitation->descriptors[2];
    segment->leader = invitation->descriptors[3];
    fc_status status = attach(segment, invitation, reading, error);
    invitation->descriptors[1] = -1;
    invitation->descriptors[2] = -1;
    invitation->descriptors[3] = -1;
    fci_dismiss(invitation);
    if (status != FC_OK) {
        fci_segment_free(segment);
        return NULL;
    }
    return segment;
}

void fci_segment_free(struct fci_segment *segment) {
    if (segment->gpu != NULL) {
        fci_share_end(segment->gpu, segment);
    }
    if (segment->pinned && !segment->foreign) {
        fci_device_unpin(segment->gpu, segment->ring);
    }
    fci_keep_end(segment);
    if (segment->ring != NULL) {
        munmap((void *)(uintptr_t)segment->ring, 2 * (size_t)segment->ring_bytes);
    }
    if (segment->words != NULL) {
        munmap(segment->words, FC_LAYOUT_WORDS_BYTES);
    }
    if (segment->life >= 0) {
        close(segment->life);
    }
    if (segment->waker >= 0) {
        close(segment->waker);
    }
    if (segment->leader >= 0) {
        close(segment->leader);
    }
    free(segment);
}

int64_t fci_published(const struct fci_segment *segment) {
    return load64(segment, FC_LAYOUT_PUBLISHED_AT);
}

int64_t fci_heartbeat(const struct fci_segment *segment) {
    return load64(segment, FC_LAYOUT_HEARTBEAT_AT);
}

int fci_state(const struct fci_segment *segment) {
    int state = load32(segment, FC_LAYOUT_STATE_AT);
    if (state != FC_LAYOUT_RUNNING) {
        return state;
    }
    if (segment->complete) {
        return FC_LAYOUT_END_OF_STREAM;
    }
    /* Where the leader was the publisher, the source went with it. */
    return segment->of_source && segment->leader_lost ? (int)FC_LAYOUT_SOURCE_LOST : state;
}

bool fci_is_open(const struct fci_segment *segment) {
    return !segment->continues || load32(segment, FC_LAYOUT_OPEN_AT) != 0;
}

void fci_look_for_end(struct fci_segment *segment) {
    int state = fci_state(segment);
    if (segment->of_source || (state != FC_LAYOUT_RUNNING && state != FC_LAYOUT_JOINING)) {
        return;
    }
    int64_t copies[2] = {FC_LAYOUT_CHECKPOINTS_AT, FC_LAYOUT_CHECKPOINTS_AT + FC_LAYOUT_CHECKPOINT_BYTES};
    int64_t newest = 0;
    int64_t at = 0;
    for (int i = 0; i < 2; i++) {
        int64_t version = load64(segment, copies[i]);
        if (version > newest && (version & 1) == 0) {
            newest = version;
            at = copies[i];
        }
    }
    bool complete = newest > 0 && load32(segment, at + FC_LAYOUT_CHECKPOINT_COMPLETE) != 0;
    segment->complete |= complete && load64(segment, at) == newest;
}

static void report_released(struct fci_segment *segment) {
    store64(segment, segment->member + FC_LAYOUT_MEMBER_RELEASED, segment->released);
}

void fci_let_go(struct fci_segment *segment) {
    store64(segment, segment->member + FC_LAYOUT_MEMBER_RELEASED, FC_LAYOUT_NOTHING_HELD);
}

static bool has_next(const struct fci_segment *segment) {
    return fci_published(segment) > segment->next;
}

/* Under reliable: nothing is missed from the entry on at which the source was asked to wait for the leader. What was
 * published before is released. */
static bool has_begun(struct fci_segment *segment) {
    if (segment->begun) {
        return true;
    }
    bool waits = load32(segment, FC_LAYOUT_WAITS_AT) != 0;
    int64_t from = load64(segment, FC_LAYOUT_WAITED_FROM_AT);
    int64_t published = fci_published(segment);
    int64_t limit = from < published ? from : published;
    if (limit > segment->next) {
        segment->next = limit;
        segment->released = limit;
        report_released(segment);
        wake_leader(segment);
    }
    segment->begun = waits && from <= limit;
    return segment->begun;
}

enum fci_sight fci_see(struct fci_segment *segment) {
    /* The state first: what was published before it changed is seen then. */
    int state = fci_state(segment);
    bool begun = has_begun(segment);
    if (begun && has_next(segment)) {
        return FCI_FRAMES;
    }
    switch (state) {
    case FC_LAYOUT_JOINING: return FCI_NO_SESSION;
    case FC_LAYOUT_RUNNING: return begun ? FCI_STREAMING : FCI_NO_SESSION;
    case FC_LAYOUT_END_OF_STREAM: return FCI_ENDED;
    default: return FCI_LOST;
    }
}

bool fci_is_intact(const struct fci_segment *segment, int64_t number) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return !segment->unheld || load64(segment, FC_LAYOUT_FREED_AT) <= number;
}

/* Entries that the leader may have written again are gone. */
static void catch_up(struct fci_segment *segment) {
    if (segment->unheld) {
        int64_t freed = load64(segment, FC_LAYOUT_FREED_AT);
        int64_t published = fci_published(segment);
        int64_t limit = freed < published ? freed : published;
        segment->next = limit > segment->next ? limit : segment->next;
    }
}

int64_t fci_peek(struct fci_segment *segment) {
    /* A leader that writes all the time keeps no one here for ever. */
    for (int i = 0; i < FC_LAYOUT_ENTRIES; i++) {
        catch_up(segment);
        if (!has_next(segment)) {
            return FCI_NO_ENTRY;
        }
        if (load64(segment, entry_at(segment->next)) == version_of(segment->next)) {
            return segment->next;
        }
        if (fci_is_intact(segment, segment->next)) {
            return FCI_TORN;
        }
    }
    return FCI_NO_ENTRY;
}

void fci_take(struct fci_segment *segment) {
    int64_t index = place(segment->next);
    segment->done[index / 8] &= (uint8_t)~(1U << (index % 8));
    segment->next++;
}

bool fci_read(const struct fci_segment *segment, int64_t number, struct fci_entry *entry) {
    int64_t at = entry_at(number);
    int32_t kind = load32(segment, at + FC_LAYOUT_ENTRY_KIND);
    uint32_t flags = (uint32_t)load32(segment, at + FC_LAYOUT_ENTRY_FLAGS);
    int64_t length = load64(segment, at + FC_LAYOUT_ENTRY_LENGTH);
    int32_t detail = load32(segment, at + FC_LAYOUT_ENTRY_DETAIL);
    *entry = (struct fci_entry){
        .is_loss = kind == FC_LAYOUT_LOSS,
        .keyframe = (flags & FC_LAYOUT_KEYFRAME) != 0,
        .in_place = detail != 0,
        .reason = (int)clamp(detail, 0, FC_LOSS_REASONS - 1),
        .number = (uint64_t)load64(segment, at + FC_LAYOUT_ENTRY_FRAME_ID),
        .lost = (uint64_t)clamp(length, 1, INT64_MAX),
        .offset = load64(segment, at + FC_LAYOUT_ENTRY_OFFSET),
        .bytes = length,
        .timestamp_ns = load64(segment, at + FC_LAYOUT_ENTRY_TIMESTAMP),
        .metadata_bytes = clamp(load32(segment, at + FC_LAYOUT_ENTRY_METADATA), 0, FC_LAYOUT_METADATA_BYTES_MAX),
        .format = flags >> FC_LAYOUT_ENTRY_FORMAT_SHIFT};
    return entry->is_loss
           || (entry->offset >= 0 && entry->offset < segment->ring_bytes && length > 0 && length <= segment->frame_max);
}

const uint8_t *fci_metadata(const struct fci_segment *segment, int64_t number) {
    return segment->words + FC_LAYOUT_METADATA_PLACE + place(number) * FC_LAYOUT_METADATA_BYTES_MAX;
}

size_t fci_format_copy(const struct fci_segment *segment, int64_t place, uint8_t to[FC_LAYOUT_FORMAT_BYTES_MAX]) {
    if (place < 1 || place > FC_LAYOUT_FORMATS) {
        return 0;
    }
    int64_t at = FC_LAYOUT_FORMATS_PLACE + (place - 1) * FC_LAYOUT_FORMAT_STRIDE;
    int32_t length = load32(segment, at + FC_LAYOUT_FORMAT_LENGTH);
    if (length <= 0 || length > FC_LAYOUT_FORMAT_BYTES_MAX) {
        return 0;
    }
    memcpy(to, segment->words + at + FC_LAYOUT_FORMAT_BYTES, (size_t)length);
    return (size_t)length;
}

/* A leader that runs short of room says for what it waits. The last to release wakes it. */
static bool is_wanted(struct fci_segment *segment) {
    int64_t wanted = load64(segment, FC_LAYOUT_WANTS_AT);
    if (wanted == 0 || segment->released < wanted || segment->foreign) {
        return false;
    }
    for (int64_t i = 0; i < FC_LAYOUT_MEMBERS; i++) {
        int64_t other = FC_LAYOUT_MEMBERS_PLACE + i * FC_LAYOUT_MEMBER_BYTES;
        if (load32(segment, other + FC_LAYOUT_MEMBER_STATE) == FC_LAYOUT_MEMBER_ACTIVE
            && load64(segment, other + FC_LAYOUT_MEMBER_RELEASED) < wanted) {
            return false;
        }
    }
    int64_t *word = (int64_t *)(void *)(segment->words + FC_LAYOUT_WANTS_AT);
    return __atomic_compare_exchange_n(word, &wanted, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void fci_release(struct fci_segment *segment, int64_t number) {
    if (segment->unheld) {
        return;
    }
    int64_t index = place(number);
    segment->done[index / 8] |= (uint8_t)(1U << (index % 8));
    while (segment->released < segment->next) {
        index = place(segment->released);
        if ((segment->done[index / 8] >> (index % 8) & 1) == 0) {
            break;
        }
        segment->released++;
    }
    report_released(segment);
    if (is_wanted(segment)) {
        wake_leader(segment);
    }
}

void fci_tell_held(struct fci_segment *segment, uint64_t held, uint64_t copied) {
    store64(segment, segment->reader + FC_LAYOUT_READER_HELD, (int64_t)held);
    store64(segment, segment->reader + FC_LAYOUT_READER_COPIED, (int64_t)copied);
}

uint64_t fci_first_frame(const struct fci_segment *segment) {
    int64_t first = load64(segment, segment->member + FC_LAYOUT_MEMBER_FIRST_FRAME);
    return (uint64_t)(first == FC_LAYOUT_FROM_START ? load64(segment, FC_LAYOUT_START_FRAME_AT) : first);
}

int64_t fci_clock_error(const struct fci_segment *segment) {
    return load64(segment, FC_LAYOUT_CLOCK_ERROR_AT);
}

int64_t fci_source_clock(const struct fci_segment *segment) {
    return load64(segment, FC_LAYOUT_CLOCK_OFFSET_AT);
}

int64_t fci_clock_offset(const struct fci_segment *segment) {
    /* A word of another process: the difference may wrap. */
    uint64_t offset = (uint64_t)fci_source_clock(segment) - (uint64_t)fci_calendar_offset_ns();
    return fci_clock_error(segment) == INT64_MAX ? 0 : (int64_t)offset;
}

bool fci_sleep(struct fci_segment *segment) {
    int state = fci_state(segment);
    store32(segment, segment->member + FC_LAYOUT_MEMBER_SLEEPS, 1);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    bool begun = has_begun(segment);
    if ((begun && has_next(segment)) || fci_state(segment) != state) {
        fci_wake_up(segment);
        return false;
    }
    return true;
}

void fci_wake_up(struct fci_segment *segment) {
    store32(segment, segment->member + FC_LAYOUT_MEMBER_SLEEPS, 0);
}

void fci_leave(struct fci_segment *segment) {
    store32(segment, segment->member + FC_LAYOUT_MEMBER_LEFT, 1);
}
