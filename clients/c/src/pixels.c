#include "pixels.h"

#include <string.h>

/* How samples lie. */
enum { PACKED, PAIRS, PLANES_420, PLANES_422, PLANES_444, PLANE_AND_PAIRS };

/* Of samples: their DLPack code, and bits. */
#define U8 1, 8
#define U16 1, 16
#define F32 2, 32

static const struct fci_pixels ALL[] = {
    {"gray", "GRAY8", PACKED, 1, U8},
    {"gray16le", "GRAY16_LE", PACKED, 2, U16},
    {"grayf32le", NULL, PACKED, 4, F32},
    {"rgb565le", "RGB16", PACKED, 2, U16},
    {"rgb24", "RGB", PACKED, 3, U8},
    {"bgr24", "BGR", PACKED, 3, U8},
    {"rgba", "RGBA", PACKED, 4, U8},
    {"bgra", "BGRA", PACKED, 4, U8},
    {"argb", "ARGB", PACKED, 4, U8},
    {"abgr", "ABGR", PACKED, 4, U8},
    {"rgb0", "RGBx", PACKED, 4, U8},
    {"bgr0", "BGRx", PACKED, 4, U8},
    {"rgb48le", NULL, PACKED, 6, U16},
    {"rgba64le", "RGBA64_LE", PACKED, 8, U16},
    {"gbrp", "GBR", PLANES_444, 1, U8},
    {"yuyv422", "YUY2", PAIRS, 4, U8},
    {"uyvy422", "UYVY", PAIRS, 4, U8},
    {"yuv420p", "I420", PLANES_420, 1, U8},
    {"yuv420p10le", "I420_10LE", PLANES_420, 2, U16},
    {"nv12", "NV12", PLANE_AND_PAIRS, 1, U8},
    {"nv21", "NV21", PLANE_AND_PAIRS, 1, U8},
    {"p010le", "P010_10LE", PLANE_AND_PAIRS, 2, U16},
    {"yuv422p", "Y42B", PLANES_422, 1, U8},
    {"yuv422p10le", "I422_10LE", PLANES_422, 2, U16},
    {"yuv444p", "Y444", PLANES_444, 1, U8},
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

static int shape(fc_tensor *tensor, int32_t dimensions, int64_t first, int64_t second, int64_t third) {
    tensor->dimensions = dimensions;
    tensor->shape[0] = first;
    tensor->shape[1] = second;
    tensor->shape[2] = dimensions > 2 ? third : 0;
    return 1;
}

int fc_picture_tensor(const fc_picture *picture, fc_tensor *tensor) {
    const struct fci_pixels *pixels =
        picture == NULL || picture->pixels == NULL ? NULL : fci_pixels_of(picture->pixels, strlen(picture->pixels));
    if (pixels == NULL || tensor == NULL || picture->width < 1 || picture->height < 1) {
        return 0;
    }
    int64_t width = picture->width;
    int64_t height = picture->height;
    int64_t per_pixel = pixels->unit_bytes / (pixels->bits / 8);
    *tensor = (fc_tensor){.code = (uint8_t)pixels->code, .bits = (uint8_t)pixels->bits, .lanes = 1};
    switch (pixels->layout) {
    case PACKED: return shape(tensor, per_pixel == 1 ? 2 : 3, height, width, per_pixel);
    case PAIRS: return width % 2 == 0 && shape(tensor, 3, height, width, 2);
    case PLANES_420:
    case PLANE_AND_PAIRS: return width % 2 == 0 && height % 2 == 0 && shape(tensor, 2, height / 2 * 3, width, 0);
    case PLANES_422: return width % 2 == 0 && shape(tensor, 2, 2 * height, width, 0);
    default: return shape(tensor, 3, 3, height, width);
    }
}
