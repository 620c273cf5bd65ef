package io.framecast.engine.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.CodecException;
import io.framecast.api.format.ElementType;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.format.FrameRate;
import io.framecast.api.format.Picture;
import io.framecast.api.format.PixelFormat;
import io.framecast.api.format.Plane;
import io.framecast.api.format.Samples;
import io.framecast.api.format.Tensor;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FormatCodecTest {
    static final FrameFormat ALL = FrameFormat.picture(PixelFormat.NV12, 1280, 720)
            .withTensor(new Tensor(ElementType.UINT8, List.of(1080L, 1280L), List.of(1536L, 1L)))
            .withPicture(new Picture(
                    PixelFormat.NV12,
                    1280,
                    720,
                    List.of(new Plane(0, 1536), new Plane(1_105_920, 1536)),
                    Picture.Range.LIMITED))
            .withSamples(new Samples(48_000.5, 2))
            .withRate(new FrameRate(30_000, 1001))
            .withKey("camera", "links, Tür 2")
            .withKey("", "");

    @Test
    void shouldReadWhatItWrote() {
        for (final FrameFormat format : List.of(
                ALL,
                FrameFormat.EMPTY,
                FrameFormat.tensor(ElementType.FLOAT32),
                FrameFormat.tensor(ElementType.parse("bfloat16x4"), 3, 224, 224))) {
            assertEquals(format, FormatCodec.decode(FormatCodec.encode(format)));
        }
    }

    @ParameterizedTest
    @EnumSource(PixelFormat.class)
    void shouldReadPicturesOfEachPixelFormat(final PixelFormat pixels) {
        for (final int[] size : new int[][] {{1, 1}, {640, 480}, {333, 77}, {65_535, 65_535}}) {
            final FrameFormat format = FrameFormat.picture(pixels, size[0], size[1]);
            assertEquals(format, FormatCodec.decode(FormatCodec.encode(format)));
            final Picture picture = format.picture().orElseThrow();
            assertTrue(picture.isCompact());
            format.tensor().ifPresent(tensor -> assertEquals(pixels.frameBytes(size[0], size[1]), tensor.bytes()));
        }
    }

    /// The bytes are a promise to other languages (docs/formats.md).
    @Test
    void shouldWriteTheBytesOfTheDescription() {
        assertEquals(
                "a4" // map of 4
                        + "6176" + "01" // v
                        + "6674656e736f72" + "a2" // tensor
                        + "6474797065" + "83010801" // type
                        + "657368617065" + "831901e019028003" // shape
                        + "6770696374757265" + "a5" // picture
                        + "66706978656c73" + "657267623234" // pixels
                        + "657769647468" + "190280" // width
                        + "66686569676874" + "1901e0" // height
                        + "66706c616e6573" + "818200190780" // planes
                        + "6572616e6765" + "00" // range
                        + "6472617465" + "82181e01", // rate
                HexFormat.of()
                        .formatHex(FormatCodec.encode(
                                FrameFormat.picture(PixelFormat.RGB24, 640, 480).withRate(new FrameRate(30, 1)))));
    }

    @ParameterizedTest
    @CsvSource({
        "a0, expected version 1",
        "a1617600, expected version 1",
        "80, expected START_OBJECT",
        "a1, ''",
        "a16176, ''",
        "a16176f6, expected VALUE_NUMBER_INT",
        "a161760180, bytes behind its end",
        "a26176016674656e736f72a1657368617065810a, expected a type of 3 numbers",
        "a26176016674656e736f72a2647479706583030801657368617065810a, DLPack code",
        "a26176016674656e736f72a264747970658301080165736861706581391388, at least 1",
        "a26176016674656e736f72a264747970658301080165736861706583"
                + "1b7fffffffffffffff1b7fffffffffffffff1b7fffffffffffffff, longer than 2^63",
        "a261760164726174658200 01, at least 1",
        "a26176016770696374757265a166706978656c7361 78, unknown pixel format x",
    })
    void shouldSayWhatIsWrongInOneLine(final String hex, final String expected) {
        final String even = hex.replace(" ", "");
        final byte[] bytes = HexFormat.of().parseHex(even.length() % 2 == 0 ? even : even + '0');
        final String said = String.valueOf(assertThrows(CodecException.class, () -> FormatCodec.decode(bytes))
                .getMessage());
        assertTrue(said.contains(expected) && said.startsWith("format: "), said);
        assertEquals(1, said.lines().count(), said);
    }

    /// Found by `FormatFuzzTest`: they came as half a pair of surrogates, which no text can be encoded from.
    @Test
    void shouldRefuseKeysThatAreNoUtf8() {
        final byte[] key = HexFormat.of().parseHex("a2" + "617601" + "646b657973" + "a1" + "66f6616d657261" + "6178");
        final byte[] value = HexFormat.of().parseHex("a2" + "617601" + "646b657973" + "a1" + "6178" + "66f6616d657261");
        for (final byte[] bytes : new byte[][] {key, value}) {
            final CodecException e = assertThrows(CodecException.class, () -> FormatCodec.decode(bytes));
            assertEquals("format: expected UTF-8", e.getMessage());
        }
    }

    @Test
    void shouldPassOverKeysThatItDoesNotKnow() {
        final byte[] bytes =
                HexFormat.of().parseHex("a3" + "6178" + "a1617982010a" + "617601" + "6472617465" + "821818" + "01");
        assertEquals(FrameFormat.EMPTY.withRate(new FrameRate(24, 1)), FormatCodec.decode(bytes));
    }

    /// Nothing but a format or a [CodecException] comes of any bytes.
    @Test
    void shouldWithstandAnyBytes() {
        alter(20_000);
    }

    @Tag("campaign")
    @Test
    void shouldWithstandAnyBytesInManyRounds() {
        alter(200_000);
    }

    private static void alter(final long rounds) {
        final SplittableRandom random = new SplittableRandom(1);
        final byte[] good = FormatCodec.encode(ALL);
        for (int i = 0; i < rounds; i++) {
            final byte[] bytes = good.clone();
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                FormatCodec.decode(bytes);
            } catch (final CodecException e) {
                assertTrue(String.valueOf(e.getMessage()).startsWith("format: "));
            }
        }
    }

    @Test
    void shouldRefuseWhatIsTooLong() {
        final FrameFormat format = FrameFormat.EMPTY.withKey("k", "x".repeat(1020));
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> FormatCodec.encode(format))
                        .getMessage())
                .startsWith("format: expected at most 1024 bytes, got "));
    }
}
