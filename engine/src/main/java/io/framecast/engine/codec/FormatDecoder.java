package io.framecast.engine.codec;

import io.framecast.api.error.CodecException;
import io.framecast.api.format.FrameFormat;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The formats of one subscriber's frames: decodes each once, and gives the same object for all frames that have it.
///
/// Any thread.
public final class FormatDecoder {
    private static final int KEPT = 16;

    private record Known(byte[] bytes, Optional<FrameFormat> format) {}

    private final Consumer<String> notices;
    private final @Nullable Known[] known = new Known[KEPT];
    private int next;
    private volatile @Nullable Known latest;

    /// @param notices says once of a format that it cannot be read
    public FormatDecoder(final Consumer<String> notices) {
        this.notices = notices;
    }

    /// @param bytes as the source sent them; null for none
    /// @return empty for none, and where the bytes are no format
    public Optional<FrameFormat> decode(final byte @Nullable [] bytes) {
        if (bytes == null) {
            return Optional.empty();
        }
        final Known newest = latest;
        return newest != null && isOf(newest, bytes) ? newest.format : find(bytes);
    }

    private static boolean isOf(final Known one, final byte[] bytes) {
        return Arrays.equals(one.bytes, bytes);
    }

    private synchronized Optional<FrameFormat> find(final byte[] bytes) {
        for (final Known one : known) {
            if (one != null && isOf(one, bytes)) {
                latest = one;
                return one.format;
            }
        }
        final Known made = new Known(bytes, read(bytes));
        known[next] = made;
        next = (next + 1) % KEPT;
        latest = made;
        return made.format;
    }

    private Optional<FrameFormat> read(final byte[] bytes) {
        try {
            return Optional.of(FormatCodec.decode(bytes));
        } catch (final CodecException e) {
            notices.accept("frames have a format that cannot be read: " + e.getMessage());
            return Optional.empty();
        }
    }
}
