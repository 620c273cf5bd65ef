package io.framecast.reliability;

import io.framecast.reliability.repair.RetransmitScheduler;
import java.lang.foreign.MemorySegment;

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
}
