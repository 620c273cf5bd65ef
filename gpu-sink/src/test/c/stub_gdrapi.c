/*
 * Stands in for gdrcopy's libgdrapi beside the stub libcuda, whose device memory is host memory under a set bit 61.
 * Checks how it is called: whole pages of 64 KiB, handles that are alive, ranges inside what was mapped.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_BIT (1ULL << 61)
#define PAGE (64ULL << 10)

typedef struct { unsigned long h; } Handle;
typedef struct { uint64_t va, mapped_size; uint32_t page_size; uint64_t tm_cycles; uint32_t cycles, flags; int type; }
    Info;
typedef struct { int live; uint64_t start, bytes; char *mapped; } Pinned;

static Pinned pinned[256];
static int library;

long framecast_stub_gdr_live(void) {
    long live = 0;
    for (int i = 0; i < 256; i++) live += pinned[i].live + (pinned[i].mapped != 0);
    return live;
}

void *gdr_open(void) { return getenv("FRAMECAST_STUB_NO_GDRDRV") ? 0 : &library; }

int gdr_close(void *g) { return g == &library ? 0 : 22; }

static Pinned *of(Handle h) { return h.h && h.h <= 256 && pinned[h.h - 1].live ? &pinned[h.h - 1] : 0; }

int gdr_pin_buffer(void *g, unsigned long start, size_t bytes, uint64_t token, uint32_t space, Handle *out) {
    const char *most = getenv("FRAMECAST_STUB_BAR_BYTES");
    if (g != &library || !(start & DEVICE_BIT) || start % PAGE || !bytes || bytes % PAGE || token || space) return 22;
    if (most && bytes > strtoull(most, 0, 10)) return 12;
    for (int i = 0; i < 256; i++) {
        if (!pinned[i].live) {
            pinned[i] = (Pinned) {1, start, bytes, 0};
            out->h = i + 1;
            return 0;
        }
    }
    return 12;
}

int gdr_unpin_buffer(void *g, Handle h) {
    Pinned *p = of(h);
    if (g != &library || !p || p->mapped) return 22;
    p->live = 0;
    return 0;
}

int gdr_map(void *g, Handle h, void **va, size_t bytes) {
    Pinned *p = of(h);
    if (g != &library || !p || p->mapped || bytes != p->bytes) return 22;
    *va = p->mapped = (char *) (p->start & ~DEVICE_BIT);
    return 0;
}

int gdr_unmap(void *g, Handle h, void *va, size_t bytes) {
    Pinned *p = of(h);
    if (g != &library || !p || p->mapped != va || bytes != p->bytes) return 22;
    p->mapped = 0;
    return 0;
}

int gdr_get_info_v2(void *g, Handle h, Info *info) {
    Pinned *p = of(h);
    if (g != &library || !p || sizeof *info != 48) return 22;
    *info = (Info) {p->start, p->bytes, PAGE, 0, 0, 1, 1};
    return 0;
}

static int inside(Pinned *p, const void *at, size_t bytes) {
    return p && p->mapped && (char *) at >= p->mapped && (char *) at + bytes <= p->mapped + p->bytes;
}

int gdr_copy_to_mapping(Handle h, void *to, const void *from, size_t bytes) {
    if (!inside(of(h), to, bytes)) return 22;
    memcpy(to, from, bytes);
    return 0;
}

int gdr_copy_from_mapping(Handle h, void *to, const void *from, size_t bytes) {
    if (!inside(of(h), from, bytes)) return 22;
    memcpy(to, from, bytes);
    return 0;
}
