package io.framecast.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.engine.testing.SourceLog;
import io.framecast.engine.testing.SourceLog.Feeder;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.flow.StrayWatch;
import io.framecast.testing.TestPorts;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.InetAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The ports of a channel: foreign datagrams on them are reported, and an end can choose its own ports.
class PortsTest {
    private static final String SETTINGS = "|mtu=1500|frame-max=60000|window=200k|device=host";

    // sl, local address, ":", local port; remote address and six more columns, then the inode.
    private static final Pattern SOCKET =
            Pattern.compile("^ *[0-9]+: [0-9A-F]+:([0-9A-F]{4}) \\S+ \\S+ \\S+ \\S+ \\S+ +\\S+ +\\S+ (\\d+) ");

    private final InvokedNodes nodes = new InvokedNodes();

    @AfterEach
    void close() {
        nodes.close();
    }

    private final class Disturbed {
        private final int port;
        private final Feeder feeder;
        private final SourceLog log;
        private final DatagramPacket packet;

        Disturbed(final int portOffset) {
            final Channel channel = StreamFixture.channel("udp", SETTINGS);
            final Subscriber subscriber = nodes.launch().subscribe(channel);
            final Framecast node = nodes.launch();
            feeder = new Feeder(node, node.publish(channel), 0);
            log = new SourceLog(subscriber);
            port = ((Channel.Multicast) channel).group().port();
            packet = new DatagramPacket(
                    new byte[8_000], 8_000, InetAddress.ofLiteral("224.20.30.41"), port + portOffset);
        }

        boolean goesOn(final MulticastSocket stranger) {
            send(stranger, packet);
            feeder.offer();
            log.poll();
            return notice() != null;
        }

        @Nullable
        String notice() {
            final String ports = "(" + port + " data, " + (port + 1) + " repair, " + (port + 2) + " control)";
            return nodes.notices().stream()
                    .filter(line -> line.contains("not this channel's") && line.contains(ports))
                    .findFirst()
                    .orElse(null);
        }

        boolean isWhole() {
            log.poll();
            return log.frames == feeder.frames();
        }
    }

    /// On the ports of repairs and of control datagrams, of two channels at the same time: a warning takes
    /// seconds.
    @Test
    void shouldWarnOfForeignDatagramsThatKeepArriving() throws IOException {
        final List<Disturbed> disturbed = List.of(new Disturbed(1), new Disturbed(2));
        nodes.until(
                () -> disturbed.stream().allMatch(each -> each.feeder.publisher.readySubscribers() == 1), "members");
        try (MulticastSocket stranger = new MulticastSocket()) {
            stranger.setNetworkInterface(NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1")));
            nodes.until(
                    () -> disturbed.stream()
                                    .filter(each -> each.goesOn(stranger))
                                    .count()
                            == 2,
                    "two warnings");
        }
        for (final Disturbed each : disturbed) {
            assertTrue(String.valueOf(each.notice()).contains("three apart"), each::notice);
        }
        // The streams go on.
        nodes.until(() -> disturbed.stream().filter(Disturbed::isWhole).count() == 2, "every frame");
    }

    private static void send(final MulticastSocket stranger, final DatagramPacket packet) {
        try {
            stranger.send(packet);
        } catch (final IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldNotWarnOfStraysAndOnceAMinuteAtMost() {
        final long[] foreign = new long[1];
        final List<String> lines = new ArrayList<>();
        final ForeignTraffic traffic =
                ForeignTraffic.ofSubscriber(StreamFixture.channel("udp", SETTINGS), () -> foreign[0], lines::add);
        final long[][] steps = {
            {1, 1_000, 0}, {2, 1_010, 0}, {3, 1_100, 0}, {4, 1_200, 1}, {5, 2_000, 1}, {63, 20_000, 1}, {64, 200_000, 2}
        };
        for (final long[] step : steps) {
            foreign[0] = step[1];
            traffic.tick(step[0] * StrayWatch.LOOK_NS);
            assertEquals(step[2], lines.size(), () -> "after " + step[0] + " s");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldUseNoOtherPortsThanTheGroupsAndThoseGiven(final String transport) throws IOException {
        final int first = TestPorts.range(16);
        final Channel channel = Channel.parse(
                StreamFixture.channel(transport, SETTINGS) + "|unicast-ports=" + first + "-" + (first + 15));
        final List<Integer> before = ports();
        final Subscriber subscriber = nodes.launch().subscribe(channel);
        final Publisher publisher = nodes.launch().publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "member");
        nodes.until(
                () -> {
                    publisher.offer(MemorySegment.ofArray(new byte[50_000]), FrameOptions.DEFAULT);
                    try (var frame = subscriber.poll()) {
                        return frame != null;
                    }
                },
                "a frame");
        final int group = ((Channel.Multicast) channel).group().port();
        final List<Integer> used =
                ports().stream().filter(port -> !before.contains(port)).sorted().toList();
        final long given = used.stream()
                .filter(port -> port >= first && port <= first + 15)
                .count();
        // The counts of the README's table: three of a publisher, two of a subscriber with one source; one each.
        assertEquals(transport.equals("udp") ? 5 : 2, given, used::toString);
        if (transport.equals("udp")) {
            final long groups = used.stream()
                    .filter(port -> port >= group && port <= group + 2)
                    .count();
            assertEquals(used.size(), given + groups, used::toString);
        }
    }

    // Local ports of this process's UDP sockets.
    private static List<Integer> ports() throws IOException {
        final Set<String> own = new HashSet<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (final Path descriptor : descriptors) {
                try {
                    own.add(Files.readSymbolicLink(descriptor).toString());
                } catch (final NoSuchFileException e) {
                    // Closed meanwhile.
                }
            }
        }
        try (Stream<String> lines = Files.lines(Path.of("/proc/net/udp"))) {
            return lines.skip(1)
                    .map(SOCKET::matcher)
                    .filter(Matcher::find)
                    .filter(matcher -> own.contains("socket:[" + matcher.group(2) + "]"))
                    .map(matcher -> Integer.parseInt(matcher.group(1), 16))
                    .toList();
        }
    }
}
