package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

/// Nodes of one process, as users have them: subscribers, each in a node of its own, which compare every byte of every
/// frame with what follows from its number, and publishers. One thread.
final class StreamNodes implements AutoCloseable {
    private static final long WAIT_NS = 180_000_000_000L;
    private static final AtomicInteger FILES = new AtomicInteger();

    private final Path directory;
    private final IntUnaryOperator lengths;
    private final Arena arena = Arena.ofShared();
    private final List<Framecast> nodes = new ArrayList<>();
    private final List<Path> counters = new ArrayList<>();
    private final List<Receiver> receivers = new ArrayList<>();
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private boolean gaps;

    private static final class Receiver {
        private final Subscriber subscriber;
        private final int node;
        // Made with the first frame that the host does not address.
        private DeviceStream stream;
        private MemorySegment read = MemorySegment.NULL;
        private final List<DeviceRegion> buffers = new ArrayList<>();
        private int polled;
        private int inBuffers;
        private boolean gone;

        void post() {
            for (final DeviceRegion buffer : buffers) {
                if (!subscriber.isPosted(buffer)) {
                    // Not behind the end of the stream.
                    subscriber.post(buffer);
                }
            }
        }

        Receiver(final Subscriber subscriber, final int node) {
            this.subscriber = subscriber;
            this.node = node;
        }
    }

    /// @param directory takes the files of counters
    /// @param lengths of frames, by their number
    StreamNodes(final Path directory, final IntUnaryOperator lengths) {
        this.directory = directory;
        this.lengths = lengths;
    }

    /// A node that loses this share of what it receives.
    Framecast node(final double loss) {
        return node(config(loss));
    }

    private NodeConfig config(final double loss) {
        return NodeConfig.DEFAULT.withSeed(3 + nodes.size()).withFaults(new NodeConfig.Faults(loss));
    }

    Framecast node(final NodeConfig config) {
        final Path file = directory.resolve(nodes.size() + "-" + FILES.incrementAndGet() + ".counters");
        final Framecast node = Framecast.launch(config.withCountersFile(file).withNotices(notices::add));
        counters.add(file);
        nodes.add(node);
        return node;
    }

    /// @return its number; its node has the same where subscribers come first
    int subscribe(final double loss, final Channel channel) {
        return subscribe(config(loss), channel);
    }

    int subscribe(final NodeConfig config, final Channel channel) {
        receivers.add(new Receiver(node(config).subscribe(channel), nodes.size() - 1));
        return receivers.size() - 1;
    }

    Subscriber subscriber(final int number) {
        return receivers.get(number).subscriber;
    }

    List<Subscriber> subscribers() {
        return receivers.stream().map(receiver -> receiver.subscriber).toList();
    }

    List<String> notices() {
        return notices;
    }

    /// Each subscriber posts buffers of its device, and each again once the frame in it was closed.
    void postBuffers(final int count, final long bytes) {
        for (final Receiver receiver : receivers) {
            for (int i = 0; i < count; i++) {
                receiver.buffers.add(receiver.subscriber.device().allocate(bytes));
            }
            receiver.post();
        }
    }

    /// Frames that lay in its buffers.
    int inBuffers(final int subscriber) {
        return receivers.get(subscriber).inBuffers;
    }

    /// Frames may be left out from now on: their numbers are not checked.
    void takeGaps() {
        gaps = true;
    }

    /// Closes a subscriber, and its node; the others go on.
    void leave(final int number) {
        final Receiver receiver = receivers.get(number);
        receiver.gone = true;
        receiver.subscriber.close();
        if (receiver.stream != null) {
            receiver.stream.close();
            receiver.stream = null;
        }
        nodes.get(receiver.node).close();
    }

    boolean isGone(final int number) {
        return receivers.get(number).gone;
    }

    void await(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                throw new AssertionError("waited in vain for " + what + ": "
                        + subscribers().stream()
                                .map(each -> each.state() + " " + each.failure() + " " + each.stats())
                                .toList()
                        + notices);
            }
            LockSupport.parkNanos(20_000);
        }
    }

    int length(final int id) {
        return lengths.applyAsInt(id);
    }

    MemorySegment frame(final int id) {
        return FrameBytes.write(id, arena.allocate(length(id)));
    }

    /// Offers frames until all are with every subscriber.
    void publish(final Publisher publisher, final int from, final int end) {
        final MemorySegment[] frame = new MemorySegment[end];
        publish(from, end, id -> {
            frame[id] = frame[id] == null ? frame(id) : frame[id];
            return publisher.offer(frame[id], FrameOptions.DEFAULT) > 0;
        });
    }

    /// @param offered offers a frame; whether it was taken. Asked again until it was
    void publish(final int from, final int end, final IntPredicate offered) {
        for (int id = from; id < end; id++) {
            final int next = id;
            await(
                    () -> {
                        pollAll(end);
                        return offered.test(next);
                    },
                    "room for a frame");
        }
        await(() -> pollAll(end), "all frames");
    }

    /// @return whether every subscriber has had so many
    boolean pollAll(final int frames) {
        boolean done = true;
        for (int i = 0; i < receivers.size(); i++) {
            final Receiver receiver = receivers.get(i);
            if (!receiver.gone) {
                receiver.subscriber.poll(frame -> check(receiver, frame), 10);
                done &= receiver.polled == frames;
            }
        }
        receivers.forEach(Receiver::post);
        return done;
    }

    private void check(final Receiver receiver, final DeviceFrame frame) {
        final int id = gaps ? (int) frame.frameId() : receiver.polled;
        receiver.polled++;
        assertEquals(id, frame.frameId());
        assertEquals(length(id), frame.length());
        FrameBytes.require(id, bytes(receiver, frame), frame.length());
        final long address = frame.region().address();
        receiver.inBuffers += receiver.buffers.stream().anyMatch(buffer -> buffer.address() == address) ? 1 : 0;
        frame.close();
    }

    private MemorySegment bytes(final Receiver receiver, final DeviceFrame frame) {
        if (frame.region().hostAddressable()) {
            frame.awaitReady();
            return frame.region().host();
        }
        if (receiver.stream == null) {
            receiver.stream = receiver.subscriber.device().openStream();
        }
        if (receiver.read.byteSize() < frame.length()) {
            receiver.read = arena.allocate(frame.length());
        }
        receiver.stream.await(frame.ready());
        receiver.stream.copyToHost(receiver.read, 0, frame.region().address(), frame.length());
        receiver.stream.synchronize();
        return receiver.read;
    }

    long count(final int node, final String name) {
        return count(node, name, "");
    }

    /// The counters of a node that left are gone: 0.
    long count(final int node, final String name, final String labels) {
        if (hasLeft(node)) {
            return 0;
        }
        try (CounterReader reader = CounterReader.open(counters.get(node))) {
            return reader.samples().stream()
                    .filter(sample ->
                            sample.name().equals(name) && sample.labels().contains(labels))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    private boolean hasLeft(final int node) {
        return receivers.stream().anyMatch(receiver -> receiver.gone && receiver.node == node);
    }

    /// Waits until these counters, whose files a node that rests writes three times a second, change no more.
    void settle(final Set<String> names) {
        final String[] seen = {"not read"};
        await(
                () -> {
                    final String before = seen[0];
                    seen[0] = counters(names);
                    LockSupport.parkNanos(1_000_000_000);
                    return seen[0].equals(before);
                },
                "counters that stand still");
    }

    /// Counters that are not 0, a line for each.
    String counters(final Set<String> names) {
        final StringBuilder text = new StringBuilder();
        for (int node = 0; node < counters.size(); node++) {
            if (hasLeft(node)) {
                continue;
            }
            try (CounterReader reader = CounterReader.open(counters.get(node))) {
                for (final CounterSample sample : reader.samples()) {
                    if (sample.value() != 0 && names.contains(sample.name())) {
                        text.append(node + " " + sample.name() + sample.labels() + " " + sample.value() + "\n");
                    }
                }
            }
        }
        return text.toString();
    }

    /// Of all subscribers that did not leave.
    long sum(final String name) {
        return receivers.stream()
                .filter(receiver -> !receiver.gone)
                .mapToLong(receiver -> count(receiver.node, name))
                .sum();
    }

    @Override
    public void close() {
        receivers.stream().filter(receiver -> receiver.stream != null).forEach(receiver -> receiver.stream.close());
        nodes.forEach(Framecast::close);
        arena.close();
    }
}
