/* The checksum that `framecast publish` and `framecast subscribe` print. */
#ifndef CRC32C_H
#define CRC32C_H

#include <stdint.h>
#include <string.h>

/* Castagnoli's polynomial, eight bytes at a time (Kounavis and Berry 2005, "slicing by 8"). */
static uint32_t crc32c_tables[8][256];

static void crc32c_make_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
        }
        crc32c_tables[0][i] = crc;
    }
    for (int table = 1; table < 8; table++) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t before = crc32c_tables[table - 1][i];
            crc32c_tables[table][i] = before >> 8 ^ crc32c_tables[0][before & 255];
        }
    }
}

static uint32_t crc32c(uint32_t crc, const uint8_t *bytes, uint64_t length) {
    crc = ~crc;
    for (; length >= 8; length -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        word ^= crc;
        crc = 0;
        for (int i = 0; i < 8; i++) {
            crc ^= crc32c_tables[7 - i][word >> (8 * i) & 255];
        }
    }
    for (; length > 0; length--) {
        crc = crc >> 8 ^ crc32c_tables[0][(crc ^ *bytes++) & 255];
    }
    return ~crc;
}

#endif
