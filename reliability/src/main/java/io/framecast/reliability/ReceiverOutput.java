package io.framecast.reliability;

import java.lang.foreign.MemorySegment;

/// What a receiver machine does to the world.
public interface ReceiverOutput {
    /// Memory for one control datagram, at least [io.framecast.reliability.wire.Wire#CONTROL_BYTES_MAX] long;
    /// valid until [#sendControl].
    MemorySegment control();

    /// Sends the first `bytes` bytes of [#control] to the source. May lose them.
    void sendControl(int bytes);
}
