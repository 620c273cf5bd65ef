package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.format.ElementType;
import io.framecast.api.format.FrameFormat;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.testing.StreamFixture;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Every frame comes with the format that its publisher set before it: more formats than there are numbers,
/// frames that share datagrams and frames of several, over the wire and in the memory of one host.
class FormatStreamTest {
    private static final int FRAMES = 1500;
    private static final int FORMATS = 40;
    private static final int FRAME_MAX = 20_000;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final List<Framecast> nodes = new ArrayList<>();
    private final List<Reader> readers = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        nodes.forEach(Framecast::close);
        arena.close();
    }

    private Framecast node(final double loss) {
        final Framecast node = Framecast.launch(
                NodeConfig.DEFAULT.withFaults(new NodeConfig.Faults(loss)).withSeed(3 + nodes.size()));
        nodes.add(node);
        return node;
    }

    /// Another format after a few frames, some of them again and again, some none.
    private static Optional<FrameFormat> expected(final long id) {
        final long turn = id / 7;
        if (turn % 11 == 10) {
            return Optional.empty();
        }
        final long kind = turn % 2 == 0 ? turn % FORMATS : 3;
        return Optional.of(
                FrameFormat.tensor(ElementType.UINT8, 1 + kind).withKey("turn", "x".repeat((int) (kind * 20))));
    }

    /// Another one for each frame.
    private static FrameFormat shape(final long id) {
        return FrameFormat.tensor(ElementType.UINT8, 1 + id % 100);
    }

    private static final class Reader {
        private final Subscriber subscriber;
        private long next = -1;
        private final Set<FrameFormat> objects = Collections.newSetFromMap(new IdentityHashMap<>());
        private final boolean hasGaps;

        Reader(final Framecast node, final Channel channel) {
            subscriber = node.subscribe(channel);
            hasGaps = channel.toString().contains("=latest");
        }

        boolean poll() {
            final DeviceFrame frame = subscriber.poll();
            if (frame == null) {
                return false;
            }
            final long id = frame.frameId();
            next = next < 0 || (hasGaps && id > next) ? id : next;
            assertEquals(next++, id);
            final Optional<FrameFormat> format = frame.format();
            assertEquals(hasGaps ? Optional.of(shape(id)) : expected(id), format, "frame " + id);
            format.ifPresent(objects::add);
            frame.close();
            return true;
        }
    }

    private void await(final BooleanSupplier condition, final String what) {
        final long endNs = System.nanoTime() + WAIT_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < endNs, () -> "waited in vain for " + what);
            boolean busy = false;
            for (final Reader reader : readers) {
                busy |= reader.poll();
            }
            if (!busy) {
                Thread.onSpinWait();
            }
        }
    }

    private void publish(final Publisher publisher) {
        final FrameClaim claim = new FrameClaim();
        final MemorySegment memory = arena.allocate(FRAME_MAX);
        for (int id = 0; id < FRAMES; id++) {
            final int bytes = id % 5 == 0 ? 1 + id * 37 % FRAME_MAX : 1 + id % 100;
            publisher.format(expected(id).orElse(FrameFormat.EMPTY));
            final int number = id;
            await(
                    () -> {
                        if (number % 3 != 0) {
                            return publisher.offer(memory.asSlice(0, bytes), FrameOptions.DEFAULT) > 0;
                        }
                        if (publisher.tryClaim(bytes, claim) < 0) {
                            return false;
                        }
                        claim.commit(FrameOptions.DEFAULT);
                        return true;
                    },
                    "frame " + id);
        }
    }

    private void run(final Publisher publisher) {
        await(() -> publisher.readySubscribers() == readers.size(), "subscribers");
        publish(publisher);
        await(() -> readers.stream().allMatch(reader -> reader.next == FRAMES), "all frames");
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            assertTrue(reader.objects.size() < FRAMES / 7, () -> reader.objects.size() + " objects");
        }
    }

    @ParameterizedTest
    @CsvSource({"udp, 0", "udp, 0.05", "aeron, 0.02"})
    void shouldGiveEachFrameItsFormatOverTheWire(final String transport, final double loss) {
        final Channel channel = StreamFixture.channel(transport, "|window=300k|device=host|frame-max=" + FRAME_MAX);
        readers.add(new Reader(node(loss), channel));
        readers.add(new Reader(node(loss), channel));
        run(node(loss).publish(channel));
    }

    @ParameterizedTest
    @CsvSource({"off, a", "a, a"})
    void shouldGiveEachFrameItsFormatInTheMemoryOfAHost(final String source, final String group) {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        final Channel channel = StreamFixture.channel("udp", "|window=300k|device=host|frame-max=" + FRAME_MAX);
        final Channel grouped = Channel.parse(channel + "|host-group=" + group);
        readers.add(new Reader(node(0.02), grouped));
        readers.add(new Reader(node(0.02), grouped));
        readers.add(new Reader(node(0.02), channel));
        run(node(0.02).publish(Channel.parse(channel + "|host-group=" + source)));
    }

    /// Readers that hold nothing find the newest frames for a while: as many of them as there are numbers and
    /// places for formats.
    @ParameterizedTest
    @CsvSource({"off, a", "a, a"})
    void shouldGoOnWhereTheFramesThatStayHaveAllFormats(final String source, final String group) {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        final Channel channel = StreamFixture.channel("udp", "|window=4m|device=host|frame-max=" + FRAME_MAX);
        final Channel latest = Channel.parse(channel + "|delivery=latest|host-group=" + group);
        readers.add(new Reader(node(0), latest));
        readers.add(new Reader(node(0), latest));
        final Publisher publisher = node(0).publish(Channel.parse(channel + "|host-group=" + source));
        await(() -> publisher.readySubscribers() == readers.size(), "subscribers");
        final MemorySegment memory = arena.allocate(64);
        for (int id = 0; id < FRAMES; id++) {
            publisher.format(shape(id));
            await(() -> publisher.offer(memory, FrameOptions.DEFAULT) > 0, "frame " + id);
        }
        await(() -> readers.stream().allMatch(reader -> reader.next == FRAMES), "the last frame");
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Test
    void shouldRefuseAnotherFormatWithinAFrame() {
        final Channel channel = StreamFixture.channel("udp", "|device=host|frame-max=" + FRAME_MAX);
        readers.add(new Reader(node(0), channel));
        final Publisher publisher = node(0).publish(channel);
        await(() -> publisher.readySubscribers() == 1, "subscriber");
        final FrameClaim claim = new FrameClaim();
        assertTrue(publisher.tryClaim(10, claim) > 0);
        final FrameFormat format = FrameFormat.tensor(ElementType.UINT8, 10);
        assertTrue(String.valueOf(assertThrows(IllegalStateException.class, () -> publisher.format(format))
                        .getMessage())
                .startsWith("a frame is under way"));
        claim.abort();
        publisher.format(format);
    }
}
