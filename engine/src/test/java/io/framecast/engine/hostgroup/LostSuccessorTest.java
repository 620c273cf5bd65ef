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
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.group.FollowersToAwait;
import io.framecast.reliability.group.SharedFrames;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A successor that dies when its followers have its segment, and before that counts.
class LostSuccessorTest {
    private static final int RING_BYTES = 1 << 20;
    private static final long WAIT_NS = 60_000_000_000L;
    private static final StreamInfo STREAM =
            new StreamInfo(7, "test", 1408, 256, 100_000, 2_000, new byte[6], new byte[6]);

    private final Channel plain =
            StreamFixture.channel("udp", "|mtu=1500|window=300k|frame-max=100000|device=host|alive-timeout=20000");
    private final Channel channel = Channel.parse(plain + "|host-group=lost");
    private final Arena arena = Arena.ofShared();
    private final MemorySegment frame = arena.allocate(30_000);
    private final AtomicLong lost = new AtomicLong();

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private static void await(final BooleanSupplier condition, final String what) throws InterruptedException {
        final long endNs = System.nanoTime() + WAIT_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < endNs, what);
            Thread.sleep(1);
        }
    }

    private void publish(final Publisher publisher, final long id) throws InterruptedException {
        frame.set(ValueLayout.JAVA_LONG, 0, id);
        await(() -> publisher.offer(frame, FrameOptions.DEFAULT) >= 0, "no room for frame " + id);
    }

    private void take(final Subscriber subscriber, final long id) {
        assertTrue(subscriber.awaitFrame(Duration.ofSeconds(30)), () -> "no frame " + id);
        try (DeviceFrame taken = subscriber.poll()) {
            assertEquals(id, taken.frameId());
            assertEquals(id, taken.region().host().get(ValueLayout.JAVA_LONG, 0));
        }
    }

    // Takes the leader's place for followers, and dies.
    private void succeedInVain(final Path path) throws Exception {
        // A follower that looks meanwhile finds the old path or this one.
        final Path other = path.resolveSibling(path.getFileName() + ".new");
        final UnixSocket listener = UnixSocket.listen(other);
        Files.move(other, path, StandardCopyOption.ATOMIC_MOVE);
        try (GroupLeader successor = new GroupLeader(path, null, listener, () -> {}, 100_000_000, _ -> {});
                MirroredMemory ring = MirroredMemory.allocateShared(RING_BYTES)) {
            final AtomicReference<SharedFrames> shared = new AtomicReference<>();
            successor.adopt(new Takeover(
                    1,
                    STREAM,
                    new Checkpoint(),
                    MemorySegment.NULL,
                    true,
                    () -> true,
                    // Until both are there.
                    new FollowersToAwait(
                            Map.of(1L, 0),
                            _ -> shared.get() == null || shared.get().readers() < 2,
                            () -> {}),
                    () -> {}));
            try (SharedFrames frames =
                    successor.share(null, STREAM, ring, RING_BYTES, true, Delivery.RELIABLE, 0, () -> 0)) {
                shared.set(frames);
                await(frames::isHandoverComplete, "no member follows the successor");
            }
        }
    }

    @Test
    void shouldGoOnFromTheSegmentBefore() throws Exception {
        final Path path = HostGroups.directory().resolve(HostGroups.name(channel, "", "") + ".sock");
        try (Framecast source = Framecast.launch();
                Framecast first = Framecast.launch();
                Framecast second = Framecast.launch();
                Subscriber leads = first.subscribe(channel);
                Subscriber follows = second.subscribe(channel);
                Publisher publisher = source.publish(plain)) {
            follows.onLoss((_, count, _) -> lost.addAndGet(count));
            await(() -> publisher.readySubscribers() == 2, "they do not join");
            for (long id = 0; id < 20; id++) {
                publish(publisher, id);
                take(leads, id);
                take(follows, id);
            }
            succeedInVain(path);
            for (long id = 20; id < 200; id++) {
                publish(publisher, id);
                take(follows, id);
                // It stood still, for all that its followers know, and follows one of them.
                leads.poll(DeviceFrame::close, 8);
            }
            assertEquals(0, lost.get());
        }
    }
}
