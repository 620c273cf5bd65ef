package io.framecast.reliability.sim;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.EndpointPort;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.onesided.RemoteWindows;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One-sided operations of one process: memory that peers reach whether the process runs or stands still.
final class SimOneSided implements OneSidedPort {
    private static final long MAKING_MAX_NS = 5_000_000;
    private static final long CONNECTING_MAX_NS = 30_000_000;

    private final SimNode process;
    private final SimWorld world;
    private final @Nullable ReadSlots reads;

    /// @param reads receive slots of the process's reads; null where it reads nothing
    SimOneSided(final SimNode process, final @Nullable ReadSlots reads) {
        this.process = process;
        world = process.world();
        this.reads = reads;
    }

    @Override
    public Region register(final MemorySegment memory, final Access access) {
        return world.fabric().register(process, memory, access);
    }

    @Override
    public Region allocate(final long bytes, final Access access) {
        return register(MemorySegment.ofArray(new long[(int) (bytes / Long.BYTES)]), access);
    }

    @Override
    public EndpointPort open(final int operationsMax, final Access peer) {
        return new SimEndpoint(process, reads, operationsMax, 0);
    }

    @Override
    public EndpointPort openLater(final int operationsMax) {
        final long madeNs = world.events().nowNs() + process.random().nextLong(MAKING_MAX_NS);
        return new SimEndpoint(process, reads, operationsMax, madeNs);
    }

    @Override
    public EndpointPort accept(final byte[] descriptor, final Access peer, final int operationsMax) {
        final SimEndpoint endpoint = world.fabric().endpoint(descriptor);
        if (endpoint == null) {
            throw new RefusedException("no endpoint has this descriptor");
        }
        return new SimEndpoint(process, reads, operationsMax, 0)
                .accepted(endpoint, world.events().nowNs() + process.random().nextLong(CONNECTING_MAX_NS));
    }

    /// The memory of a receiver's source and co-root, which it reads. A datagram that is being read counts as reported.
    static final class Windows extends RemoteWindows {
        private final SimReception reception;

        Windows(
                final SimReception reception,
                final SimReceiver process,
                final StreamInfo stream,
                final @Nullable ReadSlots reads) {
            super(new SimOneSided(process, reads), stream, reads, _ -> {});
            this.reception = reception;
        }

        @Override
        public int readFromSource(final long firstSequence, final int count) {
            return reported(firstSequence, super.readFromSource(firstSequence, count));
        }

        @Override
        public int readFromCoRoot(final long firstSequence, final int count) {
            return reported(firstSequence, super.readFromCoRoot(firstSequence, count));
        }

        private int reported(final long firstSequence, final int taken) {
            if (taken > 0) {
                reception.life().onReported(firstSequence, taken);
            }
            return taken;
        }
    }
}
