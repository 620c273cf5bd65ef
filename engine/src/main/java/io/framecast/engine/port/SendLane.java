package io.framecast.engine.port;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.reliability.lane.SendLanePort;

/// The sending side of a transport's lane, as the protocol sees it.
///
/// One thread. The lane is the caller's.
public final class SendLane implements SendLanePort {
    private final Lane lane;

    public SendLane(final Lane lane) {
        this.lane = lane;
    }

    @Override
    public int connect(final byte[] address) {
        try {
            return lane.connect(new LaneAddress(address));
        } catch (final TransportException _) {
            // The address came from the wire: it is hostile or belongs to another transport.
            return NO_PEER;
        }
    }

    @Override
    public void disconnect(final int peer) {
        lane.disconnect(peer);
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        return lane.multicast(firstSlot, count);
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        return lane.unicast(peer, firstSlot, count);
    }

    @Override
    public long submitted() {
        return lane.submitted();
    }

    @Override
    public long completed() {
        return lane.completed();
    }

    @Override
    public long queuedBytes() {
        return lane.queuedBytes();
    }
}
