package io.framecast.engine.testing;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.testing.FrameBytes;
import io.framecast.testing.TestPorts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// A publisher's node and a subscriber's node in one process, over real lanes on loopback. Frame f's byte i is
/// a function of both, so that every byte can be checked.
public final class StreamFixture implements AutoCloseable {
    private static final long WAIT_NS = 60_000_000_000L;
    private static final AtomicInteger FILES = new AtomicInteger();

    public final Framecast source;
    public final Framecast sink;
    public final Publisher publisher;
    public final Subscriber subscriber;
    private final boolean invoked;
    private final Path sourceCounters = countersFile();
    private final Path sinkCounters = countersFile();
    private final Arena arena = Arena.ofShared();

    public StreamFixture(final NodeConfig config, final String transport, final String settings) {
        final Channel channel = channel(transport, settings);
        invoked = config.threading() == NodeConfig.Threading.INVOKER;
        source = Framecast.launch(config.withCountersFile(sourceCounters));
        sink = Framecast.launch(config.withCountersFile(sinkCounters));
        try {
            subscriber = sink.subscribe(channel);
            publisher = source.publish(channel);
            await(
                    () -> publisher.readySubscribers() == 1 && subscriber.state() == Subscriber.State.READY,
                    "subscriber ready");
        } catch (final RuntimeException | Error e) {
            source.close();
            sink.close();
            arena.close();
            throw e;
        }
    }

    /// The URI of a channel of its own, which more keys may follow.
    public static String uri(final String transport) {
        return "framecast:" + transport + "?group=224.20.30.41:" + TestPorts.triple() + "|interface=127.0.0.1";
    }

    /// A channel of its own. The longest frame is 1 MiB where the settings name none: rings for the default's 16
    /// MiB take most of a short stream's time.
    public static Channel channel(final String transport, final String settings) {
        return Channel.parse(uri(transport) + (settings.contains("|frame-max=") ? "" : "|frame-max=1m") + settings);
    }

    public static Path countersFile() {
        return Path.of(
                System.getProperty("java.io.tmpdir"),
                "framecast-test-" + ProcessHandle.current().pid() + "-" + FILES.incrementAndGet() + ".counters");
    }

    /// The counters of both nodes, without zeros.
    public String counters() {
        final StringBuilder text = new StringBuilder();
        for (final Path path : new Path[] {sourceCounters, sinkCounters}) {
            text.append("\n").append(path == sourceCounters ? "source" : "sink");
            try (CounterReader reader = CounterReader.open(path)) {
                reader.samples().stream()
                        .filter(sample -> sample.value() != 0)
                        .forEach(sample -> text.append("\n ").append(sample));
            }
        }
        return text.toString();
    }

    /// Runs or waits for the agents until the condition holds.
    public void await(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                throw new AssertionError("waited in vain for: " + what + "; subscriber " + subscriber.state() + " "
                        + subscriber.failure() + ", publisher " + publisher.failure() + counters());
            }
            idle();
        }
    }

    public void idle() {
        if (!invoked || source.doWork() + sink.doWork() == 0) {
            LockSupport.parkNanos(20_000);
        }
    }

    public MemorySegment frame(final int id, final long bytes) {
        return FrameBytes.write(id, arena.allocate(bytes, 64));
    }

    /// Offers until the frame is taken, polling the subscriber meanwhile.
    public void offer(final MemorySegment frame, final FrameOptions options, final FrameCheck check) {
        await(
                () -> {
                    poll(check);
                    return publisher.offer(frame, options) > 0;
                },
                "frame taken");
    }

    public void poll(final FrameCheck check) {
        final DeviceFrame frame = subscriber.poll();
        if (frame != null) {
            check.onFrame(frame);
        }
    }

    /// Ends the stream and polls the remaining frames.
    public void finish(final FrameCheck check) {
        finish(check, check.expected());
    }

    /// Ends a stream of so many frames and polls the remaining ones.
    public void finish(final FrameCheck check, final int frames) {
        await(
                () -> {
                    poll(check);
                    return frames == check.frames();
                },
                "all frames");
        if (!closePublisher(Duration.ofSeconds(30))) {
            throw new AssertionError("publisher did not drain");
        }
        await(() -> subscriber.state() == Subscriber.State.END_OF_STREAM, "end of stream");
    }

    /// Has a node of this thread take the statistics of its subscribers, which it does every 20 ms.
    public static void awaitStats(final Runnable cycle) {
        final long startNs = System.nanoTime();
        do {
            LockSupport.parkNanos(10_000_000);
        } while (System.nanoTime() - startNs < 30_000_000);
        cycle.run();
    }

    /// Closes the publisher; where no other thread runs the subscriber's agents, runs them meanwhile.
    public boolean closePublisher(final Duration linger) {
        if (!invoked) {
            return publisher.close(linger);
        }
        final FutureTask<Boolean> closing = new FutureTask<>(() -> publisher.close(linger));
        Thread.ofPlatform().daemon().start(closing);
        while (!closing.isDone()) {
            if (sink.doWork() == 0) {
                LockSupport.parkNanos(20_000);
            }
        }
        try {
            return closing.get();
        } catch (final InterruptedException | ExecutionException e) {
            throw new AssertionError("close failed", e);
        }
    }

    @Override
    public void close() {
        subscriber.close();
        source.close();
        sink.close();
        arena.close();
    }
}
