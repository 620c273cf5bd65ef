package io.framecast.perf;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Goodput of video frames to one subscriber over loopback multicast: Framecast with its default transport, Framecast
/// over Aeron, and stock Aeron reliable multicast carrying the same frames. Publisher and subscriber are processes of
/// their own; rounds are interleaved, so that what else the machine does hits all alike; the median counts. Run by
/// `perf/compare-aeron.sh`; exit status 1 when the default transport is below the bar.
public final class AeronComparison {
    static final String STOCK_AERON = "aeron";
    static final String FRAMECAST_DEFAULT = "framecast";
    static final String FRAMECAST_AERON = "framecast:aeron";
    static final String PUBLISH = "publish";
    static final String SUBSCRIBE = "subscribe";
    static final double RATIO_MIN = 0.85;

    private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int PORT_FIRST = 24_400;
    private static final int PORTS_PER_STREAM = 4;
    private static final int STREAMS = 64;
    private static final long START_SECONDS = 30;
    private static final long FINISH_SECONDS = 30;
    private static final double SLOWEST = 10;

    private final ComparisonPlan plan;
    private final ComparisonTable table = new ComparisonTable();
    private int streams;

    private AeronComparison(final ComparisonPlan plan) {
        this.plan = plan;
    }

    /// Runs the comparison, or one end of a stream for it.
    public static void main(final String[] arguments) throws InterruptedException {
        if (arguments.length > 0 && (arguments[0].equals(PUBLISH) || arguments[0].equals(SUBSCRIBE))) {
            runChild(arguments[0], Arrays.asList(arguments).subList(1, arguments.length));
            return;
        }
        final ComparisonPlan plan;
        try {
            plan = ComparisonPlan.parse(arguments);
        } catch (final IllegalArgumentException e) {
            System.err.println("compare-aeron: " + e.getMessage());
            System.exit(2);
            return;
        }
        System.exit(new AeronComparison(plan).run());
    }

    private static void runChild(final String role, final List<String> arguments) {
        final String name = arguments.getFirst();
        final MeasuredSystem system = name.equals(STOCK_AERON) ? new StockAeronSystem() : FramecastSystem.parse(name);
        final StreamSpec spec = StreamSpec.parse(arguments.subList(1, arguments.size()));
        if (role.equals(PUBLISH)) {
            system.publish(spec, AeronComparison::awaitEndOfInput);
        } else {
            System.out.println(ChildProcess.RESULT + system.subscribe(spec));
        }
    }

    private static void awaitEndOfInput() {
        try {
            // Nothing is ever written here; the parent closes it.
            System.in.skipNBytes(Long.MAX_VALUE);
        } catch (final EOFException e) {
            return;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int run() throws InterruptedException {
        for (int round = 0; round < plan.rounds(); round++) {
            for (final int mtuBytes : plan.mtuBytes()) {
                for (final String system : plan.systems()) {
                    final double goodputMBps = measure(system, mtuBytes);
                    table.add(mtuBytes, system, goodputMBps);
                    System.err.println("round " + (round + 1) + ", MTU " + mtuBytes + ", " + system + ": "
                            + Math.round(goodputMBps) + " MB/s");
                }
            }
        }
        report();
        return table.leastRatio() >= RATIO_MIN ? 0 : 1;
    }

    private double measure(final String system, final int mtuBytes) throws InterruptedException {
        // Ports of the stream before may still hear what was under way.
        final int port = PORT_FIRST + streams++ % STREAMS * PORTS_PER_STREAM;
        final long measureNs = (long) (plan.seconds() * 1e9);
        final StreamSpec spec =
                new StreamSpec(plan.frameBytes(), mtuBytes, plan.socketBufferBytes(), port, WARM_UP_NS, measureNs);
        try (ChildProcess subscriber = ChildProcess.start(SUBSCRIBE, system, spec);
                ChildProcess publisher = ChildProcess.start(PUBLISH, system, spec)) {
            final double goodputMBps = subscriber.goodputMBps(START_SECONDS + (long) (SLOWEST * plan.seconds()));
            publisher.finish(FINISH_SECONDS);
            return goodputMBps;
        }
    }

    private void report() {
        if (plan.json().equals("-")) {
            System.err.print(table.text());
            System.out.print(table.json(plan));
            return;
        }
        System.out.print(table.text());
        if (!plan.json().isEmpty()) {
            try {
                Files.writeString(Path.of(plan.json()), table.json(plan));
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
