#include "cbor.h"

#include <math.h>
#include <string.h>

#define NESTING_MAX 8

enum { UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, OTHER };
/* Of OTHER: how many bytes follow, as the argument's kind. */
enum { ONE_BYTE = 24, HALF = 25, SINGLE = 26, DOUBLE = 27 };

/* The head of an item. */
struct head {
    int major;
    int kind;
    uint64_t argument;
};

static struct head fail(struct fci_cbor *cbor) {
    cbor->failed = true;
    cbor->at = cbor->end;
    return (struct head){.major = -1};
}

static size_t left(const struct fci_cbor *cbor) {
    return (size_t)(cbor->end - cbor->at);
}

static struct head one_head(struct fci_cbor *cbor) {
    if (left(cbor) == 0) {
        return fail(cbor);
    }
    uint8_t first = *cbor->at++;
    struct head head = {.major = first >> 5, .kind = first & 31, .argument = first & 31};
    if (head.kind < ONE_BYTE) {
        return head;
    }
    size_t length = head.kind > DOUBLE ? SIZE_MAX : (size_t)1 << (head.kind - ONE_BYTE);
    if (length > left(cbor)) {
        /* Also indefinite lengths, and kinds that RFC 8949 keeps for later. */
        return fail(cbor);
    }
    head.argument = 0;
    for (size_t i = 0; i < length; i++) {
        head.argument = head.argument << 8 | *cbor->at++;
    }
    return head;
}

/* The head of the next item. Tags in front of it are passed over; each takes a byte at least. */
static struct head next(struct fci_cbor *cbor) {
    struct head head;
    do {
        head = one_head(cbor);
    } while (head.major == TAG);
    return head;
}

static uint64_t items(struct fci_cbor *cbor, int major) {
    struct head head = next(cbor);
    /* Each takes a byte at least. */
    if (head.major != major || head.argument > left(cbor)) {
        fail(cbor);
        return 0;
    }
    return head.argument;
}

uint64_t fci_cbor_map(struct fci_cbor *cbor) {
    return items(cbor, MAP);
}

uint64_t fci_cbor_array(struct fci_cbor *cbor) {
    return items(cbor, ARRAY);
}

static bool is_integer(const struct head *head) {
    return (head->major == UNSIGNED || head->major == NEGATIVE) && head->argument <= INT64_MAX;
}

static int64_t integer(const struct head *head) {
    int64_t value = (int64_t)head->argument;
    return head->major == NEGATIVE ? -1 - value : value;
}

int64_t fci_cbor_integer(struct fci_cbor *cbor) {
    struct head head = next(cbor);
    if (!is_integer(&head)) {
        fail(cbor);
        return 0;
    }
    return integer(&head);
}

/* IEEE 754, 16 bits (RFC 8949, appendix D). */
static double half(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double mantissa = (double)(bits & 1023);
    double value = exponent == 0    ? ldexp(mantissa, -24)
                   : exponent != 31 ? ldexp(mantissa + 1024, exponent - 25)
                   : mantissa == 0  ? (double)INFINITY
                                    : (double)NAN;
    return bits & 0x8000 ? -value : value;
}

static double single(uint64_t argument) {
    uint32_t bits = (uint32_t)argument;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

double fci_cbor_real(struct fci_cbor *cbor) {
    struct head head = next(cbor);
    double value = 0;
    if (is_integer(&head)) {
        value = (double)integer(&head);
    } else if (head.major == OTHER && head.kind == DOUBLE) {
        memcpy(&value, &head.argument, sizeof value);
    } else if (head.major == OTHER && head.kind == SINGLE) {
        value = single(head.argument);
    } else if (head.major == OTHER && head.kind == HALF) {
        value = half(head.argument);
    } else {
        fail(cbor);
    }
    return value;
}

/* Bytes of the character that begins here (RFC 3629, section 4); 0 for none. */
static size_t character(const uint8_t *at, size_t room) {
    uint8_t first = at[0];
    if (first < 0x80) {
        return 1;
    }
    size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length == 0 || length > room) {
        return 0;
    }
    /* No long forms, no surrogates, nothing beyond U+10FFFF. */
    uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < length; i++) {
        if (at[i] < (i == 1 ? least : 0x80) || at[i] > (i == 1 ? most : 0xbf)) {
            return 0;
        }
    }
    return length;
}

bool fci_is_utf8(const char *text, size_t bytes) {
    const uint8_t *at = (const uint8_t *)text;
    while (bytes > 0) {
        size_t length = character(at, bytes);
        if (length == 0) {
            return false;
        }
        at += length;
        bytes -= length;
    }
    return true;
}

struct fci_text fci_cbor_text(struct fci_cbor *cbor) {
    struct head head = next(cbor);
    struct fci_text text = {.at = (const char *)cbor->at, .bytes = (size_t)head.argument};
    bool whole = head.major == TEXT && head.argument <= left(cbor);
    if (!whole || memchr(text.at, 0, text.bytes) != NULL || !fci_is_utf8(text.at, text.bytes)) {
        fail(cbor);
        return (struct fci_text){.at = "", .bytes = 0};
    }
    cbor->at += text.bytes;
    return text;
}

/* How many items are in one behind its head. */
static uint64_t enter(struct fci_cbor *cbor, const struct head *head) {
    bool holds_bytes = head->major == BYTES || head->major == TEXT;
    bool holds_items = head->major == ARRAY || head->major == MAP;
    if ((holds_bytes || holds_items) && head->argument > left(cbor)) {
        fail(cbor);
        return 0;
    }
    if (holds_bytes) {
        cbor->at += head->argument;
    }
    return !holds_items ? 0 : head->major == MAP ? 2 * head->argument : head->argument;
}

void fci_cbor_pass(struct fci_cbor *cbor) {
    /* By level, the items that are still to come. */
    uint64_t waiting[NESTING_MAX] = {1};
    for (int level = 0; level >= 0 && !cbor->failed;) {
        if (waiting[level] == 0) {
            level--;
            continue;
        }
        waiting[level]--;
        struct head head = next(cbor);
        uint64_t inside = enter(cbor, &head);
        if (inside > 0 && level == NESTING_MAX - 1) {
            fail(cbor);
        } else if (inside > 0) {
            waiting[++level] = inside;
        }
    }
}

static void put(struct fci_cbor_writer *writer, const void *bytes, size_t length) {
    size_t room = writer->bytes < writer->room ? writer->room - writer->bytes : 0;
    if (room > 0) {
        memcpy(writer->to + writer->bytes, bytes, length < room ? length : room);
    }
    writer->bytes += length;
}

static void put_argument(struct fci_cbor_writer *writer, int major, int kind, uint64_t argument) {
    uint8_t head[9] = {(uint8_t)(major << 5 | kind)};
    size_t length = kind < ONE_BYTE ? 0 : (size_t)1 << (kind - ONE_BYTE);
    for (size_t i = 0; i < length; i++) {
        head[length - i] = (uint8_t)(argument >> (8 * i));
    }
    put(writer, head, 1 + length);
}

/* The shortest. */
static void put_head(struct fci_cbor_writer *writer, int major, uint64_t argument) {
    int kind = argument < ONE_BYTE       ? (int)argument
               : argument <= UINT8_MAX   ? ONE_BYTE
               : argument <= UINT16_MAX  ? HALF
               : argument <= UINT32_MAX  ? SINGLE
                                         : DOUBLE;
    put_argument(writer, major, kind, argument);
}

void fci_cbor_put_map(struct fci_cbor_writer *writer, size_t entries) {
    put_head(writer, MAP, entries);
}

void fci_cbor_put_array(struct fci_cbor_writer *writer, size_t elements) {
    put_head(writer, ARRAY, elements);
}

void fci_cbor_put_integer(struct fci_cbor_writer *writer, int64_t value) {
    put_head(writer, value < 0 ? NEGATIVE : UNSIGNED, (uint64_t)(value < 0 ? -1 - value : value));
}

void fci_cbor_put_real(struct fci_cbor_writer *writer, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_argument(writer, OTHER, DOUBLE, bits);
}

void fci_cbor_put_text(struct fci_cbor_writer *writer, const char *text) {
    size_t length = strlen(text);
    put_head(writer, TEXT, length);
    put(writer, text, length);
}
