package io.framecast.reliability.window;

import io.framecast.reliability.wire.FormatLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The formats that a receiver knows, by number: the newest two of each, for frames of the one before may still be
/// under way to their reader when another takes over its number.
///
/// Pure state; one thread.
public final class ReceivedFormats {
    private final @Nullable StreamFormat[] newest = new StreamFormat[FormatLayout.NUMBERS + 1];
    private final @Nullable StreamFormat[] before = new StreamFormat[FormatLayout.NUMBERS + 1];

    private int newestSerial;
    // Announcements to all up to this one may be of long ago.
    private int oldSerial;

    /// The receiver becomes a member.
    ///
    /// @param newest serial of the formats that were announced before
    void start(final int newest) {
        oldSerial = newest;
        newestSerial = Math.max(newestSerial, newest);
    }

    /// Whether an announcement to all cannot be out of date.
    boolean isNew(final int serial) {
        return serial > oldSerial;
    }

    /// Keeps a format, unless it or a later one under its number is known.
    ///
    /// @param bytes not changed afterwards
    public void put(final int serial, final int number, final long firstSequence, final byte[] bytes) {
        final StreamFormat known = newest[number];
        newestSerial = Math.max(newestSerial, serial);
        if (known == null || serial > known.serial()) {
            before[number] = known;
            newest[number] = new StreamFormat(serial, number, firstSequence, bytes);
        }
    }

    /// The format of a frame; null while it is not known.
    ///
    /// @param number 1 … [FormatLayout#NUMBERS]
    /// @param begins whether the frame is the first that has it
    public @Nullable StreamFormat find(final int number, final long firstSequence, final boolean begins) {
        final StreamFormat known = newest[number];
        if (known != null && isOf(known, firstSequence, begins)) {
            return known;
        }
        final StreamFormat older = before[number];
        return older != null && isOf(older, firstSequence, begins) ? older : null;
    }

    private static boolean isOf(final StreamFormat format, final long firstSequence, final boolean begins) {
        return begins ? format.firstSequence() == firstSequence : format.firstSequence() <= firstSequence;
    }

    /// Frames were left out, and with them perhaps the first ones of formats that are not known: one for each frame or
    /// bundle, at most. Forgets all where numbers may be in use again by then: the receiver asks.
    void onGap(final long count) {
        if (newestSerial + count > FormatLayout.NUMBERS / 2) {
            oldSerial = newestSerial;
            Arrays.fill(newest, null);
            Arrays.fill(before, null);
        }
    }
}
