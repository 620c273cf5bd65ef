#ifndef FC_SHA256_H
#define FC_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4) of a text. */
void fci_sha256(const void *text, size_t bytes, uint8_t digest[32]);

#endif
