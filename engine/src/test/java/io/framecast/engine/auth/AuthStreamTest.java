package io.framecast.engine.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import io.framecast.engine.testing.FrameCheck;
import io.framecast.engine.testing.StreamFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Streams with `auth=`, over real lanes on loopback: members have every frame, others are not listened to and
/// hear nothing.
final class AuthStreamTest {
    private static final int FRAMES = 40;
    private static final String FIRST = "01".repeat(32);
    private static final String SECOND = "02".repeat(32);

    @TempDir
    private Path directory;

    private Path key;
    private Path other;

    @BeforeEach
    void write() throws IOException {
        key = file("key", "one " + FIRST + "\n");
        other = file("other", "one " + SECOND + "\n");
    }

    private Path file(final String name, final String text) throws IOException {
        final Path made = directory.resolve(name);
        Files.writeString(made, text);
        Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rw-------"));
        return made;
    }

    private static NodeConfig config(final double loss, final List<String> notices) {
        return NodeConfig.DEFAULT
                .withSeed(5)
                .withFaults(new NodeConfig.Faults(loss))
                .withNotices(notices::add);
    }

    private static void stream(final StreamFixture streams) {
        final long[] lengths = new long[FRAMES];
        for (int i = 0; i < FRAMES; i++) {
            lengths[i] = i % 4 == 0 ? 1 + i : 1 + i * 7919L % 100_000;
        }
        try (FrameCheck check = new FrameCheck(streams.subscriber.device(), lengths)) {
            for (int i = 0; i < FRAMES; i++) {
                streams.offer(streams.frame(i, lengths[i]), FrameOptions.DEFAULT, check);
            }
            streams.finish(check);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "udp, 0, ''",
        "udp, 0.02, ''",
        "aeron, 0.02, ''",
        "udp, 0.02, |payloads=unprotected",
        "aeron, 0.02, |payloads=unprotected"
    })
    void shouldDeliverEveryFrameToWhoHasTheKey(final String transport, final double loss, final String payloads) {
        final List<String> notices = new CopyOnWriteArrayList<>();
        try (StreamFixture streams =
                new StreamFixture(config(loss, notices), transport, payloads + "|auth=psk:" + key)) {
            stream(streams);
        }
        assertTrue(notices.stream().noneMatch(line -> line.contains(FIRST)), notices::toString);
        assertEquals(
                !payloads.isEmpty(),
                notices.stream()
                        .anyMatch(line -> line.contains("payloads=unprotected: payloads are neither encrypted")),
                notices::toString);
    }

    @ParameterizedTest
    @CsvSource({
        "udp, 0, auto, host",
        "udp, 0.02, aes-gcm, host",
        "udp, 0.02, chacha20-poly1305, host",
        "udp, 0.02, aes-gcm, test",
        "aeron, 0.02, aes-gcm, host"
    })
    void shouldDeliverEveryEncryptedFrame(
            final String transport, final double loss, final String cipher, final String device) {
        final List<String> notices = new CopyOnWriteArrayList<>();
        final String keys = "|device=" + device + "|cipher=" + cipher + "|rekey=1s|auth=psk:" + key;
        try (StreamFixture streams = new StreamFixture(config(loss, notices), transport, keys)) {
            stream(streams);
        }
        assertTrue(notices.stream().noneMatch(line -> line.contains(FIRST)), notices::toString);
        assertTrue(notices.stream().noneMatch(line -> line.contains("neither encrypted")), notices::toString);
    }

    @ParameterizedTest
    @CsvSource({"udp, |payloads=unprotected", "udp, |cipher=aes-gcm", "aeron, ''"})
    void shouldChangeItsKeysWithoutAGap(final String transport, final String cipher) {
        final List<String> notices = new CopyOnWriteArrayList<>();
        final String keys = cipher + "|rekey=1s|auth=psk:" + key;
        try (StreamFixture streams = new StreamFixture(config(0.02, notices), transport, keys)) {
            final long[] lengths = new long[20_000];
            Arrays.fill(lengths, 5_000);
            try (FrameCheck check = new FrameCheck(streams.subscriber.device(), lengths)) {
                int offered = 0;
                // Frames flow while the keys change, and some follow under the new keys.
                for (int behind = 0; behind < FRAMES; offered++) {
                    streams.offer(streams.frame(offered, lengths[offered]), FrameOptions.DEFAULT, check);
                    behind += streams.counters().contains("event=\"rekeyed\"") ? 1 : 0;
                    LockSupport.parkNanos(2_000_000);
                }
                streams.finish(check, offered);
            }
        }
        assertTrue(notices.stream().noneMatch(line -> line.contains("evicted")), notices::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|cipher=auto", "|cipher=aes-gcm"})
    void shouldNotListenToASourceWhosePayloadsAreUnprotected(final String cipher) {
        shouldKeepOut(
                "|payloads=unprotected",
                cipher + "|auth=psk:" + key,
                "payloads: the source says unprotected, and this subscriber does not; write payloads=unprotected");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|cipher=aes-gcm"})
    void shouldNotListenToASourceThatEncryptsWhereItsOwnPayloadsAreUnprotected(final String cipher) {
        shouldKeepOut(
                cipher,
                "|payloads=unprotected|auth=psk:" + key,
                "payloads: this subscriber says unprotected, and the source encrypts them; write payloads=unprotected");
    }

    @Test
    void shouldShareWithNobodyOfItsHostWhoHasAnotherKey() {
        final List<String> notices = new CopyOnWriteArrayList<>();
        final NodeConfig config = config(0, notices);
        final String group = "|device=host|host-group=auto|auth=psk:";
        try (StreamFixture streams = new StreamFixture(config, "udp", group + key);
                Framecast node = Framecast.launch(config)) {
            final String own = streams.subscriber.channel().toString();
            final Subscriber stranger = node.subscribe(Channel.parse(own.replace(key.toString(), other.toString())));
            stream(streams);
            assertNull(stranger.poll());
            assertEquals(Subscriber.State.JOINING, stranger.state());
        }
    }

    private void shouldKeepOut(final String auth, final String line) {
        shouldKeepOut("", auth, line);
    }

    private void shouldKeepOut(final String ofSource, final String auth, final String line) {
        final List<String> notices = new CopyOnWriteArrayList<>();
        final List<String> lines = new CopyOnWriteArrayList<>();
        try (StreamFixture streams = new StreamFixture(config(0, notices), "udp", ofSource + "|auth=psk:" + key);
                Framecast stranger = Framecast.launch(config(0, lines))) {
            final Channel channel = streams.publisher.channel();
            final String uri = channel.toString().replaceAll("\\|(auth|cipher|payloads)=[^|]*", "");
            final Subscriber kept = stranger.subscribe(Channel.parse(uri + auth));
            streams.await(() -> lines.stream().anyMatch(text -> text.contains(line)), line);
            stream(streams);
            assertNull(kept.poll());
            assertEquals(Subscriber.State.JOINING, kept.state());
            kept.close();
        }
    }

    /// The notice comes when the time of a handshake is over: eight seconds.
    @Tag("campaign")
    @Test
    void shouldKeepOutWhoHasAnotherKeyAndSayWhy() {
        shouldKeepOut("|auth=psk:" + other, "does not take key one");
    }

    @Test
    void shouldKeepOutWhoHasAnotherKey() {
        final List<String> notices = new CopyOnWriteArrayList<>();
        final NodeConfig config = config(0, notices);
        try (StreamFixture streams = new StreamFixture(config, "udp", "|auth=psk:" + key);
                Framecast stranger = Framecast.launch(config)) {
            final String own = streams.publisher.channel().toString();
            final Subscriber kept = stranger.subscribe(Channel.parse(own.replace(key.toString(), other.toString())));
            streams.await(() -> notices.stream().anyMatch(line -> line.contains("was kept out")), "a notice");
            stream(streams);
            assertNull(kept.poll());
            assertEquals(Subscriber.State.JOINING, kept.state());
            assertEquals(1, streams.publisher.readySubscribers());
        }
    }

    @Test
    void shouldKeepOutWhoHasNoKey() {
        shouldKeepOut("", "give auth=");
    }

    @Test
    void shouldNotListenToASourceWithoutAKey() {
        final List<String> notices = new CopyOnWriteArrayList<>();
        try (StreamFixture streams = new StreamFixture(config(0, new CopyOnWriteArrayList<>()), "udp", "");
                Framecast node = Framecast.launch(config(0, notices))) {
            final Channel channel = Channel.parse(streams.publisher.channel() + "|auth=psk:" + key);
            final Subscriber careful = node.subscribe(channel);
            streams.await(() -> notices.stream().anyMatch(text -> text.contains("has no auth=")), "a notice");
            assertEquals(1, streams.publisher.readySubscribers());
            careful.close();
        }
    }

    @Test
    void shouldRefuseToSendFromADeviceWhatItEncrypts() {
        final String auth = "|auth=psk:" + key;
        try (Framecast node = Framecast.launch(NodeConfig.DEFAULT)) {
            final Channel gathered = StreamFixture.channel("udp", "|device=test|gather-max=64k" + auth);
            final ConfigException gather = assertThrows(ConfigException.class, () -> node.publish(gathered));
            assertTrue(gather.getMessage().startsWith("gather-max: "), gather::getMessage);
            assertTrue(gather.getMessage().contains("payloads=unprotected"), gather::getMessage);
            try (Publisher publisher = node.publish(StreamFixture.channel("udp", "|device=test" + auth))) {
                final ConfigException device = assertThrows(ConfigException.class, publisher::device);
                assertTrue(device.getMessage().contains("payloads=unprotected"), device::getMessage);
            }
            for (final String asked : List.of("|payloads=unprotected", "|cipher=auto")) {
                try (Publisher publisher = node.publish(StreamFixture.channel("udp", "|device=test" + asked + auth))) {
                    assertEquals("test:0", publisher.device().name());
                }
            }
        }
    }

    @Test
    void shouldRefuseKeysThatOthersMayRead() throws IOException {
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
        final Channel channel = StreamFixture.channel("udp", "|auth=psk:" + key);
        try (Framecast node = Framecast.launch(NodeConfig.DEFAULT)) {
            final ConfigException source = assertThrows(ConfigException.class, () -> node.publish(channel));
            final ConfigException sink = assertThrows(ConfigException.class, () -> node.subscribe(channel));
            assertTrue(source.getMessage().contains("chmod 600"), source::getMessage);
            assertTrue(sink.getMessage().contains("chmod 600"), sink::getMessage);
        }
    }
}
