/* URIs, SHA-256 and the names of groups. */
#include "check.h"
#include "meeting.h"
#include "sha256.h"
#include "uri.h"

#include <sys/stat.h>
#include <unistd.h>

static struct fci_channel parsed(const char *uri) {
    struct fci_channel channel;
    fc_error error = {.status = FC_OK, .text = ""};
    fc_status status = fci_parse(uri, &channel, &error);
    CHECK_TEXT("", error.text);
    CHECK_NUMBER(FC_OK, status);
    return channel;
}

static void refused(fc_status status, const char *line, const char *uri) {
    struct fci_channel channel;
    fc_error error = {.status = FC_OK, .text = ""};
    CHECK_NUMBER(status, fci_parse(uri, &channel, &error));
    CHECK_TEXT(line, error.text);
}

static void should_take_javas_defaults(void) {
    struct fci_channel channel = parsed("framecast:auto?group=224.20.30.39:24326");
    CHECK_TEXT("auto", channel.transport);
    CHECK_TEXT("default", channel.name);
    CHECK_TEXT("224.20.30.39:24326", channel.group);
    CHECK_TEXT("", channel.interface_name);
    CHECK_TEXT("auto", channel.host_group);
    CHECK_NUMBER(2, channel.frames_held);
    CHECK_NUMBER(0, channel.ring_bytes);
    CHECK_NUMBER(1000, channel.attach_after_ms);
    CHECK_NUMBER(FCI_RELIABLE, channel.delivery);
    CHECK_NUMBER(0, channel.rejoin_ms);
}

static void should_read_each_key_that_matters(void) {
    struct fci_channel channel = parsed("framecast:udp?group=[ff12::a]:024326|channel=cam_1|interface=eth0|host-group=g.1"
                                        "|frames-held=7|ring=64k|attach-after=200ms|delivery=deadline=2s|rejoin=5m"
                                        "|leaders=socket|mtu=1500|device=host|join=keyframe");
    CHECK_TEXT("[ff12::a]:24326", channel.group);
    CHECK_TEXT("eth0", channel.interface_name);
    CHECK_TEXT("g.1", channel.host_group);
    CHECK_NUMBER(7, channel.frames_held);
    CHECK_NUMBER(65536, channel.ring_bytes);
    CHECK_NUMBER(200, channel.attach_after_ms);
    CHECK_NUMBER(FCI_DEADLINE, channel.delivery);
    CHECK_NUMBER(2000, channel.patience_ms);
    CHECK_NUMBER(300000, channel.rejoin_ms);
    CHECK(channel.by_socket);
    CHECK(channel.from_keyframe);
    CHECK(!parsed("framecast:udp?group=224.0.0.9:1|join=frame").from_keyframe);
    CHECK_NUMBER(3600000, parsed("framecast:udp?group=224.0.0.9:1|delivery=latest").rejoin_ms);
    CHECK_NUMBER(0, parsed("framecast:udp?group=224.0.0.9:1|delivery=latest|rejoin=0s").rejoin_ms);
}

static void should_refuse_with_a_hint(void) {
    refused(FC_E_URI, "channel URI: expected framecast:<transport>?key=value|…, got udp://224.0.0.9:1", "udp://224.0.0.9:1");
    refused(FC_E_URI, "channel URI: unknown key gruop; nearest is group", "framecast:udp?gruop=224.0.0.9:1");
    refused(FC_E_URI, "channel URI: unknown key delivry; nearest is delivery", "framecast:udp?delivry=latest");
    refused(FC_E_URI,
            "channel URI: sets: there is no such key any more; subscribers with one site= share a co-root, others are "
            "grouped as they join",
            "framecast:udp?sets=block");
    refused(FC_E_URI, "channel URI: expected group=, got none", "framecast:udp?channel=a");
    refused(FC_E_URI, "channel URI: group: expected once, got it twice", "framecast:udp?group=224.0.0.9:1|group=224.0.0.9:1");
    refused(FC_E_URI, "channel URI: group: expected '|' between keys, got none before channel= in group=224.0.0.9:1&channel=a",
            "framecast:udp?group=224.0.0.9:1&channel=a");
    refused(FC_E_URI, "channel URI: group: expected a multicast address (224.0.0.0/4 or ff00::/8), got 10.0.0.1:5",
            "framecast:udp?group=10.0.0.1:5");
    refused(FC_E_URI, "channel URI: group: expected a port 1 … 65533, got 65534", "framecast:udp?group=224.0.0.9:65534");
    refused(FC_E_URI, "channel URI: frames-held: expected 1 … 1024, got 0", "framecast:udp?group=224.0.0.9:1|frames-held=0");
    refused(FC_E_URI, "channel URI: delivery: expected reliable, latest or deadline=T with T such as 40ms or 2s, got newest",
            "framecast:udp?group=224.0.0.9:1|delivery=newest");
    refused(FC_E_URI, "channel URI: join: expected frame or keyframe, got key", "framecast:udp?group=224.0.0.9:1|join=key");
    refused(FC_E_UNSUPPORTED, "channel URI: delivery: a host group takes no member under evict; give reliable, latest or"
            " deadline=T", "framecast:udp?group=224.0.0.9:1|delivery=evict=2s");
    refused(FC_E_UNSUPPORTED, "channel URI: control: a host group needs a multicast channel, with group=",
            "framecast:aeron?control=10.0.0.1:24326");
    refused(FC_E_UNSUPPORTED, "channel URI: host-group=off: libframecast follows a host group; leave the key out, or give a"
            " name", "framecast:udp?group=224.0.0.9:1|host-group=off");
}

static void should_survive_any_text(void) {
    static const char ALPHABET[] = "framecast:udp?group=224.0.0.9:1|channel=a|ring=9g|[]%\n\xff-.,;&";
    char text[256];
    for (int i = 0; i < 200000; i++) {
        size_t length = (size_t)rand() % (sizeof text - 1);
        const char *valid = "framecast:udp?group=224.0.0.9:1|channel=a|ring=64k|delivery=deadline=2s";
        memcpy(text, valid, strlen(valid) + 1);
        length = i % 2 == 0 ? strlen(valid) : length;
        for (size_t j = i % 2 == 0 ? (size_t)rand() % length : 0; j < length; j++) {
            text[j] = ALPHABET[(size_t)rand() % (sizeof ALPHABET - 1)];
        }
        text[length] = 0;
        struct fci_channel channel;
        fc_error error;
        if (fci_parse(text, &channel, &error) != FC_OK) {
            CHECK(strchr(error.text, '\n') == NULL && error.text[0] != 0);
        }
    }
}

static void should_hash(const char *text, const char *expected) {
    uint8_t digest[32];
    char hex[65];
    fci_sha256(text, strlen(text), digest);
    for (size_t i = 0; i < 32; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    CHECK_TEXT(expected, hex);
}

/* Of FIPS 180-4, and of lengths around a block (sha256sum). */
static void should_hash_known_texts(void) {
    should_hash("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    should_hash("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    should_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    should_hash("0123456789012345678901234567890123456789012345678901234567890123",
                "9674d9e078535b7cec43284387a6ee39956188e735a85452b0050b55341cda56");
}

static void should_name_groups(void) {
    struct fci_channel channel = parsed("framecast:udp?group=224.20.30.39:24326|channel=cam1|interface=127.0.0.1");
    char name[17];
    fci_leader_name(&channel, "udp", "net:[4026531840]", -1, name);
    CHECK_TEXT("f499f31d330258fe", name);
    fci_leader_name(&channel, "udp", "net:[4026531840]", 1, name);
    CHECK_TEXT("82483613dd62127b", name);
    fci_source_name(&channel, "udp", "net:[4026531840]", name);
    CHECK_TEXT("d8f90302dfcdaa4d", name);
}

static char key_path[] = "/tmp/framecast-key-XXXXXX";

static void write_key(const char *text, mode_t mode) {
    FILE *file = fopen(key_path, "we");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
    CHECK_NUMBER(0, chmod(key_path, mode));
}

static const char *with_key(const char *scheme, const char *more) {
    static char uri[256];
    snprintf(uri, sizeof uri, "framecast:udp?group=224.20.30.39:24326|channel=cam1|interface=127.0.0.1|auth=%s:%s%s", scheme,
             key_path, more);
    return uri;
}

static void key_refused(const char *text, mode_t mode, const char *expected) {
    struct fci_channel channel;
    fc_error error = {.status = FC_OK, .text = ""};
    char line[256];
    write_key(text, mode);
    CHECK_NUMBER(FC_E_KEY, fci_parse(with_key("psk", ""), &channel, &error));
    snprintf(line, sizeof line, expected, key_path, key_path);
    CHECK_TEXT(line, error.text);
}

#define DIGITS_32 "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

/* Names of python3's hmac and hashlib. */
static void should_name_groups_by_their_key(void) {
    int file = mkstemp(key_path);
    CHECK(file >= 0);
    close(file);
    char name[17];
    write_key("# a comment\n\nkey1 " DIGITS_32 "\nkey2 00\n", 0600);
    struct fci_channel channel = parsed(with_key("psk", "|cipher=aes-gcm|rekey=1h"));
    CHECK_TEXT("a5338eed02c72402", channel.key_tag);
    fci_leader_name(&channel, "udp", "net:[4026531840]", -1, name);
    CHECK_TEXT("f9be69d29400c3e3", name);
    fci_source_name(&channel, "udp", "net:[4026531840]", name);
    CHECK_TEXT("819b21d51c9e7b48", name);
    CHECK_TEXT("a5338eed02c72402", parsed(with_key("keys", "")).key_tag);
    CHECK_TEXT("auto", parsed(with_key("psk", "")).cipher);
    CHECK_TEXT("none", parsed(with_key("psk", "|payloads=unprotected")).cipher);
    refused(FC_E_URI, "channel URI: payloads: expected unprotected, got plain", with_key("psk", "|payloads=plain"));
    refused(FC_E_URI, "channel URI: payloads: expected no cipher= beside unprotected, got cipher=auto",
            with_key("psk", "|cipher=auto|payloads=unprotected"));
    refused(FC_E_URI,
            "channel URI: cipher: none beside auth= leaves payloads without protection; write payloads=unprotected at both"
            " ends, or leave cipher= out",
            with_key("psk", "|cipher=none"));
    fc_error error = {.status = FC_OK, .text = ""};
    CHECK_NUMBER(FC_OK, fci_parse_published(with_key("keys", ""), &channel, &error));
    CHECK_TEXT("", channel.key_tag);
    CHECK_NUMBER(FC_OK, fci_parse_published(with_key("psk", ""), &channel, &error));
    CHECK_TEXT("a5338eed02c72402", channel.key_tag);
    char longest[220] = "key1 ";
    for (int i = 0; i < 100; i++) {
        strcat(longest, "0b");
    }
    write_key(longest, 0400);
    CHECK_TEXT("1683a8c634c509a7", parsed(with_key("psk", "")).key_tag);
    key_refused("key1 " DIGITS_32, 0640, "auth: users other than its owner may read or write %s; chmod 600 %s");
    key_refused("key1 " DIGITS_32 "0", 0600, "auth: %s: expected 32 … 256 bytes of key in hexadecimal");
    key_refused("key1 0a0a", 0600, "auth: %s: expected 32 … 256 bytes of key in hexadecimal");
    key_refused("key1 z" DIGITS_32, 0600, "auth: %s: expected 32 … 256 bytes of key in hexadecimal");
    key_refused("", 0600, "auth: %s: expected lines of an id, a space, and a key in hexadecimal");
    unlink(key_path);
    refused(FC_E_KEY, "auth: expected psk:FILE or keys:PATH, got file", "framecast:udp?group=224.0.0.9:1|auth=file");
    refused(FC_E_KEY, "auth: cannot read /nowhere: No such file or directory", "framecast:udp?group=224.0.0.9:1|auth=psk:/nowhere");
    refused(FC_E_URI, "channel URI: cipher: needs auth=psk:FILE or auth=keys:FILE", "framecast:udp?group=224.0.0.9:1|cipher=auto");
    refused(FC_E_URI, "channel URI: payloads: needs auth=psk:FILE or auth=keys:FILE",
            "framecast:udp?group=224.0.0.9:1|payloads=unprotected");
    refused(FC_E_URI, "channel URI: cipher: expected none, auto, aes-gcm or chacha20-poly1305, got des",
            "framecast:udp?group=224.0.0.9:1|cipher=des");
}

int main(void) {
    srand(1);
    should_take_javas_defaults();
    should_read_each_key_that_matters();
    should_refuse_with_a_hint();
    should_survive_any_text();
    should_hash_known_texts();
    should_name_groups();
    should_name_groups_by_their_key();
    printf("uri_test: %d checks\n", checks);
    return 0;
}
