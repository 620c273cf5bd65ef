package io.framecast.engine.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.HeartbeatValues;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// One forged heartbeat decides neither how much memory a subscriber takes nor which source it joins.
class ForgedHeartbeatTest {
    private static final byte[] NOWHERE = {4, 127, 0, 0, 1, 9, 9};
    private static final long RING_MAX = 64L << 20;

    private final InvokedNodes nodes = new InvokedNodes();
    private final Framecast source = nodes.launch();
    private final Framecast sink = nodes.launch();

    @AfterEach
    void close() {
        nodes.close();
    }

    private static Channel channel(final String settings) {
        return StreamFixture.channel("udp", "|mtu=1500|window=100k|frame-max=50000|device=host" + settings);
    }

    private static void send(final Channel channel, final StreamInfo stream) throws IOException {
        final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final HeartbeatValues values = new HeartbeatValues();
        final int bytes = HeartbeatLayout.write(
                new ControlWriter(stream.session()).in(datagram),
                0,
                stream,
                stream.channel().getBytes(StandardCharsets.US_ASCII),
                values.progress(0, 0).timing(0, 0, 0));
        send(channel, datagram.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }

    private static void send(final Channel channel, final byte[] datagram) throws IOException {
        final Channel.Multicast multicast = (Channel.Multicast) channel;
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.setOption(
                    StandardSocketOptions.IP_MULTICAST_IF,
                    NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1")));
            socket.send(new DatagramPacket(
                    datagram,
                    datagram.length,
                    new InetSocketAddress(
                            multicast.group().address(), multicast.group().port() + 2)));
        }
    }

    private static StreamInfo stream(
            final Channel channel, final int windowSlots, final long frameMax, final byte[] data) {
        return new StreamInfo(1, channel.name(), 1408, windowSlots, frameMax, 50, NOWHERE, data);
    }

    private static long sharedBytes() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("RssShmem"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .sum();
        }
    }

    private void becomesReady(final Channel channel, final Subscriber subscriber) {
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "the real source is found");
        nodes.until(() -> subscriber.state() == Subscriber.State.READY, "ready");
        assertTrue(subscriber.failure().isEmpty(), () -> "" + subscriber.failure());
    }

    @Test
    void shouldTakeNoMemoryWhenAStrangerWantsMuch() throws IOException {
        final Channel channel = channel("|ring-max=" + RING_MAX);
        final Subscriber subscriber = sink.subscribe(channel);
        nodes.cycle();
        final long before = sharedBytes();
        send(channel, stream(channel, 1 << 20, 3L << 30, NOWHERE));
        nodes.until(() -> subscriber.failure().isPresent(), "refusal");
        assertTrue(subscriber.failure().orElseThrow().startsWith("ring-max: a source of frame-max=3221225472"));
        assertEquals(Subscriber.State.JOINING, subscriber.state());
        assertTrue(sharedBytes() < before + RING_MAX, "memory taken");
        becomesReady(channel, subscriber);
        assertEquals(
                1,
                nodes.notices().stream()
                        .filter(line -> line.contains("ring-max"))
                        .count());
    }

    @Test
    void shouldListenOnWhenASourceDoesNotAnswer() throws IOException {
        final Channel channel = channel("");
        final Subscriber subscriber = sink.subscribe(channel);
        nodes.cycle();
        final long before = sharedBytes();
        send(channel, stream(channel, 1 << 13, 5_000, NOWHERE));
        nodes.until(() -> subscriber.failure().isPresent(), "given up");
        assertTrue(subscriber.failure().orElseThrow().contains("does not answer"), () -> "" + subscriber.failure());
        for (int i = 0; i < 100; i++) {
            nodes.cycle();
        }
        assertTrue(sharedBytes() < before + (4L << 20), "its ring was freed");
        becomesReady(channel, subscriber);
    }

    @Test
    void shouldListenOnWhenASourceHasNoAddress() throws IOException {
        final Channel channel = channel("");
        final Subscriber subscriber = sink.subscribe(channel);
        nodes.cycle();
        send(channel, stream(channel, 1 << 10, 5_000, new byte[] {9, 9, 9}));
        nodes.until(() -> subscriber.failure().isPresent(), "refusal");
        assertEquals(Subscriber.State.JOINING, subscriber.state());
        becomesReady(channel, subscriber);
    }

    @Test
    void shouldFailWhenItsOwnRingIsTooSmall() throws IOException {
        final Channel channel = channel("|ring=50000");
        final Subscriber subscriber = sink.subscribe(channel);
        nodes.cycle();
        send(channel, stream(channel, 1 << 10, 5_000, NOWHERE));
        nodes.until(() -> subscriber.state() == Subscriber.State.FAILED, "failure");
        assertTrue(subscriber.failure().orElseThrow().startsWith("ring: expected at least"));
    }

    @Test
    void shouldTellInOneLineThatASourceSpeaksAnotherVersion() throws IOException {
        final Channel channel = channel("");
        sink.subscribe(channel);
        nodes.cycle();
        // Of version 1 the first 8 bytes, and a length, are as they are today.
        final byte[] datagram = new byte[170];
        datagram[0] = 0x11;
        datagram[2] = (byte) datagram.length;
        final CRC32C crc = new CRC32C();
        crc.update(datagram);
        MemorySegment.ofArray(datagram).set(ValueLayout.JAVA_INT_UNALIGNED, 4, (int) crc.getValue());
        for (int i = 0; i < 3; i++) {
            send(channel, datagram);
        }
        nodes.until(() -> nodes.notices().stream().anyMatch(line -> line.contains("version")), "notice");
        for (int i = 0; i < 100; i++) {
            nodes.cycle();
        }
        assertEquals(
                List.of("subscriber of " + channel.name() + ": a source there speaks version 1 of the protocol, this"
                        + " subscriber version 2: run the same version of framecast on both hosts"),
                nodes.notices().stream()
                        .filter(line -> line.startsWith("subscriber"))
                        .toList());
    }
}
