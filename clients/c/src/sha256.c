#include "sha256.h"

#include <string.h>

/* FIPS 180-4, section 4.2.2. */
static const uint32_t ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t value, int bits) {
    return value >> bits | value << (32 - bits);
}

static void block(uint32_t state[8], const uint8_t bytes[64]) {
    uint32_t words[64];
    for (int i = 0; i < 16; i++) {
        const uint8_t *at = bytes + 4 * i;
        words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t near = rotate(words[i - 15], 7) ^ rotate(words[i - 15], 18) ^ words[i - 15] >> 3;
        uint32_t far = rotate(words[i - 2], 17) ^ rotate(words[i - 2], 19) ^ words[i - 2] >> 10;
        words[i] = words[i - 16] + near + words[i - 7] + far;
    }
    uint32_t s[8];
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t sum1 = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t first = s[7] + sum1 + choice + ROUNDS[i] + words[i];
        uint32_t sum0 = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        uint32_t second = sum0 + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

void fci_sha256(const void *text, size_t bytes, uint8_t digest[32]) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *at = text;
    size_t left = bytes;
    for (; left >= 64; left -= 64, at += 64) {
        block(state, at);
    }
    uint8_t last[128] = {0};
    if (left > 0) {
        memcpy(last, at, left);
    }
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)bytes * 8;
    for (size_t i = 0; i < 8; i++) {
        last[end - 1 - i] = (uint8_t)(bits >> (8 * i));
    }
    block(state, last);
    if (end == 128) {
        block(state, last + 64);
    }
    for (int i = 0; i < 32; i++) {
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
    }
}
