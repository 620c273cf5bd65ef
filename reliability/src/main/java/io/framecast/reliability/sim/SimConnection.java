package io.framecast.reliability.sim;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A way into another process's memory as that is at the moment, whether the process stands still or not. Both
/// ends know it by its number; it serves until it is cut or the process is gone.
abstract class SimConnection {
    private final int number;
    private final long readyNs;
    private boolean cut;

    /// @param readyNs when it can be used, by the true clock
    SimConnection(final int number, final long readyNs) {
        this.number = number;
        this.readyNs = readyNs;
    }

    static int number(final byte[] descriptor) {
        return ((descriptor[0] & 0xff) << 8) | (descriptor[1] & 0xff);
    }

    final byte[] descriptor() {
        return new byte[] {(byte) (number >>> 8), (byte) number};
    }

    final boolean isReady(final long nowNs) {
        return nowNs >= readyNs;
    }

    final void cut() {
        cut = true;
    }

    final boolean isServed() {
        return !cut && isAlive();
    }

    /// Whether the process is there.
    abstract boolean isAlive();

    /// @return false when nobody serves it any more
    abstract boolean write(long word);

    /// A copy of the slot in which a sequence should lie, header and whole payload.
    ///
    /// @return null when nobody serves it any more
    abstract @Nullable MemorySegment slot(long sequence);

    /// Writes a part of a datagram into the slot of its sequence.
    ///
    /// @return false when nobody serves it any more
    boolean put(final long sequence, final MemorySegment datagram, final int from, final int to) {
        throw new IllegalStateException("somebody writes where nobody may");
    }

    /// Writes what vouches for that slot.
    ///
    /// @return false when nobody serves it any more
    boolean vouch(final long sequence, final long word) {
        throw new IllegalStateException("somebody writes where nobody may");
    }

    /// What vouches for that slot.
    abstract long guard(long sequence);
}
