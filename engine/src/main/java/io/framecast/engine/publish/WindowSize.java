package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.reliability.wire.StreamInfo;

/// How many slots a source's window has.
final class WindowSize {
    // The smallest window that keeps both ends busy, because a small window stays in the caches. The power of two
    // above one and a half frames holds up to three frames.
    private static final long DEFAULT_MIN = 2L << 20;
    private static final long DEFAULT_MAX = 64L << 20;
    private static final long SHARED_MAX = 192L << 20;
    // Beside the frames that a subscriber on this host holds: slots at their ends, and one that is never filled.
    private static final int SHARED_SLOTS_MORE = 8;
    private static final int SLOTS_MIN = 64;

    private WindowSize() {}

    /// The power of two that holds `window=`, or a default.
    ///
    /// @param shared whether subscribers on this host read frames in the window
    /// @throws ConfigException where `window=` is too large
    static int slots(final Channel channel, final int slotBytes, final boolean shared) {
        final long set = channel.stream().windowBytes();
        final long wanted = set > 0 ? set : shared ? sharedBytes(channel, slotBytes) : defaultBytes(channel);
        // One slot of the window is never filled, hence the extra slot.
        final long slots = Math.max(SLOTS_MIN, StreamInfo.slots(wanted, slotBytes) + 1);
        if (slots > StreamInfo.WINDOW_SLOTS_MAX) {
            throw new ConfigException("window: expected at most " + (long) (StreamInfo.WINDOW_SLOTS_MAX - 1) * slotBytes
                    + " bytes, got " + wanted);
        }
        return (int) (Long.highestOneBit(slots - 1) << 1);
    }

    private static long defaultBytes(final Channel channel) {
        final long frameMax = channel.stream().frameMaxBytes();
        return Math.clamp(frameMax + frameMax / 2, DEFAULT_MIN, DEFAULT_MAX);
    }

    // A subscriber on this host holds its frames in the window while one more comes.
    private static long sharedBytes(final Channel channel, final int slotBytes) {
        final long frames = channel.stream().framesHeld() + 1L;
        final long slots = frames * StreamInfo.slots(channel.stream().frameMaxBytes(), slotBytes);
        return Math.max(defaultBytes(channel), Math.min((slots + SHARED_SLOTS_MORE) * slotBytes, SHARED_MAX));
    }
}
