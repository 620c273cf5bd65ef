package io.framecast.reliability.send;

import io.framecast.reliability.wire.Delivery;

/// The state of one of a source's members. A place is reused: members differ by [#id].
///
/// Used by the source's thread, and valid until its next call of the machine.
public interface MemberStatus {
    /// The receiver's number in JOIN.
    long id();

    /// Whether the receiver is a member.
    boolean isActive();

    /// The address of its control lane.
    byte[] controlAddress();

    Delivery delivery();

    /// Sequence below which it has acknowledged every datagram.
    long acknowledged();

    /// Sequence below which it takes datagrams.
    long grant();

    /// Datagrams that it has asked this source to send again.
    long requested();

    /// How long it has held the source back so far, in nanoseconds.
    long holdsBackNs();
}
