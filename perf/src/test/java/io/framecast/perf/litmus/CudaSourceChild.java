package io.framecast.perf.litmus;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.DeviceSourceReport;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A publisher whose frames lie in the stub's device memory, and a subscriber in host memory that compares them.
/// Reports
/// one line per finding, `key<tab>value`.
final class CudaSourceChild {
    private static final long WAIT_NS = 60_000_000_000L;
    private static final int FRAME_MAX = 64 << 10;
    private static final int ROUNDS = 20;
    private static final String READ = "framecast_loaded_bytes_total";
    private static final String COPIED = "framecast_copied_out_bytes_total";

    private final Arena arena = Arena.ofShared();
    private final Framecast node;
    private final Path counters;
    private final Subscriber subscriber;
    private final Publisher publisher;
    private final DeviceStream stream;
    private final int[] lengths;
    private final int readMax;
    private int received;

    private CudaSourceChild(final int port, final String keys, final Path counters) {
        this.counters = counters;
        node = Framecast.launch(NodeConfig.DEFAULT.withNotices(_ -> {}).withCountersFile(counters));
        final String uri = "framecast:udp?group=224.20.30.47:" + port + "|interface=127.0.0.1|frame-max=" + FRAME_MAX;
        subscriber = node.subscribe(Channel.parse(uri + "|device=host"));
        publisher = node.publish(Channel.parse(uri + "|device=cuda:0" + keys));
        await(() -> publisher.readySubscribers() == 1, "a subscriber");
        stream = publisher.device().openStream();
        final DeviceSourceReport report = publisher.deviceReport().orElseThrow();
        report("report", report.toString());
        report("read-max", Long.toString(report.readMaxBytes()));
        readMax = (int) Math.min(report.readMaxBytes(), FRAME_MAX);
        lengths = new int[] {1, Math.max(1, readMax), Math.min(readMax + 1, FRAME_MAX), FRAME_MAX};
    }

    /// @param arguments a port, more keys of the publisher's channel, and the file of the counters
    public static void main(final String[] arguments) {
        new CudaSourceChild(Integer.parseInt(arguments[0]), arguments[1], Path.of(arguments[2])).run();
    }

    private void run() {
        final int frames = ROUNDS * lengths.length;
        for (int id = 0; id < frames; id++) {
            publish(id);
        }
        await(() -> received == frames, "all frames");
        stream.close();
        report("frames", Integer.toString(received));
        final long read = bytes(frames, 0, readMax);
        final long copied = bytes(frames, readMax, FRAME_MAX);
        await(() -> count(READ) >= read && count(COPIED) >= copied, "the counters");
        report("read", count(READ) + " of " + read);
        report("copied", count(COPIED) + " of " + copied);
        publisher.close(Duration.ofSeconds(10));
        node.close();
    }

    private void publish(final int id) {
        final @Nullable DeviceRegion[] claimed = new DeviceRegion[1];
        await(
                () -> {
                    claimed[0] = publisher.tryClaimDevice(length(id));
                    return claimed[0] != null;
                },
                "a claim");
        final DeviceRegion region = Objects.requireNonNull(claimed[0]);
        final DeviceEvent written = publisher.device().openEvent();
        stream.copyToDevice(region.address(), content(id), 0, length(id));
        stream.record(written);
        await(() -> publisher.offer(region, written, FrameOptions.DEFAULT) > 0, "room");
    }

    private int length(final int id) {
        return lengths[id % lengths.length];
    }

    private MemorySegment content(final int id) {
        final MemorySegment frame = arena.allocate(length(id));
        for (long i = 0; i < frame.byteSize(); i++) {
            frame.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >>> 11) + id * 131L));
        }
        return frame;
    }

    private void take() {
        try (DeviceFrame frame = subscriber.poll()) {
            if (frame != null) {
                require(frame.frameId() == received, "frame " + received + " is there");
                require(frame.region().host().mismatch(content(received)) < 0, "frame " + received + " is right");
                received++;
            }
        }
    }

    private long bytes(final int frames, final int above, final int upTo) {
        long sum = 0;
        for (int id = 0; id < frames; id++) {
            sum += length(id) > above && length(id) <= upTo ? length(id) : 0;
        }
        return sum;
    }

    private long count(final String name) {
        try (CounterReader reader = CounterReader.open(counters)) {
            return reader.samples().stream()
                    .filter(sample -> sample.name().equals(name))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    private void await(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            require(System.nanoTime() - startNs < WAIT_NS, what);
            take();
            LockSupport.parkNanos(20_000);
        }
    }

    private static void require(final boolean holds, final String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static void report(final String key, final String value) {
        System.out.println(key + "\t" + value);
    }
}
