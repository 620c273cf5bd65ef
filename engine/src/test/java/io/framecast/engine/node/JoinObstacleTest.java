package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.reliability.wire.ControlLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The obstacle between a subscriber and a source is named at both ends, and later events do not replace it.
class JoinObstacleTest {
    private final InvokedNodes nodes = new InvokedNodes();

    @AfterEach
    void close() {
        nodes.close();
    }

    /// A network on which no datagram of the source's data lane passes.
    private static final class DeafNetwork implements TransportProvider {
        private final TransportProvider real = new UdpTransportProvider();

        @Override
        public String name() {
            return real.name();
        }

        @Override
        public Optional<String> unavailable() {
            return real.unavailable();
        }

        @Override
        public int rank() {
            return real.rank();
        }

        @Override
        public Transport open(final TransportConfig config) {
            return new ForwardingTransport(real.open(config)) {
                @Override
                public Lane open(final LaneConfig lane) {
                    final Lane opened = inner.open(lane);
                    return lane.kind() != LaneKind.DATA
                            ? opened
                            : new ForwardingLane(opened) {
                                @Override
                                public int multicast(final int firstSlot, final int count) {
                                    return count;
                                }
                            };
                }
            };
        }
    }

    private static long joins(final TappedTransport tapped) {
        return tapped.sent(LaneKind.CONTROL).stream()
                .filter(datagram -> ControlLayout.type(MemorySegment.ofArray(datagram), 0) == ControlLayout.TYPE_JOIN)
                .count();
    }

    @Test
    void shouldKeepTheObstacleThatWasFoundWhenTheSourceClosesLater() {
        final TappedTransport tapped = new TappedTransport(new UdpTransportProvider());
        final Framecast source = nodes.launch(new DeafNetwork());
        final Framecast sink = nodes.launch(tapped);
        final Channel channel = StreamFixture.channel("udp", "|mtu=1500|window=100k|frame-max=50000|device=host");
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(
                () -> subscriber.failure().orElse("").startsWith("join refused: a full-size datagram"), "the obstacle");
        // It tries again.
        final long before = joins(tapped);
        nodes.until(() -> joins(tapped) > before, "another attempt");
        publisher.abandon();
        nodes.until(() -> subscriber.failure().orElse("").contains("closed"), "the source is gone");
        final String failure = subscriber.failure().orElseThrow();
        assertTrue(failure.startsWith("join refused: a full-size datagram"), failure);
        assertTrue(failure.endsWith("lower mtu= at the source; then the source closed"), failure);
    }

    @Test
    void shouldNameASubscriberWhoseRingMaxIsTooSmallAtThePublisher() {
        final Framecast source = nodes.launch();
        final Framecast sink = nodes.launch();
        final Channel channel = StreamFixture.channel("udp", "|window=100k|frame-max=50000|device=host|ring-max=4k");
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> !publisher.unreadySubscribers().isEmpty(), "the publisher hears of it");
        final List<String> lines = publisher.unreadySubscribers();
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.getFirst().startsWith("127.0.0.1:"), lines::toString);
        assertTrue(lines.getFirst().contains(" refuses this stream: its ring-max= is below"), lines::toString);
        assertEquals(0, publisher.readySubscribers());
        assertTrue(subscriber.failure().orElseThrow().startsWith("ring-max: a source of frame-max=50000"));
        assertTrue(
                nodes.notices().stream()
                        .anyMatch(line -> line.startsWith("publisher of ") && line.contains("ring-max=")),
                () -> "" + nodes.notices());
    }
}
