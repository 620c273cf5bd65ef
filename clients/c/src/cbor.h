/* The part of CBOR (RFC 8949) that formats use: definite lengths, a few levels. A reader that failed once gives nothing
 * more; its caller looks at the end. */
#ifndef FC_CBOR_H
#define FC_CBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fci_cbor {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

/* Text in the bytes that are read: UTF-8 without NUL. */
struct fci_text {
    const char *at;
    size_t bytes;
};

/* Entries of a map, or elements of an array; 0 where it failed. */
uint64_t fci_cbor_map(struct fci_cbor *cbor);
uint64_t fci_cbor_array(struct fci_cbor *cbor);
int64_t fci_cbor_integer(struct fci_cbor *cbor);
/* Of any kind of number. */
double fci_cbor_real(struct fci_cbor *cbor);
struct fci_text fci_cbor_text(struct fci_cbor *cbor);
/* Passes over one item with all that is in it. */
void fci_cbor_pass(struct fci_cbor *cbor);

/* Counts all bytes, and writes those for which there is room. */
struct fci_cbor_writer {
    uint8_t *to;
    size_t room;
    size_t bytes;
};

void fci_cbor_put_map(struct fci_cbor_writer *writer, size_t entries);
void fci_cbor_put_array(struct fci_cbor_writer *writer, size_t elements);
void fci_cbor_put_integer(struct fci_cbor_writer *writer, int64_t value);
void fci_cbor_put_real(struct fci_cbor_writer *writer, double value);
void fci_cbor_put_text(struct fci_cbor_writer *writer, const char *text);

bool fci_is_utf8(const char *text, size_t bytes);

#endif
