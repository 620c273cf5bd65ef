package io.framecast.samples.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContainerTest {
    @TempDir
    private Path directory;

    private InputSpec file(final String name, final byte[] head) throws IOException {
        return new InputSpec.File(Files.write(directory.resolve(name), Arrays.copyOf(head, 1_000)));
    }

    @ParameterizedTest
    @CsvSource({
        "clip.mp4, '\0\0\0\040ftypisom', MP4",
        "clip.mkv, '\u001aE\u00df\u00a3', Matroska",
        "clip.avi, 'RIFF\0\0\0\0AVI LIST', AVI",
        "clip.y4m, 'YUV4MPEG2 W640 H480', YUV4MPEG2",
        "still.png, '\u0089PNG\r\n', PNG",
    })
    void shouldRefuseContainerAsRawVideo(final String name, final String head, final String kind) throws IOException {
        final InputSpec input = file(name, head.getBytes(StandardCharsets.ISO_8859_1));
        final String message = assertThrows(ConfigException.class, () -> FrameShape.of(input, null, null))
                .getMessage();
        assertTrue(message.contains(kind), message);
        assertTrue(message.contains("'ffmpeg:-i " + directory.resolve(name) + "'"), message);
        assertThrows(ConfigException.class, () -> FrameShape.of(input, null, "640x480xnv12"));
        // Bytes that are asked for by their number are only bytes.
        assertEquals(4_096, FrameShape.of(input, "4k", null).bytes());
    }

    @Test
    void shouldTellTransportStreamFromGreyPicture() throws IOException {
        final byte[] grey = new byte[1_000];
        Arrays.fill(grey, (byte) 'G');
        assertEquals(
                6_220_800, FrameShape.of(file("grey.raw", grey), null, null).bytes());
        final InputSpec stream = file("clip.TS", grey);
        assertThrows(ConfigException.class, () -> FrameShape.of(stream, null, null));
    }

    @Test
    void shouldTakeRawVideoAndLeaveMissingFilesToTheirReader() throws IOException {
        assertEquals(
                6_220_800,
                FrameShape.of(file("video.raw", new byte[0]), null, null).bytes());
        assertEquals(
                6_220_800,
                FrameShape.of(new InputSpec.File(directory.resolve("missing")), null, null)
                        .bytes());
    }
}
