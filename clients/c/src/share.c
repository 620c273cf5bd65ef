/* Frames that another member of the host group has copied to its GPU. */
#include "share.h"

#include "device.h"
#include "segment.h"
#include "subscriber.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS INT64_C(10000000)
/* How long a place is waited for, and until when none is after one was waited for in vain. */
#define FRAME_NS INT64_C(100000000)
#define IMPATIENT_NS INT64_C(1000000000)
#define LAZY_PEER_ACCESS 1

static int64_t load64(const struct fci_segment *segment, int64_t at) {
    return __atomic_load_n((const int64_t *)(const void *)(segment->words + at), __ATOMIC_SEQ_CST);
}

static int32_t load32(const struct fci_segment *segment, int64_t at) {
    return __atomic_load_n((const int32_t *)(const void *)(segment->words + at), __ATOMIC_SEQ_CST);
}

static void store64(struct fci_segment *segment, int64_t field, int64_t value) {
    if (!segment->foreign) {
        __atomic_store_n((int64_t *)(void *)(segment->words + segment->device + field), value, __ATOMIC_SEQ_CST);
    }
}

static int64_t place_word(const struct fci_share *share, int place) {
    return share->record + FC_LAYOUT_DEVICE_SLOT + place * (int64_t)sizeof(int64_t);
}

static bool is_offered(const struct fci_segment *segment) {
    const struct fci_share *share = &segment->share;
    return load32(segment, share->record + FC_LAYOUT_DEVICE_STATE) == FC_LAYOUT_OFFERED
           && load64(segment, share->record + FC_LAYOUT_DEVICE_ID) == share->offer;
}

int64_t fci_pid_namespace(void) {
    char text[64];
    long long number = 0;
    ssize_t length = readlink("/proc/self/ns/pid", text, sizeof text - 1);
    text[length < 0 ? 0 : length] = 0;
    return sscanf(text, "pid:[%lld]", &number) == 1 ? number : 0;
}

/* Whether the number of its process means the same here: both are in one PID namespace. */
static bool is_neighbour(const struct fci_segment *segment) {
    int64_t its = load64(segment, segment->share.record + FC_LAYOUT_DEVICE_NAMESPACE);
    return its != 0 && its == fci_pid_namespace();
}

bool fci_share_lives(const struct fci_segment *segment) {
    char path[64];
    char target[8];
    snprintf(path, sizeof path, "/proc/%d/exe", segment->share.process);
    return readlink(path, target, sizeof target) > 0;
}

static int digit(char text) {
    return text >= '0' && text <= '9' ? text - '0' : text >= 'a' && text <= 'f' ? text - 'a' + 10 : -1;
}

/* Of the text in a record. False where it is another kind of device's. */
static bool read_handle(const struct fci_segment *segment, struct fci_cuda_handle *handle) {
    int64_t record = segment->share.record;
    char text[2 * sizeof handle->bytes];
    if (load32(segment, record + FC_LAYOUT_DEVICE_HANDLE_BYTES) != (int32_t)sizeof text) {
        return false;
    }
    memcpy(text, segment->words + record + FC_LAYOUT_DEVICE_HANDLE, sizeof text);
    for (size_t i = 0; i < sizeof handle->bytes; i++) {
        int high = digit(text[2 * i]);
        int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        handle->bytes[i] = (char)(high * 16 + low);
    }
    return true;
}

/* Reads a member's offer; false for none, and for what makes no sense. */
static bool read_offer(struct fci_segment *segment, int64_t member) {
    struct fci_share *share = &segment->share;
    int64_t taken = FC_LAYOUT_MEMBERS_PLACE + member * FC_LAYOUT_MEMBER_BYTES + FC_LAYOUT_MEMBER_STATE;
    int64_t record = FC_LAYOUT_DEVICES_PLACE + member * FC_LAYOUT_DEVICE_BYTES;
    if (record == segment->device || load32(segment, taken) != FC_LAYOUT_MEMBER_ACTIVE
        || load32(segment, record + FC_LAYOUT_DEVICE_STATE) != FC_LAYOUT_OFFERED) {
        return false;
    }
    share->record = record;
    share->offer = load64(segment, record + FC_LAYOUT_DEVICE_ID);
    share->process = load32(segment, record + FC_LAYOUT_DEVICE_PROCESS);
    share->places = load32(segment, record + FC_LAYOUT_DEVICE_SLOTS);
    share->place_bytes = load64(segment, record + FC_LAYOUT_DEVICE_SLOT_BYTES);
    share->first = load64(segment, record + FC_LAYOUT_DEVICE_FIRST);
    share->bytes = load64(segment, record + FC_LAYOUT_DEVICE_MEMORY_BYTES);
    return share->offer != 0 && share->offer != share->refused && share->places >= 1
           && share->places <= FC_LAYOUT_DEVICE_SLOTS_MAX && share->place_bytes >= 1 && share->bytes >= 1
           && share->place_bytes <= share->bytes / share->places;
}

/* Whether the memory that was opened is as long as the offer says. A driver that does not know is believed. */
static bool is_whole(const struct fci_device *device, const struct fci_share *share) {
    uint64_t start = 0;
    size_t bytes = 0;
    if (device->cuda->address_range(&start, &bytes, share->address) != FCI_CUDA_SUCCESS) {
        return true;
    }
    uint64_t behind = share->address - start;
    return behind <= bytes && bytes - behind >= (uint64_t)share->bytes;
}

/* Whether memory of the offer that was read is open now. */
static bool open_offer(const struct fci_device *device, struct fci_segment *segment) {
    struct fci_share *share = &segment->share;
    int64_t identity[2] = {load64(segment, share->record + FC_LAYOUT_DEVICE_IDENTITY),
                           load64(segment, share->record + FC_LAYOUT_DEVICE_IDENTITY + 8)};
    struct fci_cuda_handle handle;
    if (fci_device_reach(device, identity) < 0 || !is_neighbour(segment) || !read_handle(segment, &handle)) {
        return false;
    }
    share->holds = 0;
    store64(segment, FC_LAYOUT_DEVICE_HOLDS, 0);
    store64(segment, FC_LAYOUT_DEVICE_USES, share->offer);
    /* Its member looks for those who use it when it has taken the offer back. */
    bool opened = is_offered(segment)
                  && device->cuda->ipc_open(&share->address, handle, LAZY_PEER_ACCESS) == FCI_CUDA_SUCCESS;
    if (opened && !is_whole(device, share)) {
        device->cuda->ipc_close(share->address);
        opened = false;
    }
    if (!opened) {
        store64(segment, FC_LAYOUT_DEVICE_USES, 0);
    }
    bool own = identity[0] == device->identity[0] && identity[1] == device->identity[1];
    share->in_place = segment->reads_in_place && own;
    return opened;
}

static void close_offer(const struct fci_device *device, struct fci_segment *segment) {
    device->cuda->ipc_close(segment->share.address);
    store64(segment, FC_LAYOUT_DEVICE_USES, 0);
    segment->share.offer = 0;
}

void fci_share_look(const struct fci_device *device, struct fci_segment *segment) {
    struct fci_share *share = &segment->share;
    int64_t now_ns = fci_now_ns();
    if (segment->foreign || now_ns - share->looked_ns < LOOK_NS || !fci_device_enter(device)) {
        return;
    }
    share->looked_ns = now_ns;
    if (share->offer != 0 && share->holds == 0 && (share->offer == share->refused || !is_offered(segment))) {
        close_offer(device, segment);
    }
    for (int64_t i = 0; i < FC_LAYOUT_MEMBERS && share->offer == 0; i++) {
        if (!read_offer(segment, i)) {
            share->offer = 0;
        } else if (!open_offer(device, segment)) {
            share->refused = share->offer;
            share->offer = 0;
        }
    }
    fci_device_leave(device);
}

static bool is_usable(const struct fci_segment *segment) {
    const struct fci_share *share = &segment->share;
    return share->offer != 0 && share->offer != share->refused && !segment->foreign && is_offered(segment);
}

bool fci_share_awaits(struct fci_segment *segment, int64_t number) {
    struct fci_share *share = &segment->share;
    if (!is_usable(segment) || number < share->first
        || number < load64(segment, share->record + FC_LAYOUT_DEVICE_DECIDED)) {
        share->awaits = false;
        return false;
    }
    int64_t now_ns = fci_now_ns();
    if (now_ns < share->impatient_ns) {
        return false;
    }
    /* Not of each entry anew: a ring that is written again meanwhile has another one in front. */
    if (!share->awaits) {
        share->awaits = true;
        share->awaited_ns = now_ns;
    }
    if (now_ns - share->awaited_ns < FRAME_NS) {
        return true;
    }
    share->awaits = false;
    if (!fci_share_lives(segment)) {
        fci_share_refuse(segment);
    }
    share->impatient_ns = now_ns + IMPATIENT_NS;
    return false;
}

int fci_share_hold(struct fci_segment *segment, int64_t number, int64_t bytes) {
    struct fci_share *share = &segment->share;
    if (!is_usable(segment) || number < share->first || bytes > share->place_bytes) {
        return -1;
    }
    for (int i = 0; i < share->places; i++) {
        if (load64(segment, place_word(share, i)) != number + 1) {
            continue;
        }
        uint64_t held = share->holds | UINT64_C(1) << i;
        store64(segment, FC_LAYOUT_DEVICE_HOLDS, (int64_t)held);
        /* Who empties the place looks for those who hold it afterwards. */
        if (load64(segment, place_word(share, i)) == number + 1 && is_offered(segment)) {
            share->holds = held;
            return i;
        }
        store64(segment, FC_LAYOUT_DEVICE_HOLDS, (int64_t)share->holds);
        return -1;
    }
    return -1;
}

void fci_share_leave(struct fci_segment *segment, int place) {
    segment->share.holds &= ~(UINT64_C(1) << place);
    store64(segment, FC_LAYOUT_DEVICE_HOLDS, (int64_t)segment->share.holds);
}

void fci_share_refuse(struct fci_segment *segment) {
    segment->share.refused = segment->share.offer;
}

void fci_share_end(const struct fci_device *device, struct fci_segment *segment) {
    if (segment->share.offer != 0 && !segment->foreign && fci_device_enter(device)) {
        close_offer(device, segment);
        fci_device_leave(device);
    }
}
