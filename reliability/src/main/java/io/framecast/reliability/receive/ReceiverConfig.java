package io.framecast.reliability.receive;

import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;

/// The configuration of a receiver of one session.
///
/// @param stream the source's announcement
/// @param receiverId this receiver's random id, not 0
/// @param secret random; its source lets the membership move to a receiver that knows it
/// @param ringSlots data slots of its ring
/// @param receiveCapacity datagrams that may be under way to it beyond those that it has taken
/// @param reorderDatagrams how far a datagram may be overtaken before its gap is reported
/// @param delivery its behaviour when it cannot keep up
/// @param addresses its unicast addresses
/// @param clockOffsetNs offset from the engine's time to the clock by which this host judges latency
/// @param site receivers of one site share a co-root where possible; 0: no site
public record ReceiverConfig(
        StreamInfo stream,
        long receiverId,
        long secret,
        int ringSlots,
        int receiveCapacity,
        int reorderDatagrams,
        Delivery delivery,
        LaneAddresses addresses,
        long clockOffsetNs,
        int site) {
    public ReceiverConfig {
        if (receiverId == 0 || ringSlots <= 0 || receiveCapacity <= 0 || reorderDatagrams < 0) {
            throw new IllegalArgumentException("receiver: expected an id, ring slots > 0 and receive capacity > 0, got "
                    + receiverId + ", " + ringSlots + ", " + receiveCapacity);
        }
    }

    JoinLayout.Terms joinTerms(final boolean serves, final boolean fedOnly) {
        return new JoinLayout.Terms(ringSlots, delivery, secret, addresses, new CoRootOffer(site, serves, fedOnly));
    }

    /// The grant before anything has arrived.
    int firstGrantSlots() {
        return Math.min(ringSlots, receiveCapacity);
    }

    /// The smallest ring that a session works with: the frames held, one arriving frame, and the datagrams that the
    /// source may have in flight.
    public static long ringSlotsMin(final StreamInfo stream, final int framesHeld) {
        return (framesHeld + 1) * stream.frameMaxSlots() + stream.windowSlots();
    }
}
