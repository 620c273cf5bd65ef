package io.framecast.perf.tail;

import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.harness.CountersFile;
import io.framecast.perf.harness.FrameStreams;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Publishes a stream at a rate, or as fast as it is taken, and notes when it committed each frame.
///
/// At a rate it sleeps between frames and never spins, for that would take a core from what is measured:
/// frames that fell due while it slept are published one after the other.
final class TailPublisher {
    private static final Duration LINGER = Duration.ofSeconds(20);
    private static final long BETWEEN_PINGS_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final double NS_PER_SECOND = 1e9;

    private final TailSpec.Load load;
    private final Publisher publisher;
    private final FrameClaim claim = new FrameClaim();
    private final long[] committedNs;
    private long frames;

    private TailPublisher(final TailSpec.Load load, final Publisher publisher) {
        this.load = load;
        this.publisher = publisher;
        committedNs = new long[load.frames()];
    }

    static TailReport run(final TailSpec spec) throws IOException {
        try (CountersFile counters = CountersFile.create();
                Framecast node = Framecast.launch(FrameStreams.config().withCountersFile(counters.path()));
                Publisher publisher = node.publish(spec.channel())) {
            FrameStreams.awaitReady(publisher, spec.receivers().size());
            final TailPublisher publishing = new TailPublisher(spec.load(), publisher);
            final RoundTrips trips = new RoundTrips(spec, counters);
            double framesPerSecond = 0;
            if (spec.load().framesPerSecond() == 0) {
                framesPerSecond = publishing.flood();
            } else {
                trips.begin();
                publishing.pace();
                trips.end();
            }
            if (!publisher.close(LINGER)) {
                throw new IllegalStateException("the receivers did not acknowledge the stream");
            }
            return new TailReport(
                    new TailLog(publishing.committedNs, List.of()),
                    System.nanoTime(),
                    0,
                    framesPerSecond,
                    trips.pingNs,
                    trips.sourceNs);
        }
    }

    /// @return frames per second, once the lead is over
    private double flood() {
        final long beginNs = System.nanoTime() + load.leadNs();
        while (System.nanoTime() < beginNs) {
            publish();
        }
        final long before = frames;
        final long measuredNs = System.nanoTime();
        while (System.nanoTime() < beginNs + load.measureNs()) {
            publish();
        }
        return (frames - before) * NS_PER_SECOND / (System.nanoTime() - measuredNs);
    }

    private void pace() {
        final long startNs = System.nanoTime();
        while (frames < committedNs.length) {
            final long dueNs = startNs + (long) (frames * NS_PER_SECOND / load.framesPerSecond());
            final long waitNs = dueNs - System.nanoTime();
            if (waitNs > 0) {
                LockSupport.parkNanos(waitNs);
            } else {
                final int number = (int) frames;
                publish();
                committedNs[number] = System.nanoTime();
            }
        }
    }

    private void publish() {
        FrameStreams.claim(publisher, load.frameBytes(), claim);
        // The bytes that lie in the window from before are content enough.
        claim.commit(FrameOptions.DEFAULT);
        frames++;
    }

    /// Asks now and then, on a thread of its own.
    private static final class RoundTrips implements Runnable {
        private final List<Long> pingNs = new ArrayList<>();
        private final List<Long> sourceNs = new ArrayList<>();
        private final TailSpec spec;
        private final CountersFile counters;
        private final Thread thread = Thread.ofPlatform().daemon().name("ping").unstarted(this);
        private volatile boolean ended;

        RoundTrips(final TailSpec spec, final CountersFile counters) {
            this.spec = spec;
            this.counters = counters;
        }

        @Override
        public void run() {
            try (TailPing ping = TailPing.asking(spec.localAddress());
                    CounterReader reader = CounterReader.open(counters.path())) {
                for (int i = 0; !ended; i++) {
                    final List<String> receivers = spec.receivers();
                    final long tripNs = ping.ask(receivers.get(i % receivers.size()), TailSpec.PING_PORT);
                    if (tripNs >= 0) {
                        pingNs.add(tripNs);
                    }
                    CountersFile.values(reader, EngineCounter.ROUND_TRIP).forEach(sourceNs::add);
                    LockSupport.parkNanos(BETWEEN_PINGS_NS);
                }
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void begin() {
            thread.start();
        }

        void end() {
            ended = true;
            try {
                thread.join();
            } catch (final InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
