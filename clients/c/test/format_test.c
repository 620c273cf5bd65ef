/* Formats: the bytes of docs/formats.md, read and written; bytes that are none. A first argument is the number of rounds
 * with random bytes, a second one the seed. */
#include "cbor.h"
#include "check.h"
#include "format.h"
#include "pixels.h"

/* Those of FormatCodecTest.java. */
#define RGB24_HEX                                                                                                        \
    "a4617601" "6674656e736f72a2647479706583010801657368617065831901e019028003"                                         \
    "6770696374757265a566706978656c736572676232346577696474681902806668656967687419"                                    \
    "01e066706c616e65738182001907806572616e676500" "647261746582181e01"

static struct fci_format decoded;
static fc_error error;

static size_t unhex(const char *hex, uint8_t *to) {
    size_t length = 0;
    for (const char *at = hex; *at != 0; at += 2) {
        char pair[3] = {at[0], at[1], 0};
        to[length++] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return length;
}

static bool decode(const char *hex) {
    uint8_t bytes[FC_FORMAT_BYTES_MAX];
    error.text[0] = 0;
    return fci_format_decode(&decoded, bytes, unhex(hex, bytes), &error);
}

static void reads_as(const char *hex, const char *text) {
    char found[2048];
    decode(hex);
    CHECK_TEXT("", error.text);
    CHECK_NUMBER(strlen(text), fc_format_text(&decoded.shown, found, sizeof found));
    CHECK_TEXT(text, found);
    /* Of a frame without one. */
    CHECK(fc_format_text(NULL, found, sizeof found) == 0 && found[0] == 0 && fc_format_key(NULL, "camera") == NULL);
}

static void is_refused(const char *hex, const char *why) {
    CHECK(!decode(hex) && !decoded.sound);
    if (strstr(error.text, why) == NULL || strncmp(error.text, "format: ", 8) != 0) {
        CHECK_TEXT(why, error.text);
    }
}

static void should_read_the_bytes_of_the_description(void) {
    reads_as(RGB24_HEX, "640x480xrgb24, uint8[480x640x3], 30/s");
    const fc_format *format = &decoded.shown;
    CHECK_NUMBER(3, format->tensor->dimensions);
    CHECK_NUMBER(1920, format->tensor->strides[0]);
    CHECK_NUMBER(0, format->tensor->strided);
    CHECK_NUMBER(640 * 480 * 3, format->tensor->bytes);
    CHECK_TEXT("rgb24", format->picture->pixels);
    CHECK_TEXT("RGB", format->picture->gstreamer);
    CHECK_TEXT(format->picture->pixels, fc_pixels_of_gstreamer("RGB"));
    CHECK(fc_pixels_of_gstreamer("AYUV64") == NULL && fc_pixels_of_gstreamer(NULL) == NULL);
    CHECK_NUMBER(1, format->picture->planes);
    CHECK_NUMBER(1920, format->picture->plane[0].stride);
    CHECK_NUMBER(FC_RANGE_UNKNOWN, format->picture->range);
    CHECK_NUMBER(30, format->rate->numerator);
    CHECK(format->samples == NULL && format->keys == 0 && fc_format_key(format, "camera") == NULL);
    reads_as("a1617601", "");
    /* Keys that it does not know. */
    reads_as("a36178a1617982010a6176016472617465" "82181801", "24/s");
    /* A key that is there twice counts once; names come in order. */
    reads_as("a2617601646b657973a3617a613161616132617a6133", "a=2, z=3");
}

static void should_write_the_bytes_of_the_description(void) {
    uint8_t expected[FC_FORMAT_BYTES_MAX];
    uint8_t bytes[FC_FORMAT_BYTES_MAX];
    size_t length;
    size_t wanted = unhex(RGB24_HEX, expected);
    fc_tensor tensor = {.code = 1, .bits = 8, .lanes = 1, .dimensions = 3, .shape = {480, 640, 3}};
    fc_picture picture = {.pixels = "rgb24", .width = 640, .height = 480};
    fc_rate rate = {30, 1};
    fc_format format = {.tensor = &tensor, .picture = &picture, .rate = &rate};
    CHECK_NUMBER(FC_OK, fc_format_encode(&format, bytes, sizeof bytes, &length, &error));
    CHECK_NUMBER(wanted, length);
    CHECK(memcmp(expected, bytes, wanted) == 0);
    CHECK_NUMBER(FC_E_ARGUMENT, fc_format_encode(&format, bytes, wanted - 1, &length, &error));
    CHECK(strstr(error.text, "shorten its keys") != NULL);
    tensor.code = 3;
    CHECK_NUMBER(FC_E_ARGUMENT, fc_format_encode(&format, bytes, sizeof bytes, &length, &error));
    CHECK(strstr(error.text, "format: tensor: ") == error.text);
    format.tensor = NULL;
    picture.pixels = "rgb25";
    CHECK_NUMBER(FC_E_ARGUMENT, fc_format_encode(&format, bytes, sizeof bytes, &length, &error));
    CHECK(strstr(error.text, "format: picture: ") == error.text);
}

static void should_read_what_it_wrote(void) {
    uint8_t bytes[FC_FORMAT_BYTES_MAX];
    uint8_t again[FC_FORMAT_BYTES_MAX];
    size_t length;
    size_t same;
    fc_tensor tensor = {.code = 1, .bits = 8, .lanes = 1, .dimensions = 2, .shape = {1080, 1280}, .strides = {1536, 1},
                        .strided = 1};
    fc_picture picture = {.pixels = "nv12", .width = 1280, .height = 720, .planes = 2, .range = FC_RANGE_LIMITED,
                          .plane = {{0, 1536}, {1105920, 1536}}};
    fc_samples samples = {48000.5, 2};
    fc_rate rate = {30000, 1001};
    fc_key keys[] = {{"camera", "links, T\xc3\xbcr 2"}, {"", ""}};
    fc_format format = {.tensor = &tensor, .picture = &picture, .samples = &samples, .rate = &rate, .keys = 2, .key = keys};
    CHECK_NUMBER(FC_OK, fc_format_encode(&format, bytes, sizeof bytes, &length, &error));
    CHECK(fci_format_decode(&decoded, bytes, length, &error));
    char text[256];
    fc_format_text(&decoded.shown, text, sizeof text);
    CHECK_TEXT("1280x720xnv12, uint8[1080x1280], 2 channels at 48000.5 Hz, 30000/1001/s, =, camera=links, T\xc3\xbcr 2", text);
    CHECK_NUMBER(1079 * 1536 + 1280, decoded.shown.tensor->bytes);
    CHECK_TEXT("links, T\xc3\xbcr 2", fc_format_key(&decoded.shown, "camera"));
    CHECK_NUMBER(FC_OK, fc_format_encode(&decoded.shown, again, sizeof again, &same, &error));
    CHECK(same == length && memcmp(bytes, again, length) == 0);
}

static void should_say_what_is_wrong(void) {
    is_refused("", "CBOR");
    is_refused("a0", "version");
    is_refused("a1617600", "version");
    is_refused("80", "CBOR");
    is_refused("a1", "CBOR");
    is_refused("a16176", "CBOR");
    is_refused("a16176f6", "CBOR");
    is_refused("a161760180", "bytes behind its end");
    is_refused("a26176016674656e736f72a1657368617065810a", "a tensor has a type");
    is_refused("a26176016674656e736f72a2647479706583030801657368617065810a", "DLPack code");
    is_refused("a26176016674656e736f72a264747970658301080165736861706581391388", "at least 1");
    is_refused("a26176016674656e736f72a2647479706583010801657368617065831b7fffffffffffffff1b7fffffffffffffff"
               "1b7fffffffffffffff", "shorter than 2^63");
    is_refused("a2617601647261746582" "0001", "at least 1");
    is_refused("a26176016770696374757265a166706978656c736178", "unknown pixel format");
    /* Text that is no UTF-8, has a NUL, or is a surrogate; lengths that are not there. */
    is_refused("a2617601646b657973a1616b61ff", "CBOR");
    is_refused("a2617601646b657973a1616b6100", "CBOR");
    is_refused("a2617601646b657973a1616b63eda080", "CBOR");
    is_refused("a2617601646b657973bb7fffffffffffffff616b6176", "CBOR");
    is_refused("a26176016178" "8181818181818181818101", "CBOR");
    is_refused("bf617601ff", "CBOR");
}

static void should_know_each_pixel_format(void) {
    static const char *const NAMES[] = {"gray", "gray16le", "grayf32le", "rgb565le", "rgb24", "bgr24", "rgba", "bgra",
                                        "argb", "abgr", "rgb0", "bgr0", "rgb48le", "rgba64le", "gbrp", "yuyv422",
                                        "uyvy422", "yuv420p", "yuv420p10le", "nv12", "nv21", "p010le", "yuv422p",
                                        "yuv422p10le", "yuv444p"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        uint8_t bytes[FC_FORMAT_BYTES_MAX];
        size_t length;
        fc_picture picture = {.pixels = NAMES[i], .width = 333, .height = 77};
        fc_format format = {.picture = &picture};
        CHECK_NUMBER(FC_OK, fc_format_encode(&format, bytes, sizeof bytes, &length, &error));
        CHECK(fci_format_decode(&decoded, bytes, length, &error));
        CHECK_TEXT(NAMES[i], decoded.shown.picture->pixels);
    }
    fc_plane plane[FC_PLANES_MAX];
    CHECK_NUMBER(3, fci_pixels_planes(fci_pixels_of("yuv420p", 7), 333, 77, plane));
    CHECK_NUMBER(333 * 77 + 167 * 39, plane[2].offset);
    CHECK_NUMBER(167, plane[2].stride);
}

/* As PixelFormat.java has it: of 6 × 4 and of 5 × 3 pixels. */
static void should_describe_a_picture_as_a_tensor(void) {
    static const char *const EXPECTED[][3] = {
        {"gray", "uint8[4x6]", "uint8[3x5]"}, {"gray16le", "uint16[4x6]", "uint16[3x5]"},
        {"grayf32le", "float32[4x6]", "float32[3x5]"}, {"rgb565le", "uint16[4x6]", "uint16[3x5]"},
        {"rgb24", "uint8[4x6x3]", "uint8[3x5x3]"}, {"bgr0", "uint8[4x6x4]", "uint8[3x5x4]"},
        {"rgb48le", "uint16[4x6x3]", "uint16[3x5x3]"}, {"rgba64le", "uint16[4x6x4]", "uint16[3x5x4]"},
        {"gbrp", "uint8[3x4x6]", "uint8[3x3x5]"}, {"yuyv422", "uint8[4x6x2]", ""},
        {"yuv420p", "uint8[6x6]", ""}, {"yuv420p10le", "uint16[6x6]", ""},
        {"nv12", "uint8[6x6]", ""}, {"p010le", "uint16[6x6]", ""},
        {"yuv422p", "uint8[8x6]", ""}, {"yuv422p10le", "uint16[8x6]", ""}, {"yuv444p", "uint8[3x4x6]", "uint8[3x3x5]"}};
    for (size_t i = 0; i < sizeof EXPECTED / sizeof EXPECTED[0]; i++) {
        for (int odd = 0; odd < 2; odd++) {
            fc_picture picture = {.pixels = EXPECTED[i][0], .width = odd ? 5 : 6, .height = odd ? 3 : 4};
            fc_tensor tensor;
            fc_format format = {.tensor = fc_picture_tensor(&picture, &tensor) ? &tensor : NULL};
            char text[64];
            fc_format_text(&format, text, sizeof text);
            CHECK_TEXT(EXPECTED[i][1 + odd], text);
        }
    }
    fc_tensor tensor;
    fc_picture unknown = {.pixels = "nv99", .width = 6, .height = 4};
    fc_picture empty = {.pixels = "nv12", .width = 0, .height = 4};
    CHECK(!fc_picture_tensor(&unknown, &tensor) && !fc_picture_tensor(&empty, &tensor) && !fc_picture_tensor(NULL, &tensor));
}

static void should_give_the_same_format_for_the_same_bytes(void) {
    struct fci_formats formats = {{NULL}};
    uint8_t bytes[FC_FORMAT_BYTES_MAX];
    size_t length = unhex(RGB24_HEX, bytes);
    struct fci_format *one = fci_formats_take(&formats, 1, bytes, length);
    struct fci_format *two = fci_formats_take(&formats, 64, bytes, length);
    CHECK(one == two && one->sound && one->shown.id > 0);
    bytes[length - 1] = 2;
    struct fci_format *other = fci_formats_take(&formats, 1, bytes, length);
    CHECK(other != one && other->shown.id != one->shown.id && other->shown.rate->denominator == 2);
    fci_formats_free(&formats);
    CHECK_NUMBER(2, one->references);
    fci_format_unref(one);
    fci_format_unref(two);
    fci_format_unref(other);
}

static uint64_t state;

/* xorshift64 (Marsaglia 2003). */
static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* All that a program may look at. */
static void look_at(const fc_format *format) {
    uint8_t again[FC_FORMAT_BYTES_MAX];
    char text[64];
    size_t length;
    CHECK(fc_format_text(format, text, sizeof text) >= 0 && memchr(text, 0, sizeof text) != NULL);
    CHECK(format->keys <= FC_KEYS_MAX);
    for (uint32_t i = 0; i < format->keys; i++) {
        CHECK(fc_format_key(format, format->key[i].name) == format->key[i].value);
    }
    if (format->tensor != NULL) {
        CHECK(format->tensor->bytes > 0 && format->tensor->dimensions <= FC_DIMENSIONS_MAX);
    }
    if (format->picture != NULL) {
        CHECK(format->picture->planes > 0 && format->picture->planes <= FC_PLANES_MAX);
    }
    fc_status status = fc_format_encode(format, again, sizeof again, &length, &error);
    CHECK(status == FC_OK || strstr(error.text, "shorten its keys") != NULL);
}

static void should_withstand_any_bytes(unsigned long rounds) {
    static const char *const SEEDS[] = {
        RGB24_HEX,
        "a36176016674656e736f72a3647479706583010801657368617065821904381905006773747269646573821906"
        "00016773616d706c6573a26472617465fb40e7701000000000686368616e6e656c7302",
        "a2617601646b657973a260606663616d657261656c696e6b73"};
    unsigned long sound = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        uint8_t bytes[FC_FORMAT_BYTES_MAX];
        size_t length = unhex(SEEDS[draw() % 3], bytes);
        for (uint64_t changes = draw() % 4; changes > 0; changes--) {
            bytes[draw() % length] = (uint8_t)draw();
        }
        length = draw() % 8 == 0 ? draw() % (length + 1) : length;
        /* Of exactly that length, for the sanitizers. */
        uint8_t *exact = malloc(length > 0 ? length : 1);
        CHECK(exact != NULL);
        memcpy(exact, bytes, length);
        if (fci_format_decode(&decoded, exact, length, &error)) {
            sound++;
            look_at(&decoded.shown);
        }
        free(exact);
    }
    printf("format_test: %lu of %lu random formats were sound\n", sound, rounds);
}

int main(int count, char **words) {
    unsigned long rounds = count > 1 ? strtoul(words[1], NULL, 10) : 200000;
    state = count > 2 ? strtoul(words[2], NULL, 10) : 1;
    should_read_the_bytes_of_the_description();
    should_write_the_bytes_of_the_description();
    should_read_what_it_wrote();
    should_say_what_is_wrong();
    should_know_each_pixel_format();
    should_describe_a_picture_as_a_tensor();
    should_give_the_same_format_for_the_same_bytes();
    should_withstand_any_bytes(rounds);
    printf("format_test: %d checks passed\n", checks);
    return 0;
}
