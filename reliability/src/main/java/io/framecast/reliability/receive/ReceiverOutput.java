package io.framecast.reliability.receive;

import io.framecast.reliability.wire.EndpointOffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The effects of a receiver machine on the outside.
public interface ReceiverOutput {
    /// Nothing is read: send a NACK.
    int NOT_READ = -1;

    /// Memory for one control datagram, at least [io.framecast.reliability.wire.Wire#CONTROL_BYTES_MAX] long;
    /// valid until [#sendControl].
    MemorySegment control();

    /// Sends the first `bytes` bytes of [#control] to the source. The network may lose them.
    void sendControl(int bytes);

    /// Makes the co-root reachable that this receiver reports to from now on.
    ///
    /// @param controlAddress from the wire; null: none any more
    /// @return false when that is no address of this transport: then it reports to the source
    default boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        return controlAddress == null;
    }

    /// Begins to connect to the source's endpoint; [SourceConnection] is notified. All of the offer is from the
    /// wire.
    ///
    /// @return false when that is not possible
    default boolean connectToSource(final EndpointOffer offer) {
        return false;
    }

    /// Writes this receiver's credit in the source's memory; [SourceConnection#onWritten] is called. One write at a
    /// time.
    ///
    /// @return false when it cannot be written now
    default boolean writeCredit(final long word) {
        return false;
    }

    /// Reads datagrams out of the source's window; they arrive as repairs.
    ///
    /// @return how many of them, from the first on, are being read; [#NOT_READ] while reads are slow
    default int readFromSource(final long firstSequence, final int count) {
        return NOT_READ;
    }

    /// Begins to make an endpoint by which this receiver reads its co-root's replica; the one before is closed.
    /// Returns at once.
    ///
    /// @return false when that is not possible
    default boolean openCoRootEndpoint() {
        return false;
    }

    /// The values that the co-root needs to connect; null while the endpoint is being made.
    default byte @Nullable [] coRootDescriptor() {
        return null;
    }

    /// Begins to connect to the co-root's endpoint; [CoRootConnection] is notified. All of the offer is from the
    /// wire.
    ///
    /// @return false when that is not possible
    default boolean connectCoRootEndpoint(final EndpointOffer offer) {
        return false;
    }

    /// Closes the endpoint made last, if there is one: when this returns nothing more is read over it.
    default void closeCoRootEndpoint() {}

    /// As [#readFromSource], out of the co-root's replica.
    default int readFromCoRoot(final long firstSequence, final int count) {
        return NOT_READ;
    }

    /// Sends the first `bytes` bytes of [#control] to the co-root connected last. The network may lose them.
    default void sendToCoRoot(final int bytes) {
        throw new IllegalStateException("no co-root was connected");
    }
}
