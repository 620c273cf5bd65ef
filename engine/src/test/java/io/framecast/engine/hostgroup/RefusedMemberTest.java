package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.node.StreamFixture;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A group whose leader takes nobody.
class RefusedMemberTest {
    private static final long WAIT_NS = 30_000_000_000L;

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    private static void refuse(final UnixSocket listener) {
        while (true) {
            final UnixSocket socket = listener.accept();
            if (socket == null) {
                return;
            }
            socket.close();
        }
    }

    @Test
    void shouldReceiveTheStreamItselfWhereNoPlaceIsLeft() throws Exception {
        final Channel channel = StreamFixture.channel("udp", "|device=host|host-group=full");
        final Path path = HostGroups.directory().resolve(HostGroups.name(channel, "") + ".sock");
        final UnixSocket listener = UnixSocket.listen(path);
        Thread.ofPlatform().daemon().start(() -> refuse(listener));
        try (Framecast node = Framecast.launch();
                Arena arena = Arena.ofConfined();
                Subscriber subscriber = node.subscribe(channel);
                Publisher publisher =
                        node.publish(Channel.parse(channel.toString().replace("|host-group=full", "")))) {
            final MemorySegment frame = arena.allocate(5000);
            final long endNs = System.nanoTime() + WAIT_NS;
            while (publisher.offer(frame, FrameOptions.DEFAULT) < 0) {
                subscriber.awaitFrame(Duration.ofMillis(5));
                assertTrue(System.nanoTime() < endNs, "it never joins");
            }
            assertTrue(subscriber.awaitFrame(Duration.ofSeconds(10)));
            try (DeviceFrame received = subscriber.poll()) {
                assertEquals(5000, received.length());
            }
        } finally {
            Files.deleteIfExists(path);
            listener.close();
        }
    }

    /// A process that was stopped as soon as it listened: it accepts nobody.
    @Test
    void shouldLeaveALeaderThatStoodStillBeforeItSharedAnything() throws Exception {
        final Channel channel = StreamFixture.channel("udp", "|device=host|host-group=still");
        final Path path = HostGroups.directory().resolve(HostGroups.name(channel, "") + ".sock");
        final UnixSocket listener = UnixSocket.listen(path);
        try (Framecast first = Framecast.launch();
                Framecast second = Framecast.launch();
                Arena arena = Arena.ofConfined();
                Subscriber waits = first.subscribe(channel)) {
            // Somebody else has noticed.
            Files.delete(path);
            try (Subscriber leads = second.subscribe(channel);
                    Publisher publisher =
                            second.publish(Channel.parse(channel.toString().replace("|host-group=still", "")))) {
                final long endNs = System.nanoTime() + WAIT_NS;
                while (publisher.readySubscribers() < 2) {
                    waits.awaitFrame(Duration.ofMillis(5));
                    leads.awaitFrame(Duration.ofMillis(5));
                    assertTrue(System.nanoTime() < endNs, "it waits for ever");
                }
                assertTrue(publisher.offer(arena.allocate(5000), FrameOptions.DEFAULT) >= 0);
                assertTrue(waits.awaitFrame(Duration.ofSeconds(10)));
            }
        } finally {
            Files.deleteIfExists(path);
            listener.close();
        }
    }
}
