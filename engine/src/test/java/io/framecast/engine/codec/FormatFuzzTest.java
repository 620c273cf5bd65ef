package io.framecast.engine.codec;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.CodecException;
import io.framecast.api.format.ElementType;
import io.framecast.api.format.FrameFormat;
import io.framecast.fuzz.FuzzCorpus;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A format's CBOR, as a source sends it: it is refused in one line, or read, and read again from its own encoding as
/// the same format.
public final class FormatFuzzTest {
    // Twice the parser's buffers, and what Jazzer adds to them.
    private static final long ALLOCATED_MAX = 16 << 20;

    @TestFactory
    Stream<DynamicTest> shouldReadOrRefuse() {
        return FuzzCorpus.of(
                FormatFuzzTest.class,
                Map.of(
                        "all", FormatCodec.encode(FormatCodecTest.ALL),
                        "nothing", FormatCodec.encode(FrameFormat.EMPTY),
                        "scalar", FormatCodec.encode(FrameFormat.tensor(ElementType.FLOAT32)),
                        "tensor", FormatCodec.encode(FrameFormat.tensor(ElementType.parse("bfloat16x4"), 3, 224, 224))),
                FormatFuzzTest::fuzzerTestOneInput);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        requireAllocation(ALLOCATED_MAX, () -> read(input));
    }

    private static void read(final byte[] input) {
        final FrameFormat format;
        try {
            format = FormatCodec.decode(input);
        } catch (final CodecException e) {
            requireEqual(1L, String.valueOf(e.getMessage()).lines().count());
            return;
        }
        // A key may say so.
        require(
                format.keys().toString().contains("null") || !format.toString().contains("null"),
                "a description of what is there");
        format.tensor().ifPresent(tensor -> require(tensor.bytes() >= 0, "a tensor's length"));
        format.picture().ifPresent(picture -> require(picture.width() > 0 && picture.height() > 0, "a picture's size"));
        final byte[] encoded;
        try {
            encoded = FormatCodec.encode(format);
        } catch (final IllegalArgumentException e) {
            // The input left out some that every encoding has, so that this one is longer.
            require(String.valueOf(e.getMessage()).contains("expected at most 1024 bytes"), "no more than its length");
            return;
        }
        requireEqual(format, FormatCodec.decode(encoded));
    }
}
