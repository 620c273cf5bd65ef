package io.framecast.samples.input;

import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/// Files of compressed or packed pictures, which a user may take for raw video. Each is known by some of its first
/// bytes.
enum Container {
    MP4("an MP4 or QuickTime file", 4, "ftyp"),
    MATROSKA("a Matroska or WebM file", 0, "\u001aE\u00df\u00a3"),
    AVI("an AVI file", 8, "AVI "),
    FLV("an FLV file", 0, "FLV\u0001"),
    OGG("an Ogg file", 0, "OggS"),
    JPEG("a JPEG picture", 0, "\u00ff\u00d8\u00ff"),
    PNG("a PNG picture", 0, "\u0089PNG"),
    GIF("a GIF picture", 0, "GIF8"),
    Y4M("a YUV4MPEG2 file", 0, "YUV4MPEG2 "),
    /// A packet of 188 bytes behind the other, each with the same first byte.
    MPEG_TS("an MPEG transport stream", 0, "G") {
        @Override
        boolean begins(final byte[] head, final String name) {
            // A grey picture may begin so too.
            return name.matches("(?i).*\\.(ts|mts|m2ts)")
                    && Stream.of(0, 188, 376).allMatch(at -> at < head.length && head[at] == 'G');
        }
    };

    private static final int HEAD_BYTES = 512;

    private final String text;
    private final int at;
    private final String mark;

    Container(final String text, final int at, final String mark) {
        this.text = text;
        this.at = at;
        this.mark = mark;
    }

    boolean begins(final byte[] head, final String name) {
        return new String(head, StandardCharsets.ISO_8859_1).startsWith(mark, at);
    }

    /// Looks at a file that is to be cut into raw frames.
    ///
    /// @throws ConfigException when it is known to hold something else
    static void requireNone(final Path file) {
        if (!Files.isRegularFile(file)) {
            return;
        }
        final byte[] head;
        try (InputStream stream = Files.newInputStream(file)) {
            head = stream.readNBytes(HEAD_BYTES);
        } catch (final IOException e) {
            // The input that opens the file for its frames reports the reason.
            return;
        }
        final Optional<Container> found = Stream.of(values())
                .filter(container -> container.begins(head, file.toString()))
                .findFirst();
        found.ifPresent(container -> {
            throw new ConfigException("--input " + file + ": this is " + container.text
                    + ", no raw video: publish its pictures by --input 'ffmpeg:-i " + file
                    + "', or its bytes by --frame-bytes N");
        });
    }
}
