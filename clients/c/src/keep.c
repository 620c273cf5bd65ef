/* Frames that are held longer than the ring has room for: copies at their place. */
#include "keep.h"

#include "subscriber.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A source numbers 15 formats, and uses a number again when no frame that has it is held. */
#define FORMATS_MAX 7
#define ENTRIES_MAX (FC_LAYOUT_ENTRIES / 2)
/* Beside a longest frame: one that is never filled, and those at the ends of frames. */
#define SLOTS_MORE 4
#define SLOT_BYTES_MAX 65472
#define WINDOW_SLOTS_MAX (1 << 22)

static int32_t word(const struct fci_segment *segment, int64_t at, int32_t most) {
    int32_t value = __atomic_load_n((const int32_t *)(const void *)(segment->words + at), __ATOMIC_RELAXED);
    return value < 0 ? 0 : value > most ? most : value;
}

void fci_keep_begin(struct fci_segment *segment, int descriptor) {
    struct fci_keep *keep = &segment->keep;
    int64_t slot = word(segment, FC_LAYOUT_SLOT_BYTES_AT, SLOT_BYTES_MAX);
    /* A source's own window takes a frame more; a receiver grants its source a window. */
    int64_t window = segment->of_source ? 0 : slot * word(segment, FC_LAYOUT_WINDOW_SLOTS_AT, WINDOW_SLOTS_MAX);
    keep->page_bytes = sysconf(_SC_PAGESIZE);
    keep->in_place_max = segment->ring_bytes - segment->frame_max - SLOTS_MORE * slot - window;
    /* Without it nothing is kept. */
    keep->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

void fci_keep_end(struct fci_segment *segment) {
    struct fci_keep *keep = &segment->keep;
    if (keep->pristine != NULL) {
        munmap((void *)(uintptr_t)keep->pristine, 2 * (size_t)segment->ring_bytes);
    }
    free(keep->pages);
    if (keep->descriptor >= 0) {
        close(keep->descriptor);
    }
}

static int64_t page_of(const struct fci_segment *segment, const uint8_t *data) {
    return (data - segment->ring) / segment->keep.page_bytes;
}

static int64_t page_behind(const struct fci_segment *segment, const uint8_t *data, uint64_t bytes) {
    return page_of(segment, data + bytes - 1) + 1;
}

bool fci_keep_covers(const struct fci_segment *segment, const uint8_t *data, uint64_t bytes) {
    const uint16_t *pages = segment->keep.pages;
    int64_t behind = pages == NULL ? 0 : page_behind(segment, data, bytes);
    for (int64_t page = pages == NULL ? 0 : page_of(segment, data); page < behind; page++) {
        if (pages[page] != 0) {
            return true;
        }
    }
    return false;
}

const uint8_t *fci_keep_ring(const struct fci_segment *segment, int64_t offset) {
    return (segment->keep.pristine == NULL ? segment->ring : segment->keep.pristine) + offset;
}

void fci_keep_give(struct fci_segment *segment, struct fci_frame *frame, int64_t offset, int64_t format) {
    struct fci_keep *keep = &segment->keep;
    keep->formats += format == keep->format ? 0U : 1U;
    keep->format = format;
    keep->end = offset + (int64_t)frame->shown.bytes;
    frame->formats = keep->formats;
    frame->kept = false;
    if (frame->segment == segment && (frame->shown.flags & FC_FRAME_COPIED) == 0) {
        keep->in_place[frame->entry & (FC_LAYOUT_ENTRIES - 1)] = frame;
    }
}

static bool is_in_the_way(const struct fci_segment *segment) {
    const struct fci_keep *keep = &segment->keep;
    const struct fci_frame *oldest = keep->in_place[segment->released & (FC_LAYOUT_ENTRIES - 1)];
    if (segment->released >= segment->next || oldest == NULL || oldest->entry != segment->released) {
        return false;
    }
    int64_t from = (const uint8_t *)oldest->shown.data - segment->ring;
    int64_t used = (keep->end - from - 1 + 2 * segment->ring_bytes) % segment->ring_bytes + 1;
    return used > keep->in_place_max || segment->next - segment->released > ENTRIES_MAX
           || keep->formats - oldest->formats > FORMATS_MAX;
}

/* The ring itself is mapped once more, for what is read where pages are copies. */
static bool prepare(struct fci_segment *segment) {
    struct fci_keep *keep = &segment->keep;
    if (keep->pages != NULL) {
        return true;
    }
    keep->pristine = keep->descriptor < 0 ? NULL : fci_map_ring(keep->descriptor, segment->ring_bytes);
    if (keep->pristine == NULL) {
        return false;
    }
    keep->pages = calloc((size_t)(2 * segment->ring_bytes / keep->page_bytes), sizeof *keep->pages);
    if (keep->pages == NULL) {
        munmap((void *)(uintptr_t)keep->pristine, 2 * (size_t)segment->ring_bytes);
        keep->pristine = NULL;
    }
    return keep->pages != NULL;
}

/* Puts a copy of pages at their place. Other threads may read there: none sees the place without memory. */
static bool copy_pages(const struct fci_segment *segment, int64_t from, int64_t to) {
    size_t bytes = (size_t)((to - from) * segment->keep.page_bytes);
    uint8_t *place = (uint8_t *)(uintptr_t)segment->ring + from * segment->keep.page_bytes;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (copy == MAP_FAILED) {
        return false;
    }
    memcpy(copy, place, bytes);
    if (mprotect(copy, bytes, PROT_READ) != 0
        || mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) {
        munmap(copy, bytes);
        return false;
    }
    return true;
}

static bool keep_run(struct fci_segment *segment, const uint8_t *data, uint64_t bytes) {
    if (!prepare(segment)) {
        return false;
    }
    uint16_t *pages = segment->keep.pages;
    int64_t first = page_of(segment, data);
    int64_t behind = page_behind(segment, data, bytes);
    /* Of pages within, all bytes are this frame's: only those at the ends may be copies already. */
    int64_t from = pages[first] == 0 ? first : first + 1;
    int64_t to = from < behind && pages[behind - 1] != 0 ? behind - 1 : behind;
    if (from < to && !copy_pages(segment, from, to)) {
        return false;
    }
    for (int64_t page = first; page < behind; page++) {
        pages[page]++;
    }
    return true;
}

/* The ring's pages, in the first half of the mapping and in the second one. */
static void show_pages(struct fci_segment *segment, int64_t from, int64_t to) {
    struct fci_keep *keep = &segment->keep;
    int64_t half = segment->ring_bytes / keep->page_bytes;
    if (from < half && to > half) {
        show_pages(segment, from, half);
        show_pages(segment, half, to);
    } else if (from < to) {
        int64_t start = from * keep->page_bytes;
        uint8_t *place = (uint8_t *)(uintptr_t)segment->ring + start;
        size_t bytes = (size_t)((to - from) * keep->page_bytes);
        off_t offset = (off_t)(start % segment->ring_bytes);
        if (mmap(place, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, keep->descriptor, offset) == MAP_FAILED) {
            /* The pages stay copies for ever, and what comes to lie there is copied from the ring. */
            for (int64_t page = from; page < to; page++) {
                keep->pages[page]++;
            }
        }
    }
}

/* But for pages of which other frames are kept. */
static void show_run(struct fci_segment *segment, const uint8_t *data, uint64_t bytes) {
    uint16_t *pages = segment->keep.pages;
    int64_t behind = page_behind(segment, data, bytes);
    int64_t from = page_of(segment, data);
    for (int64_t page = from; page < behind; page++) {
        if (--pages[page] != 0) {
            show_pages(segment, from, page);
            from = page + 1;
        }
    }
    show_pages(segment, from, behind);
}

bool fci_keep_give_back(struct fci_segment *segment, struct fci_frame *frame) {
    if (!frame->kept) {
        struct fci_frame **place = &segment->keep.in_place[frame->entry & (FC_LAYOUT_ENTRIES - 1)];
        *place = *place == frame ? NULL : *place;
        return true;
    }
    frame->kept = false;
    if (!segment->foreign) {
        show_run(segment, frame->shown.data, frame->shown.bytes);
    }
    return false;
}

void fci_make_room(struct fc_subscriber *subscriber) {
    struct fci_segment *segment = subscriber->segment;
    /* A device copies out of the pages that the mapping has now. */
    if (segment == NULL || segment->unheld || subscriber->device != NULL) {
        return;
    }
    while (is_in_the_way(segment) && !fci_is_full(subscriber)) {
        struct fci_frame *oldest = segment->keep.in_place[segment->released & (FC_LAYOUT_ENTRIES - 1)];
        if (!keep_run(segment, oldest->shown.data, oldest->shown.bytes)) {
            return;
        }
        segment->keep.in_place[segment->released & (FC_LAYOUT_ENTRIES - 1)] = NULL;
        oldest->kept = true;
        fci_count_copy(subscriber, oldest);
        fci_release(segment, oldest->entry);
    }
}

void fci_keep_pin(struct fci_segment *segment) {
    memset(segment->keep.in_place, 0, sizeof segment->keep.in_place);
}
