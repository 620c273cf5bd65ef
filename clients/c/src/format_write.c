/* Writes formats: as CBOR (docs/formats.md), and as a line for people. */
#include "cbor.h"
#include "error.h"
#include "format.h"
#include "pixels.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool multiply(int64_t one, int64_t other, int64_t *to) {
    return !__builtin_mul_overflow(one, other, to);
}

bool fci_tensor_measure(fc_tensor *tensor) {
    int64_t element = ((int64_t)tensor->bits * tensor->lanes + 7) / 8;
    int64_t elements = 1;
    int64_t last = 0;
    for (int32_t i = tensor->dimensions - 1; i >= 0; i--) {
        int64_t step;
        if (!tensor->strided) {
            tensor->strides[i] = elements;
            if (!multiply(elements, tensor->shape[i], &elements)) {
                return false;
            }
        } else if (!multiply(tensor->shape[i] - 1, tensor->strides[i], &step)
                   || __builtin_add_overflow(last, step, &last)) {
            return false;
        }
    }
    bool fits = !tensor->strided || !__builtin_add_overflow(last, 1, &elements);
    return fits && multiply(elements, element, &tensor->bytes);
}

static bool is_tensor(const fc_tensor *given) {
    fc_tensor tensor = *given;
    if (tensor.code > 6 || tensor.code == 3 || tensor.bits < 1 || tensor.lanes < 1 || tensor.dimensions < 0
        || tensor.dimensions > FC_DIMENSIONS_MAX) {
        return false;
    }
    for (int32_t i = 0; i < tensor.dimensions; i++) {
        if (tensor.shape[i] < 1 || (tensor.strided && tensor.strides[i] < 0)) {
            return false;
        }
    }
    return fci_tensor_measure(&tensor);
}

static bool is_picture(const fc_picture *picture) {
    fc_plane compact[FC_PLANES_MAX];
    const struct fci_pixels *pixels = picture->pixels == NULL ? NULL : fci_pixels_of(picture->pixels, strlen(picture->pixels));
    if (pixels == NULL || picture->width < 1 || picture->width > 65535 || picture->height < 1 || picture->height > 65535) {
        return false;
    }
    bool compactly = picture->planes == 0;
    if (!compactly && picture->planes != fci_pixels_planes(pixels, picture->width, picture->height, compact)) {
        return false;
    }
    for (int32_t i = 0; i < picture->planes; i++) {
        if (picture->plane[i].offset < 0 || picture->plane[i].stride < 1) {
            return false;
        }
    }
    return picture->range >= FC_RANGE_UNKNOWN && picture->range <= FC_RANGE_FULL;
}

static bool are_keys(const fc_format *format) {
    for (uint32_t i = 0; i < format->keys && format->keys <= FC_KEYS_MAX; i++) {
        const fc_key *key = &format->key[i];
        if (key->name == NULL || key->value == NULL || !fci_is_utf8(key->name, strlen(key->name))
            || !fci_is_utf8(key->value, strlen(key->value))) {
            return false;
        }
    }
    return format->keys <= FC_KEYS_MAX;
}

/* What makes no sense; NULL for nothing. */
static const char *wrong(const fc_format *format) {
    if (format->tensor != NULL && !is_tensor(format->tensor)) {
        return "tensor: expected a type of DLPack, up to 16 dimensions of at least 1, less than 2^63 bytes";
    }
    if (format->picture != NULL && !is_picture(format->picture)) {
        return "picture: expected a pixel format of docs/formats.md, a size of 1 … 65535, and its planes or none";
    }
    const fc_samples *samples = format->samples;
    if (samples != NULL && (!(samples->rate > 0) || isinf(samples->rate) || samples->channels < 1)) {
        return "samples: expected a rate above 0, and at least 1 channel";
    }
    if (format->rate != NULL && (format->rate->numerator < 1 || format->rate->denominator < 1)) {
        return "rate: expected a fraction of numbers of at least 1";
    }
    return are_keys(format) ? NULL : "keys: expected at most 32 names and values in UTF-8";
}

static void put_numbers(struct fci_cbor_writer *writer, const int64_t *numbers, size_t count) {
    fci_cbor_put_array(writer, count);
    for (size_t i = 0; i < count; i++) {
        fci_cbor_put_integer(writer, numbers[i]);
    }
}

static void put_tensor(struct fci_cbor_writer *writer, const fc_tensor *tensor) {
    int64_t type[3] = {tensor->code, tensor->bits, tensor->lanes};
    bool strided = tensor->strided && tensor->dimensions > 0;
    fci_cbor_put_text(writer, "tensor");
    fci_cbor_put_map(writer, strided ? 3 : 2);
    fci_cbor_put_text(writer, "type");
    put_numbers(writer, type, 3);
    fci_cbor_put_text(writer, "shape");
    put_numbers(writer, tensor->shape, (size_t)tensor->dimensions);
    if (strided) {
        fci_cbor_put_text(writer, "strides");
        put_numbers(writer, tensor->strides, (size_t)tensor->dimensions);
    }
}

static void put_number(struct fci_cbor_writer *writer, const char *name, int64_t value) {
    fci_cbor_put_text(writer, name);
    fci_cbor_put_integer(writer, value);
}

static void put_picture(struct fci_cbor_writer *writer, const fc_picture *picture) {
    fc_plane compact[FC_PLANES_MAX];
    const struct fci_pixels *pixels = fci_pixels_of(picture->pixels, strlen(picture->pixels));
    int count = fci_pixels_planes(pixels, picture->width, picture->height, compact);
    const fc_plane *plane = picture->planes == 0 ? compact : picture->plane;
    fci_cbor_put_text(writer, "picture");
    fci_cbor_put_map(writer, 5);
    fci_cbor_put_text(writer, "pixels");
    fci_cbor_put_text(writer, picture->pixels);
    put_number(writer, "width", picture->width);
    put_number(writer, "height", picture->height);
    fci_cbor_put_text(writer, "planes");
    fci_cbor_put_array(writer, (size_t)count);
    for (int i = 0; i < count; i++) {
        int64_t numbers[2] = {plane[i].offset, plane[i].stride};
        put_numbers(writer, numbers, 2);
    }
    put_number(writer, "range", picture->range);
}

static void put_samples(struct fci_cbor_writer *writer, const fc_samples *samples) {
    fci_cbor_put_text(writer, "samples");
    fci_cbor_put_map(writer, 2);
    fci_cbor_put_text(writer, "rate");
    fci_cbor_put_real(writer, samples->rate);
    put_number(writer, "channels", samples->channels);
}

static void put_keys(struct fci_cbor_writer *writer, const fc_format *format) {
    fci_cbor_put_text(writer, "keys");
    fci_cbor_put_map(writer, format->keys);
    /* In the order of the names: equal formats have equal bytes. */
    bool written[FC_KEYS_MAX] = {false};
    for (uint32_t i = 0; i < format->keys; i++) {
        uint32_t least = format->keys;
        for (uint32_t j = 0; j < format->keys; j++) {
            bool lesser = least == format->keys || strcmp(format->key[j].name, format->key[least].name) < 0;
            least = !written[j] && lesser ? j : least;
        }
        written[least] = true;
        fci_cbor_put_text(writer, format->key[least].name);
        fci_cbor_put_text(writer, format->key[least].value);
    }
}

static void put_format(struct fci_cbor_writer *writer, const fc_format *format) {
    fci_cbor_put_map(writer, 1U + (format->tensor != NULL) + (format->picture != NULL) + (format->samples != NULL)
                                 + (format->rate != NULL) + (format->keys > 0));
    put_number(writer, "v", 1);
    if (format->tensor != NULL) {
        put_tensor(writer, format->tensor);
    }
    if (format->picture != NULL) {
        put_picture(writer, format->picture);
    }
    if (format->samples != NULL) {
        put_samples(writer, format->samples);
    }
    if (format->rate != NULL) {
        int64_t fraction[2] = {format->rate->numerator, format->rate->denominator};
        fci_cbor_put_text(writer, "rate");
        put_numbers(writer, fraction, 2);
    }
    if (format->keys > 0) {
        put_keys(writer, format);
    }
}

fc_status fc_format_encode(const fc_format *format, void *bytes, size_t room, size_t *length, fc_error *error) {
    if (format == NULL || bytes == NULL || length == NULL) {
        return fci_fail(error, FC_E_ARGUMENT, "fc_format_encode: expected a format, and places for bytes and length");
    }
    *length = 0;
    const char *why = wrong(format);
    if (why != NULL) {
        return fci_fail(error, FC_E_ARGUMENT, "format: %s", why);
    }
    struct fci_cbor_writer writer = {.to = bytes, .room = room};
    put_format(&writer, format);
    if (writer.bytes > FC_FORMAT_BYTES_MAX || writer.bytes > room) {
        size_t most = room < FC_FORMAT_BYTES_MAX ? room : FC_FORMAT_BYTES_MAX;
        return fci_fail(error, FC_E_ARGUMENT, "format: expected at most %zu bytes, got %zu; shorten its keys", most,
                        writer.bytes);
    }
    *length = writer.bytes;
    return FC_OK;
}

/* A line, as far as there is room. */
struct line {
    char *text;
    size_t room;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t left = line->length < line->room ? line->room - line->length : 0;
    int length = vsnprintf(left > 0 ? line->text + line->length : NULL, left, format, arguments);
    va_end(arguments);
    line->length += length > 0 ? (size_t)length : 0;
}

static const char *separator(const struct line *line) {
    return line->length > 0 ? ", " : "";
}

static void add_tensor(struct line *line, const fc_tensor *tensor) {
    static const char *const KINDS[] = {"int", "uint", "float", "", "bfloat", "complex", "bool"};
    add(line, "%s%s", separator(line), tensor->code < 7 ? KINDS[tensor->code] : "");
    if (tensor->code != 6 || tensor->bits != 8) {
        add(line, "%d", tensor->bits);
    }
    if (tensor->lanes != 1) {
        add(line, "x%d", tensor->lanes);
    }
    add(line, "[");
    for (int32_t i = 0; i < tensor->dimensions && i < FC_DIMENSIONS_MAX; i++) {
        add(line, "%s%lld", i > 0 ? "x" : "", (long long)tensor->shape[i]);
    }
    add(line, "]");
}

int fc_format_text(const fc_format *format, char *text, size_t room) {
    struct line line = {.text = text, .room = room};
    if (room > 0) {
        text[0] = 0;
    }
    if (format == NULL) {
        return 0;
    }
    if (format->picture != NULL) {
        const fc_picture *picture = format->picture;
        add(&line, "%dx%dx%s", picture->width, picture->height, picture->pixels);
    }
    if (format->tensor != NULL) {
        add_tensor(&line, format->tensor);
    }
    if (format->samples != NULL) {
        add(&line, "%s%d channels at %.15g Hz", separator(&line), format->samples->channels, format->samples->rate);
    }
    if (format->rate != NULL) {
        add(&line, "%s%d", separator(&line), format->rate->numerator);
        if (format->rate->denominator != 1) {
            add(&line, "/%d", format->rate->denominator);
        }
        add(&line, "/s");
    }
    for (uint32_t i = 0; i < format->keys; i++) {
        add(&line, "%s%s=%s", separator(&line), format->key[i].name, format->key[i].value);
    }
    return (int)line.length;
}

const char *fc_format_key(const fc_format *format, const char *name) {
    for (uint32_t i = 0; format != NULL && i < format->keys; i++) {
        if (strcmp(format->key[i].name, name) == 0) {
            return format->key[i].value;
        }
    }
    return NULL;
}
