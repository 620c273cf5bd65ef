package io.framecast.engine.node;

import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.function.BooleanSupplier;

/// A transport that reads posted datagrams like a device: later, one by one, in order.
final class LateTransport extends ForwardingTransport {
    private final int lag;
    private final Set<LaneKind> asleep;

    LateTransport(final Transport inner, final int lag) {
        this(inner, lag, Set.of());
    }

    /// @param lag datagrams of a lane that it has not read yet, at most; none on the control lane
    /// @param asleep lanes of these kinds read nothing while the set holds them
    LateTransport(final Transport inner, final int lag, final Set<LaneKind> asleep) {
        super(inner);
        this.lag = lag;
        this.asleep = asleep;
    }

    @Override
    public Lane open(final LaneConfig config) {
        final Lane lane = inner.open(config);
        return config.kind() == LaneKind.CONTROL ? lane : new LateLane(lane, lag, () -> asleep.contains(config.kind()));
    }

    private record Waiting(int peer, int slot) {}

    private static final class LateLane extends ForwardingLane {
        private static final int GROUP = -1;

        private final int lag;
        private final BooleanSupplier asleep;
        private final Deque<Waiting> waiting = new ArrayDeque<>();
        private long submitted;
        private long read;

        LateLane(final Lane inner, final int lag, final BooleanSupplier asleep) {
            super(inner);
            this.lag = lag;
            this.asleep = asleep;
        }

        private int take(final int peer, final int firstSlot, final int count) {
            int taken = 0;
            while (taken < count && (waiting.size() < lag || readOne())) {
                waiting.add(new Waiting(peer, firstSlot + taken));
                submitted++;
                taken++;
            }
            return taken;
        }

        // Returns whether the oldest datagram was sent now.
        private boolean readOne() {
            final Waiting next = waiting.peek();
            if (next == null || asleep.getAsBoolean()) {
                return false;
            }
            final int sent =
                    next.peer == GROUP ? inner.multicast(next.slot, 1) : inner.unicast(next.peer, next.slot, 1);
            if (sent == 1) {
                waiting.remove();
                read++;
            }
            return sent == 1;
        }

        @Override
        public int multicast(final int firstSlot, final int count) {
            return take(GROUP, firstSlot, count);
        }

        @Override
        public int unicast(final int peer, final int firstSlot, final int count) {
            return take(peer, firstSlot, count);
        }

        @Override
        public long submitted() {
            return submitted;
        }

        /// Each query lets time pass.
        @Override
        public long completed() {
            readOne();
            return read;
        }

        @Override
        public void disconnect(final int peer) {
            while (readOne()) {
                // The datagrams for this peer are sent before it goes.
            }
            inner.disconnect(peer);
        }
    }
}
