#include "uri.h"

#include "channel_keys.h"
#include "error.h"
#include "key.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "framecast:"
#define VALUE_BYTES 1024
#define KEY_BYTES 32
#define REJOIN_LATEST_MS 3600000
#define TIME_MAX_MS 86400000

#define CONSTANT(name, text) name,
#define TEXT(name, text) text,

enum key { FC_CHANNEL_KEYS(CONSTANT) KEYS };

static const char *const NAMES[KEYS] = {FC_CHANNEL_KEYS(TEXT)};

struct parser {
    struct fci_channel *channel;
    fc_error *error;
    bool given[KEYS];
    bool rejoins;
    bool publishes;
};

#define COMPLAIN(parser, ...) fci_fail((parser)->error, FC_E_URI, "channel URI: " __VA_ARGS__)
#define CANNOT(parser, ...) fci_fail((parser)->error, FC_E_UNSUPPORTED, "channel URI: " __VA_ARGS__)

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Levenshtein's distance of two short words. */
static size_t distance(const char *a, const char *b) {
    size_t row[KEY_BYTES + 1];
    size_t columns = strlen(b);
    for (size_t j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 1; a[i - 1] != 0; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[columns];
}

static const char *nearest(const char *word) {
    const char *best = NAMES[0];
    for (int i = 1; i < KEYS; i++) {
        if (distance(word, NAMES[i]) < distance(word, best)) {
            best = NAMES[i];
        }
    }
    return best;
}

static bool is_name(const char *text, size_t longest) {
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    return length >= 1 && length <= longest && text[length] == 0;
}

static bool is_provider(const char *text) {
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return length >= 1 && length <= 32 && text[length] == 0 && text[0] >= 'a';
}

/* Digits in front of a text, 1 … longest of them; the rest is behind them. */
static bool read_digits(const char *text, size_t longest, int64_t *number, const char **rest) {
    size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > longest) {
        return false;
    }
    *number = strtoll(text, NULL, 10);
    *rest = text + digits;
    return true;
}

static bool read_number(const char *text, int64_t min, int64_t max, int64_t *number) {
    const char *rest;
    return read_digits(text, 18, number, &rest) && *rest == 0 && *number >= min && *number <= max;
}

static bool read_bytes(const char *text, int64_t *bytes) {
    const char *rest;
    if (!read_digits(text, 18, bytes, &rest)) {
        return false;
    }
    int unit = tolower((unsigned char)*rest);
    int shift = unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : 0;
    if (rest[shift != 0] != 0 || *bytes > INT64_MAX >> shift) {
        return false;
    }
    *bytes <<= shift;
    return true;
}

/* Milliseconds of 200ms, 2s, 5m, 1h. */
static bool read_time(const char *text, int64_t min_ms, int64_t max_ms, int64_t *ms) {
    const char *rest;
    if (!read_digits(text, 9, ms, &rest)) {
        return false;
    }
    int64_t unit = strcmp(rest, "ms") == 0  ? 1
                   : strcmp(rest, "s") == 0 ? 1000
                   : strcmp(rest, "m") == 0 ? 60000
                   : strcmp(rest, "h") == 0 ? 3600000
                                            : 0;
    *ms *= unit;
    return unit != 0 && *ms >= min_ms && *ms <= max_ms;
}

static bool is_multicast(const char *host) {
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 28) == 14;
    }
    char plain[64];
    strncpy(plain, host, sizeof plain - 1);
    plain[sizeof plain - 1] = 0;
    plain[strcspn(plain, "%")] = 0;
    return inet_pton(AF_INET6, plain, &v6) == 1 && v6.s6_addr[0] == 0xff;
}

static fc_status read_group(struct parser *parser, const char *text) {
    const char *colon = strrchr(text, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    char host[64];
    if (length == 0 || length >= sizeof host) {
        return COMPLAIN(parser, "group: expected address:port, got %s", text);
    }
    bool bracketed = text[0] == '[' && text[length - 1] == ']';
    if (!bracketed && memchr(text, ':', length) != NULL) {
        return COMPLAIN(parser, "group: expected [address]:port for IPv6, got %s", text);
    }
    size_t plain = bracketed ? length - 2 : length;
    memcpy(host, text + (bracketed ? 1 : 0), plain);
    host[plain] = 0;
    if (!is_multicast(host)) {
        return COMPLAIN(parser, "group: expected a multicast address (224.0.0.0/4 or ff00::/8), got %s", text);
    }
    int64_t port;
    if (!read_number(colon + 1, 1, 65533, &port)) {
        return COMPLAIN(parser, "group: expected a port 1 … 65533, got %s", colon + 1);
    }
    /* As Java writes it: brackets where the address has a colon, the port without leading zeros. */
    bool brackets = strchr(host, ':') != NULL;
    char *to = parser->channel->group;
    size_t room = sizeof parser->channel->group;
    snprintf(to, room, "%s%s%s:%d", brackets ? "[" : "", host, brackets ? "]" : "", (int)port);
    return FC_OK;
}

static fc_status read_delivery(struct parser *parser, const char *text) {
    struct fci_channel *channel = parser->channel;
    int64_t patience_ms;
    if (strcmp(text, "reliable") == 0) {
        channel->delivery = FCI_RELIABLE;
    } else if (strcmp(text, "latest") == 0) {
        channel->delivery = FCI_LATEST;
    } else if (strncmp(text, "evict=", 6) == 0) {
        return CANNOT(parser, "delivery: a host group takes no member under evict; give reliable, latest or deadline=T");
    } else if (strncmp(text, "deadline=", 9) == 0 && read_time(text + 9, 1, 65535, &patience_ms)) {
        channel->delivery = FCI_DEADLINE;
        channel->patience_ms = (int)patience_ms;
    } else {
        return COMPLAIN(parser, "delivery: expected reliable, latest or deadline=T with T such as 40ms or 2s, got %s", text);
    }
    return FC_OK;
}

static fc_status read_word(struct parser *parser, enum key key, const char *text, char *to, size_t room, bool fits) {
    if (!fits || strlen(text) >= room) {
        return COMPLAIN(parser, "%s: expected 1 … %zu of letters, digits, '.', '_', '-', got %s", NAMES[key], room - 1, text);
    }
    strcpy(to, text);
    return FC_OK;
}

static fc_status read_leaders(struct parser *parser, const char *text) {
    parser->channel->by_socket = strcmp(text, "socket") == 0;
    /* In host memory a subscriber has no nearest interface: `nic` is what `host` is. */
    if (parser->channel->by_socket || strcmp(text, "host") == 0 || strcmp(text, "nic") == 0) {
        return FC_OK;
    }
    return COMPLAIN(parser, "leaders: expected host or socket or nic, got %s", text);
}

static fc_status read_host_group(struct parser *parser, const char *text) {
    if (strcmp(text, "off") == 0) {
        return CANNOT(parser, "host-group=off: libframecast follows a host group; leave the key out, or give a name");
    }
    struct fci_channel *channel = parser->channel;
    return read_word(parser, HOST_GROUP, text, channel->host_group, sizeof channel->host_group, is_name(text, 64));
}

/* A GPU by CUDA. Frames are in host memory in any case. */
static fc_status read_device(struct parser *parser, const char *text) {
    if (strncmp(text, "cuda", 4) != 0 || (text[4] != 0 && text[4] != ':')) {
        return FC_OK;
    }
    int64_t ordinal = 0;
    if (text[4] == ':' && !read_number(text + 5, 0, 1023, &ordinal)) {
        return COMPLAIN(parser, "device: expected cuda:N, such as cuda:0, got %s", text);
    }
    parser->channel->cuda_device = (int)ordinal;
    return FC_OK;
}

static fc_status read_cipher(struct parser *parser, const char *text) {
    struct fci_channel *channel = parser->channel;
    bool known = strcmp(text, "none") == 0 || strcmp(text, "auto") == 0 || strcmp(text, "aes-gcm") == 0
                 || strcmp(text, "chacha20-poly1305") == 0;
    if (!known) {
        return COMPLAIN(parser, "cipher: expected none, auto, aes-gcm or chacha20-poly1305, got %s", text);
    }
    strcpy(channel->cipher, text);
    return FC_OK;
}

static fc_status read_payloads(struct parser *parser, const char *text) {
    return strcmp(text, "unprotected") == 0 ? FC_OK : COMPLAIN(parser, "payloads: expected unprotected, got %s", text);
}

/* Payloads are encrypted wherever there is a key, unless payloads=unprotected. */
static fc_status settle_cipher(struct parser *parser) {
    struct fci_channel *channel = parser->channel;
    bool keyed = channel->key_tag[0] != 0;
    bool none = strcmp(channel->cipher, "none") == 0;
    if (parser->given[CIPHER] && !keyed) {
        return COMPLAIN(parser, "cipher: needs auth=psk:FILE or auth=keys:FILE");
    }
    if (parser->given[PAYLOADS]) {
        if (!keyed) {
            return COMPLAIN(parser, "payloads: needs auth=psk:FILE or auth=keys:FILE");
        }
        return none ? FC_OK
                    : COMPLAIN(parser, "payloads: expected no cipher= beside unprotected, got cipher=%s", channel->cipher);
    }
    if (keyed && none && parser->given[CIPHER]) {
        return COMPLAIN(parser, "cipher: none beside auth= leaves payloads without protection; write payloads=unprotected at"
                                " both ends, or leave cipher= out");
    }
    if (keyed && none) {
        strcpy(channel->cipher, "auto");
    }
    return FC_OK;
}

static fc_status read_auth(struct parser *parser, const char *text) {
    return fci_key_tag(text, parser->publishes, parser->channel->key_tag, parser->error);
}

/* Other keys are the server's. */
static fc_status read_published(struct parser *parser, enum key key, const char *text) {
    struct fci_channel *channel = parser->channel;
    switch (key) {
    case GROUP: return read_group(parser, text);
    case CHANNEL: return read_word(parser, key, text, channel->name, sizeof channel->name, is_name(text, 64));
    case CONTROL:
    case IPC: return CANNOT(parser, "%s: clients publish on a multicast channel, with group=", NAMES[key]);
    case FRAME_MAX:
        if (!read_bytes(text, &channel->frame_max) || channel->frame_max < 1) {
            return COMPLAIN(parser, "frame-max: expected a number of bytes, such as 6220800, 64k or 16m, got %s", text);
        }
        return FC_OK;
    case AUTH: return read_auth(parser, text);
    default: return FC_OK;
    }
}

static fc_status read_value(struct parser *parser, enum key key, const char *text) {
    if (parser->publishes) {
        return read_published(parser, key, text);
    }
    struct fci_channel *channel = parser->channel;
    int64_t number;
    switch (key) {
    case GROUP: return read_group(parser, text);
    case CHANNEL: return read_word(parser, key, text, channel->name, sizeof channel->name, is_name(text, 64));
    case INTERFACE: return read_word(parser, key, text, channel->interface_name, sizeof channel->interface_name, true);
    case HOST_GROUP: return read_host_group(parser, text);
    case DELIVERY: return read_delivery(parser, text);
    case LEADERS: return read_leaders(parser, text);
    case CONTROL:
    case IPC: return CANNOT(parser, "%s: a host group needs a multicast channel, with group=", NAMES[key]);
    case RING:
        if (!read_bytes(text, &channel->ring_bytes)) {
            return COMPLAIN(parser, "ring: expected a number of bytes, such as 6220800, 64k, 16m or 1g, got %s", text);
        }
        return FC_OK;
    case FRAMES_HELD:
        if (!read_number(text, 1, 1024, &number)) {
            return COMPLAIN(parser, "frames-held: expected 1 … 1024, got %s", text);
        }
        channel->frames_held = (long)number;
        return FC_OK;
    case ATTACH_AFTER:
        if (!read_time(text, 40, 60000, &number)) {
            return COMPLAIN(parser, "attach-after: expected a time such as 200ms or 2s, 40ms … 60s, got %s", text);
        }
        channel->attach_after_ms = (int)number;
        return FC_OK;
    case REJOIN:
        parser->rejoins = strcmp(text, "auto") != 0;
        if (parser->rejoins && !read_time(text, 0, TIME_MAX_MS, &channel->rejoin_ms)) {
            return COMPLAIN(parser, "rejoin: expected a time such as 10s or 1h, 0s … 86400s, got %s", text);
        }
        return FC_OK;
    case SOURCES:
        return strcmp(text, "1") == 0 ? FC_OK : CANNOT(parser, "sources: a host group has one source, got %s", text);
    case DEVICE: return read_device(parser, text);
    case PLACEMENT:
        channel->reads_in_place = strcmp(text, "shared") == 0;
        return FC_OK;
    case JOIN:
        channel->from_keyframe = strcmp(text, "keyframe") == 0;
        return channel->from_keyframe || strcmp(text, "frame") == 0
                   ? FC_OK
                   : COMPLAIN(parser, "join: expected frame or keyframe, got %s", text);
    case AUTH: return read_auth(parser, text);
    case CIPHER: return read_cipher(parser, text);
    case PAYLOADS: return read_payloads(parser, text);
    default:
        /* Of the network: the leader's. */
        return FC_OK;
    }
}

/* A value that goes on with another key: '|' was forgotten, or '&' written for it. */
static const char *next_key(const char *value) {
    for (int i = 0; i < KEYS; i++) {
        size_t length = strlen(NAMES[i]);
        for (const char *at = strstr(value, NAMES[i]); at != NULL; at = strstr(at + 1, NAMES[i])) {
            if (at[length] == '=') {
                return NAMES[i];
            }
        }
    }
    return NULL;
}

static fc_status read_part(struct parser *parser, char *part) {
    char *equals = strchr(part, '=');
    if (equals == NULL || equals == part) {
        return COMPLAIN(parser, "expected key=value, got '%s'", part);
    }
    *equals = 0;
    const char *value = equals + 1;
    int key = 0;
    while (key < KEYS && strcmp(part, NAMES[key]) != 0) {
        key++;
    }
    if (strcmp(part, "sets") == 0) {
        return COMPLAIN(parser, "sets: there is no such key any more; subscribers with one site= share a co-root, others are "
                                "grouped as they join");
    }
    if (key == KEYS) {
        return COMPLAIN(parser, "unknown key %s; nearest is %s", part, nearest(part));
    }
    if (*value == 0) {
        return COMPLAIN(parser, "%s: expected a value, got none", part);
    }
    const char *next = key == IPC || key == AUTH ? NULL : next_key(value);
    if (next != NULL) {
        return COMPLAIN(parser, "%s: expected '|' between keys, got none before %s= in %s=%s", part, next, part, value);
    }
    if (parser->given[key]) {
        return COMPLAIN(parser, "%s: expected once, got it twice", part);
    }
    parser->given[key] = true;
    return read_value(parser, (enum key)key, value);
}

static fc_status read_parts(struct parser *parser, const char *text) {
    char part[VALUE_BYTES];
    for (bool last = false; !last; ) {
        size_t length = strcspn(text, "|");
        if (length >= sizeof part) {
            return COMPLAIN(parser, "expected less than %d bytes for a key, got %zu", VALUE_BYTES, length);
        }
        memcpy(part, text, length);
        part[length] = 0;
        last = text[length] == 0;
        text += length + 1;
        fc_status status = read_part(parser, part);
        if (status != FC_OK) {
            return status;
        }
    }
    return FC_OK;
}

static fc_status parse(const char *uri, bool publishes, struct fci_channel *channel, fc_error *error) {
    *channel = (struct fci_channel){
        .name = "default", .host_group = "auto", .frames_held = 2, .attach_after_ms = 1000, .delivery = FCI_RELIABLE,
        .cuda_device = -1, .cipher = "none"};
    struct parser parser = {.channel = channel, .error = error, .publishes = publishes};
    size_t scheme = strlen(SCHEME);
    const char *question = strchr(uri, '?');
    if (strncmp(uri, SCHEME, scheme) != 0) {
        return COMPLAIN(&parser, "expected framecast:<transport>?key=value|…, got %s", uri);
    }
    if (question == NULL) {
        return COMPLAIN(&parser, "expected ? and at least group=, got %s", uri);
    }
    size_t length = (size_t)(question - uri) - scheme;
    if (length < sizeof channel->transport) {
        memcpy(channel->transport, uri + scheme, length);
    }
    if (!is_provider(channel->transport)) {
        return COMPLAIN(&parser, "transport: expected auto or a provider's name (1 … 32 of a-z, 0-9, '-', a letter first)");
    }
    fc_status status = read_parts(&parser, question + 1);
    if (status == FC_OK && !parser.given[GROUP]) {
        return COMPLAIN(&parser, "expected group=, got none");
    }
    if (status == FC_OK && !publishes) {
        status = settle_cipher(&parser);
    }
    if (!parser.rejoins && channel->delivery == FCI_LATEST) {
        channel->rejoin_ms = REJOIN_LATEST_MS;
    }
    return status;
}

fc_status fci_parse(const char *uri, struct fci_channel *channel, fc_error *error) {
    return parse(uri, false, channel, error);
}

fc_status fci_parse_published(const char *uri, struct fci_channel *channel, fc_error *error) {
    return parse(uri, true, channel, error);
}
