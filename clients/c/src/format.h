#ifndef FC_FORMAT_H
#define FC_FORMAT_H

#include "framecast.h"
#include "segment_layout.h"

#include <stdbool.h>

/* A format as it was read. */
struct fci_format {
    fc_format shown;
    fc_tensor tensor;
    fc_picture picture;
    fc_samples samples;
    fc_rate rate;
    fc_key keys[FC_KEYS_MAX];
    /* Names and values, each with a 0 behind it: in CBOR each has a byte at least in front. */
    char texts[FC_FORMAT_BYTES_MAX];
    size_t texts_bytes;
    /* Guarded by the subscriber's lock, as is all of struct fci_formats. */
    int references;
    /* Whether the bytes are a format. */
    bool sound;
    size_t length;
    uint8_t bytes[FC_FORMAT_BYTES_MAX];
};

/* The formats that a subscriber saw last, by place in the segment. */
struct fci_formats {
    struct fci_format *at[FC_LAYOUT_FORMATS];
};

/* Reads bytes of a source; false, with one line that says why, where they are no format. */
bool fci_format_decode(struct fci_format *format, const uint8_t *bytes, size_t length, fc_error *error);

/* Sets its bytes, and its strides where it has none. False where it is longer than 2^63 bytes. */
bool fci_tensor_measure(fc_tensor *tensor);

/* The format at a place, with one more reference. NULL: no memory. */
struct fci_format *fci_formats_take(struct fci_formats *formats, int64_t place, const uint8_t *bytes, size_t length);
/* NULL is allowed. */
void fci_format_unref(struct fci_format *format);
void fci_formats_free(struct fci_formats *formats);

#endif
