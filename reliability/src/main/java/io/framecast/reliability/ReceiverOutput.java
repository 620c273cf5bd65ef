package io.framecast.reliability;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// What a receiver machine does to the world.
public interface ReceiverOutput {
    /// Memory for one control datagram, at least [io.framecast.reliability.wire.Wire#CONTROL_BYTES_MAX] long;
    /// valid until [#sendControl].
    MemorySegment control();

    /// Frames were given up, by a receiver that its source does not wait for. Memory follows at once: their
    /// slots are free, and the next frame begins behind them.
    ///
    /// @return sequences below this have a slot now, as in [ReceiverMachine#onCredit]
    default long onGivenUp(final GivenUp frames) {
        throw new IllegalStateException("a receiver that is waited for gives nothing up");
    }

    /// Sends the first `bytes` bytes of [#control] to the source. May lose them.
    void sendControl(int bytes);

    /// Makes the co-root reachable that this receiver reports to from now on.
    ///
    /// @param controlAddress from the wire; null: none any more
    /// @return false when that is no address of this transport: then it reports to the source
    default boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        return controlAddress == null;
    }

    /// Sends the first `bytes` bytes of [#control] to the co-root connected last. May lose them.
    default void sendToCoRoot(final int bytes) {
        throw new IllegalStateException("no co-root was connected");
    }
}
