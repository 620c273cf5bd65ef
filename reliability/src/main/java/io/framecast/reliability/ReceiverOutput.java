package io.framecast.reliability;

import java.lang.foreign.MemorySegment;

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
}
