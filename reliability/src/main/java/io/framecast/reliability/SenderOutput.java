package io.framecast.reliability;

import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.wire.LinkOffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// What a sender machine does to the world. Control datagrams may be lost; repairs are accepted or not.
public interface SenderOutput extends RetransmitScheduler.Output {
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

    /// Cuts a member's link: when this returns the member cannot act any more, and its word is 0.
    default void unlink(final int member) {}
}
