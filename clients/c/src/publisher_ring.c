#include "publisher_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

static int64_t *word64(const struct fci_ring *ring, int64_t at) {
    return (int64_t *)(void *)(ring->words + at);
}

static int32_t *word32(const struct fci_ring *ring, int64_t at) {
    return (int32_t *)(void *)(ring->words + at);
}

static int64_t align(int64_t bytes) {
    return (bytes + FC_CLIENT_RECORD_ALIGNMENT - 1) / FC_CLIENT_RECORD_ALIGNMENT * FC_CLIENT_RECORD_ALIGNMENT;
}

int64_t fci_record_bytes(int64_t length, int64_t metadata_bytes) {
    return FC_CLIENT_RECORD_BYTES + align(length) + align(metadata_bytes);
}

/* Its pages are taken now: a lack of memory is an error here, and would be SIGBUS later. */
static int memory_file(int64_t bytes) {
    int made = memfd_create("framecast-publish", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0) {
        return -1;
    }
    int failed = posix_fallocate(made, 0, bytes);
    if (failed == 0 && fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        failed = errno;
    }
    if (failed != 0) {
        close(made);
        errno = failed;
        return -1;
    }
    return made;
}

/* Twice, back to back, so that a record that crosses the end is contiguous. */
static uint8_t *map_twice(int descriptor, size_t length) {
    int reserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint8_t *base = mmap(NULL, 2 * length, PROT_NONE, reserve, -1, 0);
    if (base == MAP_FAILED) {
        return NULL;
    }
    int protection = PROT_READ | PROT_WRITE;
    int shared = MAP_SHARED | MAP_FIXED;
    if (mmap(base, length, protection, shared, descriptor, 0) == MAP_FAILED
        || mmap(base + length, length, protection, shared, descriptor, 0) == MAP_FAILED) {
        int failed = errno;
        munmap(base, 2 * length);
        errno = failed;
        return NULL;
    }
    return base;
}

bool fci_ring_make(struct fci_ring *ring, int64_t length) {
    *ring = (struct fci_ring){.length = length, .descriptors = {-1, -1, -1, -1}};
    int *descriptors = ring->descriptors;
    descriptors[FC_CLIENT_RING] = memory_file(length);
    descriptors[FC_CLIENT_WORDS] = descriptors[FC_CLIENT_RING] < 0 ? -1 : memory_file(FC_CLIENT_WORDS_BYTES);
    if (descriptors[FC_CLIENT_WORDS] < 0) {
        return false;
    }
    descriptors[FC_CLIENT_CLIENT_WAKER] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    descriptors[FC_CLIENT_SERVER_WAKER] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptors[FC_CLIENT_CLIENT_WAKER] < 0 || descriptors[FC_CLIENT_SERVER_WAKER] < 0) {
        return false;
    }
    ring->bytes = map_twice(descriptors[FC_CLIENT_RING], (size_t)length);
    void *words = mmap(NULL, FC_CLIENT_WORDS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[FC_CLIENT_WORDS], 0);
    ring->words = words == MAP_FAILED ? NULL : words;
    if (ring->bytes == NULL || ring->words == NULL) {
        return false;
    }
    *word64(ring, FC_CLIENT_RING_BYTES_AT) = length;
    return true;
}

void fci_ring_free(struct fci_ring *ring) {
    if (ring->bytes != NULL) {
        munmap(ring->bytes, 2 * (size_t)ring->length);
    }
    if (ring->words != NULL) {
        munmap(ring->words, FC_CLIENT_WORDS_BYTES);
    }
    for (int i = 0; i < 4; i++) {
        if (ring->descriptors[i] >= 0) {
            close(ring->descriptors[i]);
        }
    }
}

bool fci_ring_look(struct fci_ring *ring) {
    int64_t consumed = __atomic_load_n(word64(ring, FC_CLIENT_CONSUMED_AT), __ATOMIC_SEQ_CST);
    if (consumed < ring->consumed || consumed > ring->committed) {
        return false;
    }
    ring->consumed = consumed;
    return true;
}

bool fci_ring_has_room(const struct fci_ring *ring, int64_t bytes) {
    return ring->length - (ring->committed - ring->consumed) >= bytes;
}

static uint8_t *next_record(const struct fci_ring *ring) {
    return ring->bytes + ring->committed % ring->length;
}

uint8_t *fci_ring_payload(const struct fci_ring *ring) {
    return next_record(ring) + FC_CLIENT_RECORD_BYTES;
}

static void wake_server(const struct fci_ring *ring) {
    int32_t sleeps = 1;
    if (!__atomic_compare_exchange_n(word32(ring, FC_CLIENT_SERVER_SLEEPS_AT), &sleeps, 0, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        return;
    }
    uint64_t one = 1;
    int waker = ring->descriptors[FC_CLIENT_SERVER_WAKER];
    struct pollfd polled = {.fd = waker, .events = POLLOUT, .revents = 0};
    /* Looked at first: any process that has it open may have made it block. */
    if (poll(&polled, 1, 0) == 1 && write(waker, &one, sizeof one) < 0) {
        /* Its counter is full: it is readable. */
        return;
    }
}

void fci_ring_commit(struct fci_ring *ring, const struct fci_record *record) {
    uint8_t *at = next_record(ring);
    memset(at, 0, FC_CLIENT_RECORD_BYTES);
    memcpy(at + FC_CLIENT_RECORD_KIND, &record->kind, 4);
    memcpy(at + FC_CLIENT_RECORD_FLAGS, &record->flags, 4);
    memcpy(at + FC_CLIENT_RECORD_LENGTH, &record->length, 8);
    memcpy(at + FC_CLIENT_RECORD_TIMESTAMP, &record->timestamp_ns, 8);
    memcpy(at + FC_CLIENT_RECORD_METADATA, &record->metadata_bytes, 4);
    if (record->metadata_bytes > 0) {
        memcpy(at + FC_CLIENT_RECORD_BYTES + align(record->length), record->metadata, record->metadata_bytes);
    }
    ring->committed += fci_record_bytes(record->length, record->metadata_bytes);
    __atomic_store_n(word64(ring, FC_CLIENT_COMMITTED_AT), ring->committed, __ATOMIC_SEQ_CST);
    wake_server(ring);
}

int fci_ring_state(const struct fci_ring *ring) {
    return __atomic_load_n(word32(ring, FC_CLIENT_STATE_AT), __ATOMIC_SEQ_CST);
}

int fci_ring_ready(const struct fci_ring *ring) {
    int ready = __atomic_load_n(word32(ring, FC_CLIENT_READY_AT), __ATOMIC_SEQ_CST);
    return ready < 0 ? 0 : ready;
}

void fci_ring_sleep(struct fci_ring *ring, bool sleeps) {
    __atomic_store_n(word32(ring, FC_CLIENT_CLIENT_SLEEPS_AT), sleeps ? 1 : 0, __ATOMIC_SEQ_CST);
}
