package io.framecast.api.spi;

/// The three lanes of a session: everything that is not first-time data keeps away from the preposted data slots,
/// so that neither placement nor credit can be disturbed by it.
public enum LaneKind {
    /// Each sequence once, in order, from one source to all receivers.
    DATA,
    /// Retransmissions, by unicast or multicast, received into host memory and copied to their place.
    REPAIR,
    /// Heartbeats, NACK, ACK, credit, join and leave, frame metadata; one datagram each.
    CONTROL;

    /// The lane's port of a group, beyond the one that the channel names.
    public int portOffset() {
        return ordinal();
    }
}
