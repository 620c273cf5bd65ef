package io.framecast.reliability;

import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.wire.LinkOffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// What a sender machine does to the world. Control datagrams may be lost; repairs are accepted or not.
public interface SenderOutput extends RetransmitScheduler.Output {
    /// Nothing is written to a member any more.
    int NO_FEED = -1;

    /// Memory for one control datagram, at least [io.framecast.reliability.wire.Wire#CONTROL_BYTES_MAX] long;
    /// valid until sent.
    MemorySegment control();

    /// Sends the first `bytes` bytes of [#control] to the group.
    void multicastControl(int bytes);

    /// Sends the first `bytes` bytes of [#control] to one member.
    void sendControl(int member, int bytes);

    /// Multicasts a full-size probe on the data lane.
    void probe(int token);

    /// Makes a member reachable. Addresses are from the wire.
    ///
    /// @return false when they are not addresses of this transport
    boolean connect(int member, byte[] controlAddress, byte[] repairAddress);

    /// Forgets a member's addresses.
    void disconnect(int member);

    /// Begins to let a member act on this source's memory. Never blocks. The descriptor is from the wire.
    ///
    /// @return false when that cannot be: its grants come by datagram
    default boolean link(final int member, final byte[] descriptor) {
        return false;
    }

    /// What a member must know to use its link; null until the link stands.
    default @Nullable LinkOffer linkOffer(final int member) {
        return null;
    }

    /// Whether a member's link failed, and never has an offer again.
    default boolean isLinkBroken(final int member) {
        return false;
    }

    /// Lets [#feed] write into a member's copy of the window over its link, and has the word there say so; asked
    /// again it says again how far that has come.
    ///
    /// @param copy from the wire: used over the connection to this member only
    /// @param epoch of the word
    /// @param first sequence that is written first
    /// @return false when that cannot be: it is fed by datagram
    default boolean openFeed(final int member, final LinkOffer copy, final int epoch, final long first) {
        return false;
    }

    /// Writes consecutive sequences behind those written before into a member's copy, and its word behind them.
    /// Their slots must not change until that is done; [SenderMachine#onWritten] is told.
    ///
    /// @return how many were taken, from the first on: fewer when there is no room now; or [#NO_FEED] when nothing
    ///     is written to it any more
    default int feed(final int member, final long firstSequence, final int count) {
        return NO_FEED;
    }

    /// Cuts a member's link: when this returns the member cannot act any more, and its word is 0.
    default void unlink(final int member) {}
}
