/* Raw pixel formats, as PixelFormat.java has them. */
#ifndef FC_PIXELS_H
#define FC_PIXELS_H

#include "framecast.h"

struct fci_pixels {
    const char *ffmpeg;
    /* NULL where GStreamer 1.22 has none. */
    const char *gstreamer;
    int layout;
    /* Bytes of a pixel, of two pixels, or of a sample. */
    int unit_bytes;
    /* Of one sample, DLPack's code and bits. */
    int code;
    int bits;
};

/* NULL for an unknown one. The name need not end with a 0. */
const struct fci_pixels *fci_pixels_of(const char *name, size_t bytes);
/* The planes of a picture without gaps; how many there are. */
int fci_pixels_planes(const struct fci_pixels *pixels, int32_t width, int32_t height, fc_plane plane[FC_PLANES_MAX]);

#endif
