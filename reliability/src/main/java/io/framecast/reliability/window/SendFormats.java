package io.framecast.reliability.window;

import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.FormatLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The formats of a source's frames and their numbers. A number is given to another format only when every frame that
/// had it was freed: then each member that the source waits for has it whole, and knows its format. A format that no
/// frame had is as if it had not been: the next one takes its number and serial.
///
/// Threading: the producer calls [#use]; the consumer reads [#announced], which the producer changes before it commits
/// a frame with a new format, or replaces one that no frame had.
public final class SendFormats {
    private static final StreamFormat[] NONE = {};
    private static final int NO_NUMBER = 0;

    // Producer's own, by number: the format that holds, and the sequence behind its last frame.
    private final @Nullable StreamFormat[] current = new StreamFormat[FormatLayout.NUMBERS + 1];
    private final long[] ends = new long[FormatLayout.NUMBERS + 1];
    private int serial;
    private int number = NO_NUMBER;
    private volatile StreamFormat[] announced = NONE;

    /// Producer: the number of the next frame's format; 0 for none.
    int number() {
        return number;
    }

    /// Producer: the next frame's format; null for none.
    public @Nullable StreamFormat format() {
        return current[number];
    }

    /// Producer: the flag of a frame that begins at a sequence.
    int flag(final long firstSequence) {
        final StreamFormat format = current[number];
        return format != null && format.firstSequence() == firstSequence ? DataLayout.FLAG_NEW_FORMAT : 0;
    }

    /// Producer: the frames from `cursor` on have this format.
    ///
    /// @param bytes not changed afterwards; null: frames without a format
    /// @param freed the window's
    /// @return false when no number is free yet; no frame may begin then before another call returned true
    boolean use(final byte @Nullable [] bytes, final long cursor, final long freed) {
        final int found = bytes == null ? NO_NUMBER : find(bytes);
        if (found == NO_NUMBER || found != number) {
            forgetUnused(cursor);
        }
        final int chosen = bytes == null || found != NO_NUMBER ? found : vacancy(freed);
        if (bytes != null && chosen == NO_NUMBER) {
            return false;
        }
        ends[number] = cursor;
        number = chosen;
        if (bytes != null && found == NO_NUMBER) {
            serial++;
            current[chosen] = new StreamFormat(serial, chosen, cursor, bytes);
            announced = snapshot();
        }
        return true;
    }

    // No frame has the present one, and now none will: its first one would have no flag.
    private void forgetUnused(final long cursor) {
        if (flag(cursor) != 0) {
            current[number] = null;
            serial--;
            number = NO_NUMBER;
            announced = snapshot();
        }
    }

    private int find(final byte[] bytes) {
        for (int n = 1; n <= FormatLayout.NUMBERS; n++) {
            final StreamFormat format = current[n];
            if (format != null && Arrays.equals(format.bytes(), bytes)) {
                return n;
            }
        }
        return NO_NUMBER;
    }

    // A number that was never used, else the one whose frames were freed longest ago. So the serial says whether
    // numbers are in use again.
    private int vacancy(final long freed) {
        if (serial < FormatLayout.NUMBERS) {
            return serial + 1;
        }
        int best = NO_NUMBER;
        for (int n = 1; n <= FormatLayout.NUMBERS; n++) {
            if (current[n] == null) {
                return n;
            }
            if (n != number && ends[n] <= freed && (best == NO_NUMBER || ends[n] < ends[best])) {
                best = n;
            }
        }
        return best;
    }

    private StreamFormat[] snapshot() {
        return Arrays.stream(current).filter(format -> format != null).toArray(StreamFormat[]::new);
    }

    /// Consumer: the formats that hold, in no order; another array after each change. A format that begins behind
    /// the committed datagrams may yet be replaced.
    public StreamFormat[] announced() {
        return announced;
    }
}
