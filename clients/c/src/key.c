#include "key.h"

#include "error.h"
#include "sha256.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (64 << 10)
#define ID_BYTES_MAX 64
#define KEY_BYTES_MIN 32
#define KEY_BYTES_MAX 256
#define BLOCK_BYTES 64

#define REFUSE(error, ...) fci_fail(error, FC_E_KEY, "auth: " __VA_ARGS__)

static const char LABEL[] = "framecast 2 host group";

/* HMAC-SHA-256 (RFC 2104) of the label. */
static void authenticate(const uint8_t *key, size_t bytes, uint8_t digest[32]) {
    uint8_t pad[BLOCK_BYTES] = {0};
    uint8_t inner[BLOCK_BYTES + sizeof LABEL - 1];
    uint8_t outer[BLOCK_BYTES + 32];
    if (bytes > BLOCK_BYTES) {
        fci_sha256(key, bytes, pad);
    } else {
        memcpy(pad, key, bytes);
    }
    for (int i = 0; i < BLOCK_BYTES; i++) {
        inner[i] = pad[i] ^ 0x36;
        outer[i] = pad[i] ^ 0x5c;
    }
    memcpy(inner + BLOCK_BYTES, LABEL, sizeof LABEL - 1);
    fci_sha256(inner, sizeof inner, outer + BLOCK_BYTES);
    fci_sha256(outer, sizeof outer, digest);
    explicit_bzero(pad, sizeof pad);
    explicit_bzero(inner, sizeof inner);
    explicit_bzero(outer, sizeof outer);
}

static fc_status open_own(const char *path, int *file, fc_error *error) {
    struct stat found;
    /* A pipe without a writer would block. */
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0) {
        return REFUSE(error, "cannot read %s: %s", path, strerror(errno));
    }
    if (fstat(*file, &found) != 0 || !S_ISREG(found.st_mode)) {
        return REFUSE(error, "%s is no file", path);
    }
    if ((found.st_mode & 0077) != 0) {
        return REFUSE(error, "users other than its owner may read or write %s; chmod 600 %s", path, path);
    }
    if (found.st_uid != getuid()) {
        return REFUSE(error, "%s is not this user's; chown it", path);
    }
    return found.st_size <= FILE_BYTES_MAX ? FC_OK : REFUSE(error, "%s is longer than %d bytes", path, FILE_BYTES_MAX);
}

/* The first line that is not empty and no comment; NULL for none. */
static char *first_line(char *text) {
    char *line = text;
    while (*line == '\n' || *line == '#') {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    line[strcspn(line, "\n")] = 0;
    return *line == 0 ? NULL : line;
}

static int digit(char c) {
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static fc_status tag_of(const char *path, char *text, char tag[17], fc_error *error) {
    const char *line = first_line(text);
    size_t id = line == NULL
                    ? 0
                    : strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    if (line == NULL || id == 0 || id > ID_BYTES_MAX || line[id] != ' ') {
        return REFUSE(error, "%s: expected lines of an id, a space, and a key in hexadecimal", path);
    }
    const char *digits = line + id + 1;
    size_t count = strlen(digits);
    if (count < 2 * KEY_BYTES_MIN || count > 2 * KEY_BYTES_MAX || count % 2 != 0
        || strspn(digits, "0123456789abcdefABCDEF") != count) {
        return REFUSE(error, "%s: expected %d … %d bytes of key in hexadecimal", path, KEY_BYTES_MIN, KEY_BYTES_MAX);
    }
    uint8_t key[KEY_BYTES_MAX];
    for (size_t i = 0; i < count / 2; i++) {
        key[i] = (uint8_t)(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
    }
    uint8_t digest[32];
    authenticate(key, count / 2, digest);
    explicit_bzero(key, sizeof key);
    for (size_t i = 0; i < 8; i++) {
        snprintf(tag + 2 * i, 3, "%02x", digest[i]);
    }
    return FC_OK;
}

fc_status fci_key_tag(const char *setting, bool publishes, char tag[17], fc_error *error) {
    bool shared = strncmp(setting, "psk:", 4) == 0;
    const char *path = strchr(setting, ':');
    if ((!shared && strncmp(setting, "keys:", 5) != 0) || path == NULL || path[1] == 0) {
        return REFUSE(error, "expected psk:FILE or keys:PATH, got %s", setting);
    }
    path++;
    *tag = 0;
    if (publishes && !shared) {
        return FC_OK;
    }
    char text[FILE_BYTES_MAX + 1];
    int file = -1;
    fc_status status = open_own(path, &file, error);
    if (status == FC_OK) {
        ssize_t bytes = read(file, text, FILE_BYTES_MAX);
        text[bytes < 0 ? 0 : bytes] = 0;
        status = bytes < 0 ? REFUSE(error, "cannot read %s: %s", path, strerror(errno)) : tag_of(path, text, tag, error);
        explicit_bzero(text, sizeof text);
    }
    if (file >= 0) {
        close(file);
    }
    return status;
}
