package io.framecast.engine.node;

import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.api.spi.FifoTransport;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/// All transports of one network with BY_ARRIVAL placement, as the provider that channels name `verbs`.
///
/// @param network the network that the transports share
/// @param postedMax receives that a lane holds posted at most
/// @param drops probability that a lane drops a received datagram and posts its slot again behind the others, like
///     a lane that receives another session's datagrams
/// @param lag datagrams that a lane has accepted and not read yet, at most; it reads them when others follow
/// @param asleep lanes of these kinds read nothing while the set holds them
record FifoProvider(FifoNetwork network, int postedMax, double drops, int lag, Set<LaneKind> asleep)
        implements TransportProvider {
    FifoProvider(final FifoNetwork network) {
        this(network, FifoTransport.POSTED_MAX, 0);
    }

    FifoProvider(final FifoNetwork network, final int postedMax, final double drops) {
        this(network, postedMax, drops, 0);
    }

    FifoProvider(final FifoNetwork network, final int postedMax, final double drops, final int lag) {
        this(network, postedMax, drops, lag, Set.of());
    }

    @Override
    public String name() {
        return "verbs";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public Transport open(final TransportConfig config) {
        final Transport transport = new FifoTransport(network, postedMax);
        if (lag > 0) {
            return new LateTransport(transport, lag, asleep);
        }
        return drops == 0 ? transport : new Dropping(transport, drops);
    }

    private static final class Dropping extends ForwardingTransport {
        private final double drops;

        Dropping(final Transport inner, final double drops) {
            super(inner);
            this.drops = drops;
        }

        @Override
        public Lane open(final LaneConfig config) {
            return new DroppingLane(inner.open(config), drops);
        }
    }

    private static final class DroppingLane extends ForwardingLane {
        private final SplittableRandom random = new SplittableRandom(17);
        private final double drops;

        DroppingLane(final Lane inner, final double drops) {
            super(inner);
            this.drops = drops;
        }

        @Override
        public int poll(final Completions completions) {
            final int before = completions.count();
            inner.poll(completions);
            for (int i = completions.count() - 1; i >= before; i--) {
                if (random.nextDouble() < drops) {
                    inner.post(completions.slot(i), 1);
                    completions.remove(i);
                }
            }
            return completions.count() - before;
        }
    }
}
