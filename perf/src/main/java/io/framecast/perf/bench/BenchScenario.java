package io.framecast.perf.bench;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.rivals.Bystander;
import io.framecast.samples.options.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/// A question, and what is measured to answer it unless options say otherwise.
public enum BenchScenario {
    /// How late frames are at a modest fixed rate.
    LATENCY("frames at a fixed rate"),
    /// How much gets through.
    THROUGHPUT("as fast as frames are taken"),
    /// The cost of more receivers.
    SCALING("150 MB/s offered to more and more receivers"),
    /// The cost of loss.
    LOSS("as fast as frames are taken, without and with loss"),
    /// Frames from 64 bytes to 128 MB.
    SIZES("as fast as frames are taken, small ones and large"),
    /// The cost of a subscriber that is stopped, or far too slow, for its neighbours under each policy but
    /// `reliable`.
    ISOLATION("150 MB/s offered to two beside one that is too slow");

    // The deadline is five intervals of frames at this rate; the source waits 100 ms before it evicts.
    private static final List<String> IMPATIENT = List.of("deadline=40ms", "latest", "evict=100ms");
    private static final double SCALING_BYTES_PER_SECOND = 150e6;
    private static final double LATENCY_FPS = 60;
    private static final double LATENCY_SMALL_FPS = 1_000;
    private static final int SMALL_FRAME_BYTES = 1 << 16;

    private final String summary;

    /// The scenario that is measured unless options say otherwise.
    ///
    /// @param net where it can be made
    /// @param receiversMax most receivers
    /// @param seconds enough for a 99th percentile of frames at a fixed rate
    record Usual(Words rivals, BenchNet net, List<Integer> frameBytes, int receiversMax, int rounds, double seconds) {}

    BenchScenario(final String summary) {
        this.summary = summary;
    }

    /// As users write it.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// In a few words.
    public String summary() {
        return summary;
    }

    Usual usual() {
        final List<Integer> mebi = List.of(1 << 20);
        final Words all = Words.of("floor", "aeron", "tcp");
        return switch (this) {
            case LATENCY -> new Usual(all, BenchNet.LOOPBACK, mebi, 1, 5, 5);
            // A picture of 1920 × 1080 pixels of three bytes.
            case THROUGHPUT -> new Usual(all, BenchNet.LOOPBACK, List.of(6_220_800), 1, 5, 2);
            case SCALING -> new Usual(Words.of("floor", "tcp"), BenchNet.BRIDGE, mebi, 3, 5, 2);
            case LOSS -> new Usual(Words.of("aeron", "tcp"), BenchNet.VETH, mebi, 1, 5, 2);
            case SIZES -> {
                final List<Integer> sizes = List.of(64, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 24, 1 << 27);
                yield new Usual(Words.of("floor", "aeron"), BenchNet.LOOPBACK, sizes, 1, 3, 1);
            }
            case ISOLATION -> new Usual(Words.of(Words.NONE), BenchNet.LOOPBACK, mebi, 2, 3, 2);
        };
    }

    /// Numbers of receivers.
    List<Integer> receivers() {
        return this == SCALING
                ? IntStream.rangeClosed(1, usual().receiversMax).boxed().toList()
                : List.of(usual().receiversMax);
    }

    /// The bystanders, one after the other.
    List<Bystander> bystanders() {
        final List<Bystander> all = new ArrayList<>(List.of(Bystander.NONE));
        if (this == ISOLATION) {
            for (final String delivery : IMPATIENT) {
                for (final Bystander.Pace pace : Bystander.Pace.values()) {
                    all.add(new Bystander(delivery, pace));
                }
            }
        }
        return all;
    }

    List<Double> losses() {
        return this == LOSS ? List.of(0.0, 0.01) : List.of(0.0);
    }

    /// Loss is a burst or a single datagram, as the source's interface takes them.
    List<Boolean> offloads() {
        return this == LOSS ? List.of(true, false) : List.of(true);
    }

    /// Frames per second; 0 for as many as are taken.
    double framesPerSecond(final int bytes) {
        return switch (this) {
            case LATENCY -> bytes < SMALL_FRAME_BYTES ? LATENCY_SMALL_FPS : LATENCY_FPS;
            case SCALING, ISOLATION -> SCALING_BYTES_PER_SECOND / bytes;
            case THROUGHPUT, LOSS, SIZES -> 0;
        };
    }

    /// The figure that systems are compared by: lateness, or goodput.
    public boolean comparesLatency() {
        return this == LATENCY;
    }

    static List<String> labels() {
        return Arrays.stream(values()).map(BenchScenario::label).toList();
    }
}
