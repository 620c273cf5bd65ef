package io.framecast.api.spi;

import io.framecast.api.error.TransportException;
import java.util.ArrayList;
import java.util.List;

/// A fake that places datagrams as a verbs receive queue does: posted slots are consumed strictly in the
/// order of posting, 40 bytes before each header belong to the transport, and what arrives while nothing is
/// posted is dropped without a word to the sender. Everything happens in the sending thread: a send is
/// complete when it returns.
public final class FifoTransport implements Transport {
    /// The global routing header that verbs writes before each datagram.
    public static final int HEADER_RESERVE_BYTES = 40;

    /// Receives that a lane holds posted at most, as a queue pair does.
    public static final int POSTED_MAX = 1 << 14;

    public static final int DATAGRAM_BYTES_MAX = 4096;

    private final FifoNetwork network;
    private final int postedMax;
    private final List<FifoLane> lanes = new ArrayList<>();
    private boolean closed;

    public FifoTransport(final FifoNetwork network) {
        this(network, POSTED_MAX);
    }

    /// @param postedMax receives that a lane holds posted at most
    public FifoTransport(final FifoNetwork network, final int postedMax) {
        this.network = network;
        this.postedMax = postedMax;
    }

    @Override
    public TransportCapabilities capabilities() {
        return new TransportCapabilities(
                "fifo",
                true,
                network.remote() != null,
                false,
                false,
                2,
                HEADER_RESERVE_BYTES,
                DATAGRAM_BYTES_MAX,
                TransportCapabilities.Placement.BY_ARRIVAL);
    }

    /// All of its lanes are of this process.
    @Override
    public boolean isOneHost(final LaneAddress first, final LaneAddress second) {
        return true;
    }

    @Override
    public Lane open(final LaneConfig config) {
        if (closed) {
            throw new TransportException("fifo: expected an open transport; open a new one");
        }
        final FifoLane lane = new FifoLane(network, config, postedMax);
        lanes.add(lane);
        return lane;
    }

    @Override
    public void close() {
        closed = true;
        lanes.forEach(FifoLane::close);
    }
}
