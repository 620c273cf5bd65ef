package io.framecast.reliability.receive;

import io.framecast.reliability.repair.GroupRepairs;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.LaneAddresses;
import org.jspecify.annotations.Nullable;

/// The effects of a co-root's work on the outside. Repairs come from its store.
///
/// Called by the receiver machine's thread. Members are indices 0 … 62 of its group; [#disconnect] frees an index.
public interface CoRootOutput extends GroupRepairs.Output {
    /// Who fills a replica of the source's window.
    enum Filler {
        /// The receiver, with what it gets.
        RECEIVER,
        /// The source alone, by writes: the receiver's payloads land where it cannot read them.
        SOURCE
    }

    /// Takes host memory for a replica of the source's window; the same memory for as long as the session lasts.
    ///
    /// @return as many slots as the source's window has, or null without memory: then another receiver serves
    @Nullable
    RepairStore openStore();

    /// Who fills the replica.
    default Filler filler() {
        return Filler.RECEIVER;
    }

    /// Makes a member reachable. Addresses are from the wire.
    ///
    /// @return false when they are not addresses of this transport: then the source repairs for the member
    boolean connect(int member, LaneAddresses addresses);

    /// Forgets a member's addresses and closes its connection: when this returns the member reads nothing more.
    void disconnect(int member);

    /// Begins to let a member read the replica once it connects. Never blocks. A member's previous endpoint is
    /// closed first. The descriptor is from the wire.
    ///
    /// @return false when that is impossible: the member then sends NACKs
    default boolean link(final int member, final byte[] descriptor) {
        return false;
    }

    /// The values that a member needs to read the replica; null until its connection stands.
    default @Nullable EndpointOffer endpointOffer(final int member) {
        return null;
    }

    /// The addresses at which the source may write into the replica and into the word behind it; null while they
    /// are being prepared, or where writing is impossible.
    default @Nullable EndpointOffer replicaOffer() {
        return null;
    }

    /// The word that the source wrote last; the datagrams that it announces lie in the store's memory.
    default long feedWord() {
        return 0;
    }

    /// Takes datagrams out of the store as if they were repairs.
    ///
    /// @return how many of them, from the first on; [RemoteMemory#NOT_READ] when that is impossible
    default int copyOwn(final long firstSequence, final int count) {
        return RemoteMemory.NOT_READ;
    }

    /// Sends the first `bytes` bytes of [ReceiverOutput#control] to one member. The network may lose them.
    void sendControl(int member, int bytes);
}
