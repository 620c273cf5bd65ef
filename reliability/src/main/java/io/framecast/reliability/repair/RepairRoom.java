package io.framecast.reliability.repair;

import io.framecast.reliability.window.ReceiveWindow;

/// How much of what is missing is asked for: what lies within as many spans as there is room for frames, each as
/// long as a frame is likely to be and the first of them at the oldest datagram missing. More would come and be
/// thrown away.
///
/// But single datagrams, as a lossy link takes them, are always asked for: by the time such a repair comes its frame is
/// often the oldest, and little is thrown away when it is not.
final class RepairRoom {
    private static final int SINGLES_MAX = 64;

    private final ReceiveWindow window;
    private int frames = Integer.MAX_VALUE;
    private long slots = 1;
    private int spans;
    private int singles;
    private long spanEnd;
    // Where the window began when something was left out.
    private long askedFrom;
    private boolean leftOut;

    RepairRoom(final ReceiveWindow window) {
        this.window = window;
    }

    /// There is room for that many frames of that length.
    ///
    /// @return whether something that was left out may have its turn now
    boolean set(final int roomFrames, final long frameSlots) {
        final boolean more = leftOut && (window.next() != askedFrom || roomFrames > frames || frameSlots > slots);
        frames = roomFrames;
        slots = frameSlots;
        return more;
    }

    /// What is missing is gone through from the beginning.
    void begin() {
        leftOut = false;
        spans = 0;
        singles = 0;
        spanEnd = Long.MIN_VALUE;
    }

    /// Whether the next of the missing, ascending, may be asked for; if not, none behind it may.
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
