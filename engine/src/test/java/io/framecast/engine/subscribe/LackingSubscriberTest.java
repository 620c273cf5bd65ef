package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.SourceEvent;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.LaneKind;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.SentDatagrams;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Wire;
import io.framecast.testing.FrameBytes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A subscriber that loses datagrams which somebody acknowledges in its name: its source frees what it lacks.
final class LackingSubscriberTest {
    private static final long LIMIT_NS = 60_000_000_000L;
    private static final int FRAME_BYTES = 20_000;
    private static final int ATTACKED_FRAMES = 50;
    private static final double LOSS = 0.2;

    private final SentDatagrams sentBySource = new SentDatagrams();
    private final SentDatagrams sentBySink = new SentDatagrams();
    private final ScriptedTransport ofSource = new ScriptedTransport(new UdpTransportProvider()).copying(sentBySource);
    private final ScriptedTransport ofSink = new ScriptedTransport(new UdpTransportProvider()).copying(sentBySink);
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private final List<SourceEvent> events = new ArrayList<>();
    private Framecast source;
    private Framecast sink;
    private DatagramChannel attacker;
    private Publisher publisher;
    private Subscriber subscriber;
    private int offered;
    private int polled;

    @BeforeEach
    void launch() throws IOException {
        source = node(ofSource, 0);
        sink = node(ofSink, LOSS);
        attacker = DatagramChannel.open();
        attacker.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
    }

    @AfterEach
    void close() throws IOException {
        source.close();
        sink.close();
        attacker.close();
    }

    private Framecast node(final ScriptedTransport transport, final double loss) {
        final NodeConfig config = NodeConfig.DEFAULT
                .withThreading(Threading.INVOKER)
                .withSeed(11)
                .withFaults(new NodeConfig.Faults(loss))
                .withNotices(notices::add);
        return TestNode.launch(config, transport);
    }

    private void stream(final String settings) {
        final Channel channel = StreamFixture.channel(
                "udp", "|mtu=1500|window=500k|frame-max=20000|device=host|alive-timeout=1000" + settings);
        subscriber = sink.subscribe(channel);
        subscriber.onSource(events::add);
        publisher = source.publish(channel);
        until(() -> publisher.readySubscribers() == 1 && subscriber.state() == Subscriber.State.READY, "ready");
    }

    private void until(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > LIMIT_NS) {
                throw new AssertionError("waited in vain for: " + what + " " + subscriber.state() + " "
                        + subscriber.stats() + " " + events + notices);
            }
            if (source.doWork() + sink.doWork() == 0) {
                LockSupport.parkNanos(20_000);
            }
            subscriber.poll(
                    frame -> {
                        polled++;
                        frame.close();
                    },
                    10);
        }
    }

    private void offerOrAttack() {
        if (publisher.readySubscribers() > 0
                && publisher.offer(MemorySegment.ofArray(FrameBytes.of(offered, FRAME_BYTES)), FrameOptions.DEFAULT)
                        > 0) {
            offered++;
        }
        if (offered < ATTACKED_FRAMES) {
            acknowledgeInItsName();
        }
    }

    // All that the source has sent, at once: before its repairs.
    private void acknowledgeInItsName() {
        final long sent = sentBySource.sent(LaneKind.DATA).stream()
                .map(MemorySegment::ofArray)
                .filter(datagram -> DataLayout.type(datagram, 0) == DataLayout.TYPE_DATA)
                .mapToLong(datagram -> DataLayout.SEQUENCE.get(datagram, 0) + 1)
                .max()
                .orElse(0);
        final MemorySegment own = MemorySegment.ofArray(sentBySink.sent(LaneKind.CONTROL).stream()
                .filter(datagram -> ControlLayout.type(MemorySegment.ofArray(datagram), 0) == ControlLayout.TYPE_JOIN)
                .findFirst()
                .orElseThrow());
        final MemorySegment made = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final ControlWriter ids = new ControlWriter(ControlLayout.SESSION.get(own, 0))
                .receiver(ControlLayout.RECEIVER.get(own, 0))
                .in(made);
        final AckValues values =
                new AckValues().progress(sent, sent + 100, sent).echo(AckLayout.NO_ECHO, 0);
        final byte[] raw = ofSource.address(LaneKind.CONTROL).toBytes();
        final int port = (raw[raw.length - 2] & 0xff) << 8 | (raw[raw.length - 1] & 0xff);
        try {
            attacker.send(
                    ByteBuffer.wrap((byte[]) made.heapBase().orElseThrow(), 0, AckLayout.write(ids, values)),
                    new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
        } catch (final IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldEndWithAReasonOfItsOwn() {
        stream("");
        until(
                () -> {
                    offerOrAttack();
                    return subscriber.state() == Subscriber.State.SOURCE_LOST;
                },
                "the end");
        final String reason = subscriber.failure().orElseThrow();
        assertTrue(reason.contains("has freed datagrams that this subscriber lacks"), reason);
        until(() -> !publisher.stats().evictions().isEmpty(), "the eviction in its statistics");
        final String why = publisher.stats().evictions().getFirst().reason();
        assertTrue(why.contains("are freed"), why);
    }

    @Test
    void shouldJoinAnewWithRejoin() {
        stream("|rejoin=60s");
        until(
                () -> {
                    offerOrAttack();
                    return events.stream().anyMatch(event -> event.kind() == SourceEvent.Kind.LOST);
                },
                "the loss");
        until(() -> events.getLast().kind() == SourceEvent.Kind.REJOINED, "the return");
        final int before = polled;
        until(
                () -> {
                    offerOrAttack();
                    return polled > before + 20;
                },
                "frames");
        assertEquals(
                List.of(SourceEvent.Kind.JOINED, SourceEvent.Kind.LOST, SourceEvent.Kind.REJOINED),
                events.stream().map(SourceEvent::kind).toList());
        assertTrue(events.get(1).reason().contains("has freed datagrams that this subscriber lacks"), events::toString);
    }
}
