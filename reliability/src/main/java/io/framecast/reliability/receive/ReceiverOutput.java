package io.framecast.reliability.receive;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The effects of a receiver machine on the outside.
public interface ReceiverOutput {
    /// Memory for one control datagram, at least [io.framecast.reliability.wire.Wire#CONTROL_BYTES_MAX] long;
    /// valid until [#sendControl].
    MemorySegment control();

    /// As [io.framecast.reliability.lane.ControlPort#timeNs].
    default long timeNs(final long nowNs) {
        return nowNs;
    }

    /// Sends the first `bytes` bytes of [#control] to the source. The network may lose them.
    void sendControl(int bytes);

    /// Makes the co-root reachable that this receiver reports to from now on.
    ///
    /// @param controlAddress from the wire; null: none any more
    /// @return false when that is no address of this transport: then it reports to the source
    default boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        return controlAddress == null;
    }

    /// This receiver's access to the memory of its source and its co-root.
    default RemoteMemory remote() {
        return RemoteMemory.NONE;
    }

    /// Sends the first `bytes` bytes of [#control] to the co-root connected last. The network may lose them.
    default void sendToCoRoot(final int bytes) {
        throw new IllegalStateException("no co-root was connected");
    }
}
