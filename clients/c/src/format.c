/* Reads formats (docs/formats.md). Their bytes are a source's, or those of any process of the user. */
#include "format.h"

#include "cbor.h"
#include "error.h"
#include "pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

/* The Python package knows these places. Later fields come behind the last. */
_Static_assert(offsetof(fc_tensor, shape) == 8 && offsetof(fc_tensor, strides) == 136 && offsetof(fc_tensor, strided) == 264
                   && offsetof(fc_tensor, bytes) == 272 && offsetof(fc_picture, width) == 16
                   && offsetof(fc_picture, range) == 28 && offsetof(fc_picture, plane) == 32,
               "the ABI of fc_tensor and fc_picture");
_Static_assert(offsetof(fc_format, tensor) == 8 && offsetof(fc_format, rate) == 32 && offsetof(fc_format, keys) == 40
                   && offsetof(fc_format, key) == 48 && sizeof(fc_samples) == 16 && sizeof(fc_rate) == 8,
               "the ABI of fc_format");

/* Where it is read, and what is wrong: NULL as long as nothing is. */
struct reader {
    struct fci_cbor cbor;
    struct fci_format *format;
    const char *wrong;
};

static void refuse(struct reader *reader, const char *why) {
    if (reader->wrong == NULL) {
        reader->wrong = why;
    }
    reader->cbor.failed = true;
}

static bool is(struct fci_text text, const char *name) {
    return strlen(name) == text.bytes && memcmp(text.at, name, text.bytes) == 0;
}

static const char *keep(struct fci_format *format, struct fci_text text) {
    char *to = format->texts + format->texts_bytes;
    memcpy(to, text.at, text.bytes);
    to[text.bytes] = 0;
    format->texts_bytes += text.bytes + 1;
    return to;
}

static int32_t number(struct reader *reader, int64_t least, int64_t most, const char *why) {
    int64_t value = fci_cbor_integer(&reader->cbor);
    if (value < least || value > most) {
        refuse(reader, why);
        return 0;
    }
    return (int32_t)value;
}

static void type(struct reader *reader, fc_tensor *tensor) {
    const char *why = "a type is a DLPack code of 0, 1, 2, 4, 5 or 6, 1 … 255 bits, 1 … 65535 lanes";
    if (fci_cbor_array(&reader->cbor) != 3) {
        refuse(reader, why);
    }
    tensor->code = (uint8_t)number(reader, 0, 6, why);
    tensor->bits = (uint8_t)number(reader, 1, 255, why);
    tensor->lanes = (uint16_t)number(reader, 1, 65535, why);
    if (tensor->code == 3) {
        refuse(reader, why);
    }
}

static int32_t extents(struct reader *reader, int64_t *to, int64_t least) {
    uint64_t count = fci_cbor_array(&reader->cbor);
    if (count > FC_DIMENSIONS_MAX) {
        refuse(reader, "a tensor has at most 16 dimensions");
        return 0;
    }
    for (uint64_t i = 0; i < count; i++) {
        to[i] = fci_cbor_integer(&reader->cbor);
        if (to[i] < least) {
            refuse(reader, "a shape has numbers of at least 1, strides of at least 0");
        }
    }
    return (int32_t)count;
}

static void tensor(struct reader *reader) {
    fc_tensor *tensor = &reader->format->tensor;
    int32_t strides = 0;
    bool typed = false;
    *tensor = (fc_tensor){0};
    for (uint64_t left = fci_cbor_map(&reader->cbor); left > 0; left--) {
        struct fci_text name = fci_cbor_text(&reader->cbor);
        if (is(name, "type")) {
            type(reader, tensor);
            typed = true;
        } else if (is(name, "shape")) {
            tensor->dimensions = extents(reader, tensor->shape, 1);
        } else if (is(name, "strides")) {
            strides = extents(reader, tensor->strides, 0);
        } else {
            fci_cbor_pass(&reader->cbor);
        }
    }
    tensor->strided = strides > 0 ? 1 : 0;
    if (!typed || (strides > 0 && strides != tensor->dimensions)) {
        refuse(reader, "a tensor has a type, and a stride for each dimension or none");
    } else if (!reader->cbor.failed && !fci_tensor_measure(tensor)) {
        refuse(reader, "a tensor is shorter than 2^63 bytes");
    }
    reader->format->shown.tensor = tensor;
}

static void planes(struct reader *reader, fc_picture *picture) {
    const char *why = "a picture has as many planes as its pixel format, each of an offset and a stride";
    uint64_t count = fci_cbor_array(&reader->cbor);
    if (count > FC_PLANES_MAX) {
        refuse(reader, why);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (fci_cbor_array(&reader->cbor) != 2) {
            refuse(reader, why);
        }
        picture->plane[i].offset = fci_cbor_integer(&reader->cbor);
        picture->plane[i].stride = fci_cbor_integer(&reader->cbor);
        if (picture->plane[i].offset < 0 || picture->plane[i].stride < 1) {
            refuse(reader, why);
        }
    }
    picture->planes = (int32_t)count;
}

static fc_range range(struct reader *reader) {
    int64_t value = fci_cbor_integer(&reader->cbor);
    return value < 0 || value > FC_RANGE_FULL ? FC_RANGE_UNKNOWN : (fc_range)value;
}

static void check(struct reader *reader, fc_picture *picture, const struct fci_pixels *pixels) {
    fc_plane compact[FC_PLANES_MAX];
    if (pixels == NULL) {
        refuse(reader, "unknown pixel format");
    } else if (picture->width == 0 || picture->height == 0) {
        refuse(reader, "a picture has a width and a height of 1 … 65535");
    } else if (picture->planes != fci_pixels_planes(pixels, picture->width, picture->height, compact)) {
        refuse(reader, "a picture has as many planes as its pixel format");
    } else {
        picture->pixels = pixels->ffmpeg;
        picture->gstreamer = pixels->gstreamer;
    }
}

static void picture(struct reader *reader) {
    const char *why = "a picture has a width and a height of 1 … 65535";
    fc_picture *picture = &reader->format->picture;
    const struct fci_pixels *pixels = NULL;
    *picture = (fc_picture){0};
    for (uint64_t left = fci_cbor_map(&reader->cbor); left > 0; left--) {
        struct fci_text name = fci_cbor_text(&reader->cbor);
        if (is(name, "pixels")) {
            struct fci_text text = fci_cbor_text(&reader->cbor);
            pixels = fci_pixels_of(text.at, text.bytes);
        } else if (is(name, "width")) {
            picture->width = number(reader, 1, 65535, why);
        } else if (is(name, "height")) {
            picture->height = number(reader, 1, 65535, why);
        } else if (is(name, "planes")) {
            planes(reader, picture);
        } else if (is(name, "range")) {
            picture->range = range(reader);
        } else {
            fci_cbor_pass(&reader->cbor);
        }
    }
    if (!reader->cbor.failed) {
        check(reader, picture, pixels);
    }
    reader->format->shown.picture = picture;
}

static void samples(struct reader *reader) {
    const char *why = "samples have a rate above 0, and at least 1 channel";
    fc_samples *samples = &reader->format->samples;
    *samples = (fc_samples){0};
    for (uint64_t left = fci_cbor_map(&reader->cbor); left > 0; left--) {
        struct fci_text name = fci_cbor_text(&reader->cbor);
        if (is(name, "rate")) {
            samples->rate = fci_cbor_real(&reader->cbor);
        } else if (is(name, "channels")) {
            samples->channels = number(reader, 1, INT32_MAX, why);
        } else {
            fci_cbor_pass(&reader->cbor);
        }
    }
    /* Not a number is not above 0 either. */
    if (!(samples->rate > 0) || isinf(samples->rate) || samples->channels < 1) {
        refuse(reader, why);
    }
    reader->format->shown.samples = samples;
}

static void rate(struct reader *reader) {
    const char *why = "a rate is a fraction of numbers of at least 1";
    fc_rate *rate = &reader->format->rate;
    if (fci_cbor_array(&reader->cbor) != 2) {
        refuse(reader, why);
    }
    rate->numerator = number(reader, 1, INT32_MAX, why);
    rate->denominator = number(reader, 1, INT32_MAX, why);
    reader->format->shown.rate = rate;
}

/* The place of a name among those in order: a new one, unless it is there. NULL: there are too many. */
static fc_key *key(struct fci_format *format, const char *name) {
    uint32_t at = 0;
    while (at < format->shown.keys && strcmp(format->keys[at].name, name) < 0) {
        at++;
    }
    if (at < format->shown.keys && strcmp(format->keys[at].name, name) == 0) {
        return &format->keys[at];
    }
    if (format->shown.keys == FC_KEYS_MAX) {
        return NULL;
    }
    memmove(&format->keys[at + 1], &format->keys[at], (format->shown.keys - at) * sizeof(fc_key));
    format->shown.keys++;
    return &format->keys[at];
}

static void keys(struct reader *reader) {
    struct fci_format *format = reader->format;
    for (uint64_t left = fci_cbor_map(&reader->cbor); left > 0; left--) {
        struct fci_text name = fci_cbor_text(&reader->cbor);
        struct fci_text value = fci_cbor_text(&reader->cbor);
        if (reader->cbor.failed) {
            return;
        }
        fc_key made = {.name = keep(format, name), .value = keep(format, value)};
        fc_key *to = key(format, made.name);
        if (to == NULL) {
            refuse(reader, "a format has at most 32 keys");
            return;
        }
        *to = made;
    }
}

static void read_format(struct reader *reader) {
    int64_t version = 0;
    for (uint64_t left = fci_cbor_map(&reader->cbor); left > 0 && !reader->cbor.failed; left--) {
        struct fci_text name = fci_cbor_text(&reader->cbor);
        if (is(name, "v")) {
            version = fci_cbor_integer(&reader->cbor);
        } else if (is(name, "tensor")) {
            tensor(reader);
        } else if (is(name, "picture")) {
            picture(reader);
        } else if (is(name, "samples")) {
            samples(reader);
        } else if (is(name, "rate")) {
            rate(reader);
        } else if (is(name, "keys")) {
            keys(reader);
        } else {
            fci_cbor_pass(&reader->cbor);
        }
    }
    if (!reader->cbor.failed && version < VERSION) {
        refuse(reader, "its version v is 1 or later");
    }
    if (!reader->cbor.failed && reader->cbor.at != reader->cbor.end) {
        refuse(reader, "bytes behind its end");
    }
}

bool fci_format_decode(struct fci_format *format, const uint8_t *bytes, size_t length, fc_error *error) {
    if (length > FC_FORMAT_BYTES_MAX) {
        fci_fail(error, FC_E_BROKEN, "format: expected at most 1024 bytes, got %zu", length);
        return false;
    }
    memset(format, 0, offsetof(struct fci_format, bytes));
    format->length = length;
    memcpy(format->bytes, bytes, length);
    format->shown.key = format->keys;
    struct reader reader = {.cbor = {.at = format->bytes, .end = format->bytes + length}, .format = format};
    read_format(&reader);
    format->sound = !reader.cbor.failed;
    if (!format->sound) {
        fci_fail(error, FC_E_BROKEN, "format: %s", reader.wrong != NULL ? reader.wrong : "not the CBOR that is expected");
    }
    return format->sound;
}

static uint64_t next_id(void) {
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static bool has_bytes(const struct fci_format *format, const uint8_t *bytes, size_t length) {
    return format != NULL && format->length == length && memcmp(format->bytes, bytes, length) == 0;
}

/* That of the place first; a format may also be at another place, of the leader before. */
static struct fci_format *find(const struct fci_formats *formats, int64_t place, const uint8_t *bytes, size_t length) {
    if (has_bytes(formats->at[place - 1], bytes, length)) {
        return formats->at[place - 1];
    }
    for (size_t i = 0; i < FC_LAYOUT_FORMATS; i++) {
        if (has_bytes(formats->at[i], bytes, length)) {
            return formats->at[i];
        }
    }
    return NULL;
}

struct fci_format *fci_formats_take(struct fci_formats *formats, int64_t place, const uint8_t *bytes, size_t length) {
    struct fci_format *found = find(formats, place, bytes, length);
    if (found == NULL) {
        found = calloc(1, sizeof *found);
        if (found == NULL) {
            return NULL;
        }
        fci_format_decode(found, bytes, length, NULL);
        found->shown.id = next_id();
    }
    if (formats->at[place - 1] != found) {
        found->references++;
        fci_format_unref(formats->at[place - 1]);
        formats->at[place - 1] = found;
    }
    found->references++;
    return found;
}

void fci_format_unref(struct fci_format *format) {
    if (format != NULL && --format->references == 0) {
        free(format);
    }
}

void fci_formats_free(struct fci_formats *formats) {
    for (size_t i = 0; i < FC_LAYOUT_FORMATS; i++) {
        fci_format_unref(formats->at[i]);
        formats->at[i] = NULL;
    }
}
