#include "pixels.h"

#include <string.h>

/* How samples lie. */
enum { PACKED, PAIRS, PLANES_420, PLANES_422, PLANES_444, PLANE_AND_PAIRS };

static const struct fci_pixels ALL[] = {
    {"gray", "GRAY8", PACKED, 1},
    {"gray16le", "GRAY16_LE", PACKED, 2},
    {"grayf32le", NULL, PACKED, 4},
    {"rgb565le", "RGB16", PACKED, 2},
    {"rgb24", "RGB", PACKED, 3},
    {"bgr24", "BGR", PACKED, 3},
    {"rgba", "RGBA", PACKED, 4},
    {"bgra", "BGRA", PACKED, 4},
    {"argb", "ARGB", PACKED, 4},
    {"abgr", "ABGR", PACKED, 4},
    {"rgb0", "RGBx", PACKED, 4},
    {"bgr0", "BGRx", PACKED, 4},
    {"rgb48le", NULL, PACKED, 6},
    {"rgba64le", "RGBA64_LE", PACKED, 8},
    {"gbrp", "GBR", PLANES_444, 1},
    {"yuyv422", "YUY2", PAIRS, 4},
    {"uyvy422", "UYVY", PAIRS, 4},
    {"yuv420p", "I420", PLANES_420, 1},
    {"yuv420p10le", "I420_10LE", PLANES_420, 2},
    {"nv12", "NV12", PLANE_AND_PAIRS, 1},
    {"nv21", "NV21", PLANE_AND_PAIRS, 1},
    {"p010le", "P010_10LE", PLANE_AND_PAIRS, 2},
    {"yuv422p", "Y42B", PLANES_422, 1},
    {"yuv422p10le", "I422_10LE", PLANES_422, 2},
    {"yuv444p", "Y444", PLANES_444, 1},
};

const struct fci_pixels *fci_pixels_of(const char *name, size_t bytes) {
    for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++) {
        if (strlen(ALL[i].ffmpeg) == bytes && memcmp(ALL[i].ffmpeg, name, bytes) == 0) {
            return &ALL[i];
        }
    }
    return NULL;
}

const char *fc_pixels_of_gstreamer(const char *name) {
    for (size_t i = 0; name != NULL && i < sizeof ALL / sizeof ALL[0]; i++) {
        if (ALL[i].gstreamer != NULL && strcmp(ALL[i].gstreamer, name) == 0) {
            return ALL[i].ffmpeg;
        }
    }
    return NULL;
}

int fci_pixels_planes(const struct fci_pixels *pixels, int32_t width, int32_t height, fc_plane plane[FC_PLANES_MAX]) {
    int64_t row = (int64_t)pixels->unit_bytes * width;
    int64_t half = pixels->unit_bytes * (((int64_t)width + 1) / 2);
    int64_t luma = row * height;
    /* Odd sizes round chroma up. */
    int64_t chroma = half * (pixels->layout == PLANES_420 ? ((int64_t)height + 1) / 2 : height);
    switch (pixels->layout) {
    case PLANES_420:
    case PLANES_422:
        plane[0] = (fc_plane){0, row};
        plane[1] = (fc_plane){luma, half};
        plane[2] = (fc_plane){luma + chroma, half};
        return 3;
    case PLANES_444:
        plane[0] = (fc_plane){0, row};
        plane[1] = (fc_plane){luma, row};
        plane[2] = (fc_plane){2 * luma, row};
        return 3;
    case PLANE_AND_PAIRS:
        plane[0] = (fc_plane){0, row};
        plane[1] = (fc_plane){luma, 2 * half};
        return 2;
    case PAIRS:
        plane[0] = (fc_plane){0, half};
        return 1;
    default:
        plane[0] = (fc_plane){0, row};
        return 1;
    }
}
