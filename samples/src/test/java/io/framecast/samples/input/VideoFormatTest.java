package io.framecast.samples.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class VideoFormatTest {
    @ParameterizedTest
    @CsvSource({
        "1920x1080xrgb24, 6220800",
        "640x480xgray, 307200",
        "640x480xgray16le, 614400",
        "4x2xyuv420p, 12",
        "5x3xyuv420p, 27",
        "5x3xnv12, 27",
        "5x3xyuyv422, 36",
        "5x3xyuv422p, 33",
        "4x4xbgra, 64",
        "4x4xp010le, 48"
    })
    void shouldKnowAFramesLength(final String text, final long bytes) {
        final VideoFormat format = VideoFormat.parse(text);
        assertEquals(bytes, format.frameBytes());
        assertEquals(text, format.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1920x1080", "0x5xgray", "5x0xgray", "70000x1xgray", "-1x5xgray", "axbxgray", "1x1x"})
    void shouldRefuseWhatIsNoFormat(final String text) {
        final String message = assertThrows(ConfigException.class, () -> VideoFormat.parse(text))
                .getMessage();
        assertTrue(message.startsWith("--video: expected "), message);
    }

    @Test
    void shouldNameKnownFormatsWhenOneIsUnknown() {
        final String message = assertThrows(ConfigException.class, () -> VideoFormat.parse("4x4xrgb25"))
                .getMessage();
        assertTrue(message.contains("unknown pixel format rgb25") && message.contains("rgb24"), message);
    }

    @Test
    void shouldTakeOnlyOneSizeOption() {
        final InputSpec test = new InputSpec.Test();
        assertThrows(ConfigException.class, () -> FrameShape.of(test, "10", "4x4xgray"));
        assertThrows(ConfigException.class, () -> FrameShape.of(test, "0", null));
        assertThrows(ConfigException.class, () -> FrameShape.of(test, "ten", null));
        assertThrows(ConfigException.class, () -> FrameShape.of(test, "4g", null));
        assertThrows(ConfigException.class, () -> FrameShape.of(new InputSpec.Ffmpeg("-i x"), "10", null));
        assertEquals(65_536, FrameShape.of(test, "64k", null).bytes());
        assertEquals(6_220_800, FrameShape.of(test, null, null).bytes());
    }
}
