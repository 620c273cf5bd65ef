package io.framecast.reliability;

import io.framecast.reliability.repair.SetRepairs;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LinkOffer;
import org.jspecify.annotations.Nullable;

/// What a receiver does to the world while it serves others as a co-root. Repairs come from its store.
///
/// Called by the receiver machine's thread. Members are indices 0 … 62 of its set, given anew after
/// [#disconnect].
public interface CoRootOutput extends SetRepairs.Output {
    /// Takes the memory for a copy of the source's window, in host memory; the same for as long as the
    /// session lasts.
    ///
    /// @return as many slots as the source's window has, or null when there is no memory: then another serves
    @Nullable
    RepairStore openStore();

    /// Makes a member reachable. Addresses are from the wire.
    ///
    /// @return false when they are not addresses of this transport: then the source repairs for it
    boolean connect(int member, LaneAddresses addresses);

    /// Forgets a member's addresses, and cuts its link: when this returns it reads nothing more.
    void disconnect(int member);

    /// Begins to let a member read the copy, from when it connects. Never blocks. One that has an endpoint
    /// already loses that first. The descriptor is from the wire.
    ///
    /// @return false when that cannot be: it asks
    default boolean link(final int member, final byte[] descriptor) {
        return false;
    }

    /// What a member must know to read the copy; null until its link stands.
    default @Nullable LinkOffer linkOffer(final int member) {
        return null;
    }

    /// Where the source may write into the copy, and into the word behind it; null while that is being prepared, or
    /// where it cannot be.
    default @Nullable LinkOffer copyOffer() {
        return null;
    }

    /// The word that the source wrote last; what it tells of lies in the store's memory.
    default long feedWord() {
        return 0;
    }

    /// Has datagrams that the store holds taken as repairs are.
    ///
    /// @return how many of them, from the first on; [ReceiverOutput#NOT_READ] when that cannot be
    default int takeOwn(final long firstSequence, final int count) {
        return ReceiverOutput.NOT_READ;
    }

    /// Sends the first `bytes` bytes of [ReceiverOutput#control] to one member. May lose them.
    void sendControl(int member, int bytes);
}
