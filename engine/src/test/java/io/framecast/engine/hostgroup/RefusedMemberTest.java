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
import io.framecast.api.provider.PseudoFiles;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.group.SegmentLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A group whose leader takes no member.
class RefusedMemberTest {
    private static final long WAIT_NS = 60_000_000_000L;

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    private static void refuse(final UnixSocket listener, final @Nullable Consumer<MemorySegment> how) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES);
            while (true) {
                final UnixSocket socket = listener.accept();
                if (socket == null) {
                    return;
                }
                if (how != null) {
                    how.accept(message);
                    socket.send(message.asSlice(0, GroupMessage.BYTES));
                }
                socket.close();
            }
        }
    }

    /// It hangs up; or it says that it has no place.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReceiveTheStreamItselfWhereNoPlaceIsLeft(final boolean says) throws Exception {
        final Channel channel = StreamFixture.channel("udp", "|device=host|host-group=full");
        final Path path = HostGroups.directory().resolve(HostGroups.name(channel, "", "") + ".sock");
        final UnixSocket listener = UnixSocket.listen(path);
        final Consumer<MemorySegment> full = message -> GroupMessage.refused(message, GroupMessage.NO_PLACE);
        Thread.ofPlatform().daemon().start(() -> refuse(listener, says ? full : null));
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
            assertTrue(subscriber.awaitFrame(Duration.ofSeconds(60)));
            try (DeviceFrame received = subscriber.poll()) {
                assertEquals(5000, received.length());
            }
        } finally {
            Files.deleteIfExists(path);
            listener.close();
        }
    }

    @Test
    void shouldNameBothLayoutsWhereItsLeaderSpeaksAnother() throws Exception {
        final Channel channel = StreamFixture.channel("udp", "|device=host|host-group=foreign");
        final Path path = HostGroups.directory().resolve(HostGroups.name(channel, "", "") + ".sock");
        final UnixSocket listener = UnixSocket.listen(path);
        Thread.ofPlatform()
                .daemon()
                .start(() -> refuse(
                        listener,
                        message -> GroupMessage.refused(message, GroupMessage.OTHER_VERSION)
                                .set(ValueLayout.JAVA_INT, 8, SegmentLayout.VERSION + 1)));
        try (Framecast node = Framecast.launch();
                Subscriber subscriber = node.subscribe(channel)) {
            final long endNs = System.nanoTime() + WAIT_NS;
            while (subscriber.failure().isEmpty()) {
                subscriber.awaitFrame(Duration.ofMillis(5));
                assertTrue(System.nanoTime() < endNs, "it says nothing");
            }
            assertEquals(
                    "host group: this program speaks layout " + SegmentLayout.VERSION
                            + " of the host segment, its leader (process "
                            + ProcessHandle.current().pid() + ") layout " + (SegmentLayout.VERSION + 1)
                            + "; run both from the same release, or use host-group=off",
                    subscriber.failure().orElseThrow());
        } finally {
            Files.deleteIfExists(path);
            listener.close();
        }
    }

    /// A process that was stopped as soon as it listened: it accepts no connection, and no other follower is
    /// there.
    @Test
    void shouldReplaceALeaderThatReadsNothing() throws Exception {
        final Channel channel = StreamFixture.channel("udp", "|device=host|host-group=silent");
        final Path path = HostGroups.directory().resolve(HostGroups.name(channel, "", "") + ".sock");
        final UnixSocket listener = UnixSocket.listen(path);
        try (Framecast node = Framecast.launch();
                Subscriber subscriber = node.subscribe(channel);
                Publisher publisher =
                        node.publish(Channel.parse(channel.toString().replace("|host-group=silent", "")))) {
            final long endNs = System.nanoTime() + WAIT_NS;
            while (publisher.readySubscribers() < 1) {
                subscriber.awaitFrame(Duration.ofMillis(5));
                assertTrue(System.nanoTime() < endNs, "it waits for ever");
            }
        } finally {
            Files.deleteIfExists(path);
            listener.close();
        }
    }

    /// Those with `path` as their address: the listener, and the end of each connection that it has not accepted.
    private static long sockets(final Path path) {
        return PseudoFiles.readOrEmpty(Path.of("/proc/net/unix"))
                .lines()
                .filter(line -> line.endsWith(" " + path))
                .count();
    }

    /// A process that was stopped as soon as it listened: it accepts no connection.
    @Test
    void shouldLeaveALeaderThatStoodStillBeforeItSharedAnything() throws Exception {
        final Channel channel = StreamFixture.channel("udp", "|device=host|host-group=still");
        final Path path = HostGroups.directory().resolve(HostGroups.name(channel, "", "") + ".sock");
        final UnixSocket listener = UnixSocket.listen(path);
        try (Framecast first = Framecast.launch();
                Framecast second = Framecast.launch();
                Arena arena = Arena.ofConfined();
                Subscriber waits = first.subscribe(channel)) {
            final long connectedNs = System.nanoTime() + WAIT_NS;
            while (sockets(path) < 2) {
                waits.awaitFrame(Duration.ofMillis(5));
                assertTrue(System.nanoTime() < connectedNs, "it never connects");
            }
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
                assertTrue(waits.awaitFrame(Duration.ofSeconds(60)));
            }
        } finally {
            Files.deleteIfExists(path);
            listener.close();
        }
    }
}
