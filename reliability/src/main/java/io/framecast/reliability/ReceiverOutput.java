package io.framecast.reliability;

import io.framecast.reliability.wire.LinkOffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// What a receiver machine does to the world.
public interface ReceiverOutput {
    /// Nothing is read: ask for it.
    int NO_PULL = -1;

    /// Memory for one control datagram, at least [io.framecast.reliability.wire.Wire#CONTROL_BYTES_MAX] long;
    /// valid until [#sendControl].
    MemorySegment control();

    /// Sends the first `bytes` bytes of [#control] to the source. May lose them.
    void sendControl(int bytes);

    /// Makes the co-root reachable that this receiver reports to from now on.
    ///
    /// @param controlAddress from the wire; null: none any more
    /// @return false when that is no address of this transport: then it reports to the source
    default boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        return controlAddress == null;
    }

    /// Begins to connect to the source's endpoint; [OneSidedLink] is told what becomes of it. All of it is
    /// from the wire.
    ///
    /// @return false when that cannot be
    default boolean openLink(final LinkOffer offer) {
        return false;
    }

    /// Writes this receiver's word in the source's memory; told by [OneSidedLink#onWritten]. One at a time.
    ///
    /// @return false when it cannot be written now
    default boolean writeGrant(final long word) {
        return false;
    }

    /// Reads datagrams out of the source's window; they come as repairs do.
    ///
    /// @return how many of them, from the first on, are on their way; [#NO_PULL] when it takes too long
    default int pull(final long firstSequence, final int count) {
        return NO_PULL;
    }

    /// Begins to make an endpoint by which this receiver reads its co-root's copy of the window; the one
    /// before was cut. Returns at once.
    ///
    /// @return false when that cannot be
    default boolean makeSetLink() {
        return false;
    }

    /// What the co-root must be given; null while the endpoint is being made.
    default byte @Nullable [] setLink() {
        return null;
    }

    /// Begins to connect to the co-root's endpoint; [SetLink] is told what becomes of it. All of it is from the
    /// wire.
    ///
    /// @return false when that cannot be
    default boolean openSetLink(final LinkOffer offer) {
        return false;
    }

    /// Cuts the endpoint made last: when this returns nothing more is read over it. There may be none.
    default void cutSetLink() {}

    /// As [#pull], out of the co-root's copy.
    default int pullFromCoRoot(final long firstSequence, final int count) {
        return NO_PULL;
    }

    /// Sends the first `bytes` bytes of [#control] to the co-root connected last. May lose them.
    default void sendToCoRoot(final int bytes) {
        throw new IllegalStateException("no co-root was connected");
    }
}
