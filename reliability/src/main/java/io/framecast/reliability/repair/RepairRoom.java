package io.framecast.reliability.repair;

import io.framecast.reliability.window.ReceiveWindow;

/// Limits the requests for missing datagrams to as many spans as there is room for frames. A span is as long as a
/// frame is likely to be, and the first one begins at the oldest missing datagram. Further repairs would come and
/// be dropped.
///
/// Single datagrams, as a lossy link loses them, are always requested: by the time of their repair their frame is
/// often the oldest, and few repairs are dropped when it is not.
final class RepairRoom {
    private static final int SINGLES_MAX = 64;

    private final ReceiveWindow window;
    private int frames = Integer.MAX_VALUE;
    private long slots = 1;
    private int spans;
    private int singles;
    private long spanEnd;
    // The window's beginning at the time when a request was left out.
    private long askedFrom;
    private boolean leftOut;

    RepairRoom(final ReceiveWindow window) {
        this.window = window;
    }

    /// There is room for that many frames of that length.
    ///
    /// @return whether a request that was left out may have its turn now
    boolean set(final int roomFrames, final long frameSlots) {
        final boolean more = leftOut && (window.next() != askedFrom || roomFrames > frames || frameSlots > slots);
        frames = roomFrames;
        slots = frameSlots;
        return more;
    }

    /// The caller goes through the missing sequences from the beginning.
    void begin() {
        leftOut = false;
        spans = 0;
        singles = 0;
        spanEnd = Long.MIN_VALUE;
    }

    /// Whether the next missing sequence, ascending, may be requested; if not, none behind it may.
    boolean admits(final long sequence) {
        if (sequence < spanEnd) {
            return true;
        }
        if (spans > 0 && singles < SINGLES_MAX && isSingle(sequence)) {
            singles++;
            return true;
        }
        if (spans == frames) {
            leftOut = true;
            askedFrom = window.next();
            return false;
        }
        spans++;
        spanEnd = sequence + slots;
        return true;
    }

    private boolean isSingle(final long sequence) {
        return window.isReceived(sequence - 1) && window.isReceived(sequence + 1);
    }
}
