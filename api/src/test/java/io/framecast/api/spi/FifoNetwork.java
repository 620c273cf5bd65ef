package io.framecast.api.spi;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// An in-memory network for [FifoTransport]: one multicast group whose lanes hear each other at once. Seeded,
/// so that a failing run replays. Safe for lanes used by several threads: every delivery holds the network's
/// lock.
public final class FifoNetwork {
    /// The faults of the network for a datagram on its way to one receiver.
    ///
    /// @param lossProbability chance to be lost
    /// @param duplicateProbability chance to arrive twice
    /// @param reorderProbability chance to be overtaken by the next datagram to the same lane
    public record Faults(double lossProbability, double duplicateProbability, double reorderProbability) {
        public static final Faults NONE = new Faults(0, 0, 0);

        public Faults {
            requireProbability(lossProbability);
            requireProbability(duplicateProbability);
            requireProbability(reorderProbability);
        }

        private static void requireProbability(final double value) {
            if (!(value >= 0 && value < 1)) {
                throw new IllegalArgumentException("faults: expected 0 <= p < 1, got " + value);
            }
        }
    }

    /// Writes payloads into memory that the host cannot address, as a NIC does.
    @FunctionalInterface
    public interface RemoteMemory {
        void write(long deviceAddress, MemorySegment source, long sourceOffset, long bytes);
    }

    private @Nullable RemoteMemory remote;
    private final Random random;
    private final Faults faults;
    private final List<FifoLane> lanes = new ArrayList<>();
    private int lanesOpened;

    public FifoNetwork(final long seed, final Faults faults) {
        this.random = new Random(seed);
        this.faults = faults;
    }

    /// A network that loses, duplicates and reorders nothing.
    public static FifoNetwork lossless() {
        return new FifoNetwork(1, Faults.NONE);
    }

    /// From now on lanes land payloads in device memory too.
    public FifoNetwork reaching(final RemoteMemory memory) {
        remote = memory;
        return this;
    }

    @Nullable
    RemoteMemory remote() {
        return remote;
    }

    int nextLaneNumber() {
        lanesOpened++;
        return lanesOpened;
    }

    void attach(final FifoLane lane) {
        lanes.add(lane);
    }

    void detach(final FifoLane lane) {
        lanes.remove(lane);
    }

    void multicast(final FifoLane from, final byte[] datagram) {
        for (int i = 0; i < lanes.size(); i++) {
            final FifoLane lane = lanes.get(i);
            if (lane != from && lane.hearsGroup(from)) {
                carry(lane, datagram);
            }
        }
    }

    /// A datagram to an address without a lane is lost, as on a real network.
    void unicast(final int laneNumber, final byte[] datagram) {
        for (int i = 0; i < lanes.size(); i++) {
            if (lanes.get(i).number() == laneNumber) {
                carry(lanes.get(i), datagram);
            }
        }
    }

    private void carry(final FifoLane lane, final byte[] datagram) {
        if (random.nextDouble() < faults.lossProbability()) {
            return;
        }
        if (random.nextDouble() < faults.reorderProbability() && lane.holdBack(datagram)) {
            return;
        }
        lane.arrive(datagram);
        if (random.nextDouble() < faults.duplicateProbability()) {
            lane.arrive(datagram);
        }
        lane.releaseHeldBack();
    }
}
