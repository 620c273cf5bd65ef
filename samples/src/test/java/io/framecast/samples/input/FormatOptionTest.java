package io.framecast.samples.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.api.format.ElementType;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.format.FrameRate;
import io.framecast.api.format.Picture;
import io.framecast.api.format.PixelFormat;
import io.framecast.api.format.Samples;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FormatOptionTest {
    private static final FrameFormat PICTURE = FrameFormat.picture(PixelFormat.GRAY, 64, 48);

    @Test
    void shouldReadItsParts() {
        assertEquals(
                FrameFormat.tensor(ElementType.FLOAT32, 3, 224, 224)
                        .withRate(new FrameRate(30_000, 1001))
                        .withSamples(new Samples(48_000, 2))
                        .withKey("camera", "left=1"),
                FormatOption.parse(
                        "float32[3x224x224], rate=30000/1001,samples=48000x2,camera=left=1", FrameFormat.EMPTY));
        assertEquals(FrameFormat.tensor(ElementType.INT16), FormatOption.parse("int16[]", FrameFormat.EMPTY));
        assertEquals(
                Picture.Range.FULL,
                FormatOption.parse("range=full", PICTURE)
                        .picture()
                        .orElseThrow()
                        .range());
    }

    @ParameterizedTest
    @CsvSource({
        "'', 'expected TYPE[SHAPE] such as uint8[480x640x3], rate=, range=, samples=, or another KEY=VALUE, got nothing'",
        "'a=1,', 'expected TYPE[SHAPE]'",
        "uint8[x3], 'expected a shape such as 480x640x3'",
        "uint8[0], 'shape: expected up to 16 dimensions of at least 1'",
        "uint99999[3], 'element type: expected a name such as uint8'",
        "rate=0, 'frame rate: expected a fraction'",
        "rate=1.5, 'expected rate=30 or rate=30000/1001'",
        "samples=2, 'expected samples=RATExCHANNELS'",
        "range=half, 'expected range=full, limited or unknown'",
        "shape=banana, 'expected TYPE[SHAPE] such as uint8[480x640x3], got shape=banana'",
        "dtype=float32, 'expected TYPE[SHAPE]'",
        "width=640, 'expected --video WIDTHxHEIGHTxPIXELS'",
        "fps=30, 'expected rate=30'",
    })
    void shouldSayWhatItExpectsInOneLine(final String text, final String expected) {
        final String said = String.valueOf(assertThrows(ConfigException.class, () -> FormatOption.parse(text, PICTURE))
                .getMessage());
        assertTrue(said.startsWith("--format: ") && said.contains(expected), said);
        assertEquals(1, said.lines().count(), said);
    }
}
