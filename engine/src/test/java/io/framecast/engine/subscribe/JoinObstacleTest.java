package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.LaneKind;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.SentDatagrams;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.reliability.wire.ControlLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The obstacle between a subscriber and a source is named at both ends, and later events do not replace it.
class JoinObstacleTest {
    private final InvokedNodes nodes = new InvokedNodes();

    @AfterEach
    void close() {
        nodes.close();
    }

    private static long joins(final SentDatagrams sent) {
        return sent.sent(LaneKind.CONTROL).stream()
                .filter(datagram -> ControlLayout.type(MemorySegment.ofArray(datagram), 0) == ControlLayout.TYPE_JOIN)
                .count();
    }

    @Test
    void shouldKeepTheObstacleThatWasFoundWhenTheSourceClosesLater() {
        final SentDatagrams sent = new SentDatagrams();
        final Framecast source = nodes.launch(new ScriptedTransport(new UdpTransportProvider()).losing(LaneKind.DATA));
        final Framecast sink = nodes.launch(new ScriptedTransport(new UdpTransportProvider()).copying(sent));
        final Channel channel = StreamFixture.channel("udp", "|mtu=1500|window=100k|frame-max=50000|device=host");
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(
                () -> subscriber.failure().orElse("").startsWith("join refused: a full-size datagram"), "the obstacle");
        // It tries again.
        final long before = joins(sent);
        nodes.until(() -> joins(sent) > before, "another attempt");
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
