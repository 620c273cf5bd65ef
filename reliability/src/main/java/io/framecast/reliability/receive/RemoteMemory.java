package io.framecast.reliability.receive;

import io.framecast.reliability.wire.EndpointOffer;
import org.jspecify.annotations.Nullable;

/// One-sided access of one receiver to its source's memory and to its co-root's replica. Called by the receiver
/// machine's thread; nothing blocks.
public interface RemoteMemory {
    /// Nothing is read: send a NACK.
    int NOT_READ = -1;

    /// A receiver without: every method refuses.
    RemoteMemory NONE = new RemoteMemory() {};

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
}
