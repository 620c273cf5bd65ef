package io.framecast.perf.bench;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.rivals.Bystander;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// A question, and what is measured to answer it unless options say otherwise.
public enum BenchScenario {
    /// How late frames are at a modest fixed rate.
    LATENCY("frames at a fixed rate", "floor,aeron,tcp"),
    /// How much gets through.
    THROUGHPUT("as fast as frames are taken", "floor,aeron,tcp"),
    /// The cost of more receivers.
    SCALING("150 MB/s offered to more and more receivers", "floor,tcp"),
    /// The cost of loss.
    LOSS("as fast as frames are taken, without and with loss", "aeron,tcp"),
    /// Frames from 64 bytes to 128 MB.
    SIZES("as fast as frames are taken, small ones and large", "floor,aeron"),
    /// The cost of a subscriber that is stopped, or far too slow, for its neighbours under each policy but
    /// `reliable`.
    ISOLATION("150 MB/s offered to two beside one that is too slow", "none");

    // The deadline is five intervals of frames at this rate; the source waits 100 ms before it evicts.
    private static final List<String> IMPATIENT = List.of("deadline=40ms", "latest", "evict=100ms");
    private static final double SCALING_BYTES_PER_SECOND = 150e6;
    private static final double LATENCY_FPS = 60;
    private static final double LATENCY_SMALL_FPS = 1_000;
    private static final int SMALL_FRAME_BYTES = 1 << 16;

    private final String summary;
    private final String rivals;

    BenchScenario(final String summary, final String rivals) {
        this.summary = summary;
        this.rivals = rivals;
    }

    /// As users write it.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// In a few words.
    public String summary() {
        return summary;
    }

    List<Integer> frameBytes() {
        return switch (this) {
            case LATENCY, SCALING, LOSS, ISOLATION -> List.of(1 << 20);
            // A picture of 1920 × 1080 pixels of three bytes.
            case THROUGHPUT -> List.of(6_220_800);
            case SIZES -> List.of(64, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 24, 1 << 27);
        };
    }

    List<Integer> receivers() {
        return switch (this) {
            case LATENCY, THROUGHPUT, LOSS, SIZES -> List.of(1);
            case SCALING -> List.of(1, 2, 3);
            case ISOLATION -> List.of(2);
        };
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

    String rivals() {
        return rivals;
    }

    /// The network that it asks about, where it can be made.
    BenchNet net() {
        return switch (this) {
            case LATENCY, THROUGHPUT, SIZES, ISOLATION -> BenchNet.LOOPBACK;
            case LOSS -> BenchNet.VETH;
            case SCALING -> BenchNet.BRIDGE;
        };
    }

    /// Loss is a burst or a single datagram, as the source's interface takes them.
    List<Boolean> offloads() {
        return this == LOSS ? List.of(true, false) : List.of(true);
    }

    int rounds() {
        return this == SIZES || this == ISOLATION ? 3 : 5;
    }

    double seconds() {
        return switch (this) {
            // Enough frames at 60 a second for a 99th percentile.
            case LATENCY -> 5;
            case THROUGHPUT, SCALING, LOSS, ISOLATION -> 2;
            case SIZES -> 1;
        };
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
