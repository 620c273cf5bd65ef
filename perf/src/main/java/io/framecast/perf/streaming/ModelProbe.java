package io.framecast.perf.streaming;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.models.CostModel;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Measures what the models are fed with: copies on the device itself, a hop and a datagram by streams from
/// host to host, frames one at a time.
public final class ModelProbe {
    private static final int SHORT_BYTES = 64 << 10;
    private static final int COPIES = 20;
    private static final int COPIES_UNTIMED = 5;
    private static final int ROUNDS_MAX = 3;
    private static final StreamingPlan.Times TIMES = new StreamingPlan.Times(1, 0, 0.1, 0.3, 0);
    // IP and UDP, and the header of data; slots are multiples of 64.
    private static final int HEADERS_BYTES = 28 + 40;
    private static final int SLOT_UNIT_BYTES = 64;
    private static final int LOOPBACK_MTU_BYTES = 65_536;
    private static final double NS_PER_SECOND = 1e9;
    private static final double US_PER_SECOND = 1e6;

    private final StreamingPlan plan;
    private final StreamingRun run;
    private final Consumer<String> console;

    ModelProbe(final StreamingPlan plan, final StreamingRun run, final Consumer<String> console) {
        this.plan = plan;
        this.run = run;
        this.console = console;
    }

    /// U: what a full datagram of the session carries of a frame, 1408 bytes at an MTU of 1500.
    ///
    /// @param mtuBytes 0 for the loopback's
    public static int payloadBytes(final int mtuBytes) {
        return ((mtuBytes == 0 ? LOOPBACK_MTU_BYTES : mtuBytes) - HEADERS_BYTES) / SLOT_UNIT_BYTES * SLOT_UNIT_BYTES;
    }

    /// A datagram's cost needs Framecast among the contenders, a hop's a scheme over unicast: what is missing
    /// is not a number.
    ModelParameters measure() throws InterruptedException {
        final DeviceChoice choice = plan.deviceOfSource();
        try (DeviceBackend device = choice.open(plan.linkBytesPerSecond())) {
            return new ModelParameters(device.name(), copies(device, true), copies(device, false), hop(), datagram());
        }
    }

    private CostModel.Hop copies(final DeviceBackend device, final boolean toDevice) {
        return copies(device, toDevice, plan.frameBytes());
    }

    /// Copies between a device and the host.
    public static CostModel.Hop copies(final DeviceBackend device, final boolean toDevice, final int bytes) {
        final int longBytes = Math.max(2 * SHORT_BYTES, bytes);
        return ModelParameters.fit(
                SHORT_BYTES,
                copySeconds(device, toDevice, SHORT_BYTES),
                longBytes,
                copySeconds(device, toDevice, longBytes));
    }

    private static double copySeconds(final DeviceBackend device, final boolean toDevice, final int bytes) {
        final DeviceRegion region = device.allocate(bytes);
        final MemorySegment host = device.allocatePinned(bytes);
        try (DeviceStream stream = device.openStream()) {
            long bestNs = Long.MAX_VALUE;
            for (int i = 0; i < COPIES_UNTIMED + COPIES; i++) {
                final long beginNs = System.nanoTime();
                if (toDevice) {
                    stream.copyToDevice(region.address(), host, 0, bytes);
                } else {
                    stream.copyToHost(host, 0, region.address(), bytes);
                }
                stream.synchronize();
                if (i >= COPIES_UNTIMED) {
                    bestNs = Math.min(bestNs, System.nanoTime() - beginNs);
                }
            }
            return bestNs / NS_PER_SECOND;
        } finally {
            device.freePinned(host);
            device.free(region);
        }
    }

    private CostModel.Hop hop() throws InterruptedException {
        final Contender contender = warm(false);
        if (contender == null) {
            return new CostModel.Hop(0, Double.NaN);
        }
        final int shortBytes =
                Math.min(SHORT_BYTES, plan.frameBytes() / 2 / FrameContent.BLOCK_BYTES * FrameContent.BLOCK_BYTES);
        final double chunk = Math.min(plan.chunkBytes(), plan.frameBytes());
        // To one receiver eq. 2 has as many steps as there are chunks.
        final double step = loneSeconds(contender, 1, plan.frameBytes()) / (plan.frameBytes() / chunk);
        return shortBytes < FrameContent.BLOCK_BYTES
                ? new CostModel.Hop(0, chunk / step)
                : ModelParameters.fit(shortBytes, loneSeconds(contender, 1, shortBytes), chunk, step);
    }

    private CostModel.Multicast datagram() throws InterruptedException {
        final double payload = payloadBytes(plan.links().mtuBytes());
        final Contender contender = warm(true);
        if (contender == null) {
            return new CostModel.Multicast(0, 0, Double.NaN, payload);
        }
        final double datagrams = plan.frameBytes() / payload;
        final int many = plan.subscribersMax();
        final double one = loneSeconds(contender, 1, plan.frameBytes()) / datagrams;
        final double each = many == 1 ? one : loneSeconds(contender, many, plan.frameBytes()) / datagrams;
        return ModelParameters.fitMulticast(payload, one, many + 1, each);
    }

    // Frames in host memory take other code than those in a device's.
    private @Nullable Contender warm(final boolean framecast) throws InterruptedException {
        for (final Contender contender : plan.contenders()) {
            try {
                if (contender.isFramecast() == framecast) {
                    run.warmUpOnHost(contender);
                    return contender;
                }
            } catch (final MeasurementFailedException e) {
                console.accept("not measured for the models: " + contender.text() + ": " + e.getMessage());
            }
        }
        return null;
    }

    // The best of as many rounds as all is measured in: other load makes it longer, never shorter.
    private double loneSeconds(final Contender contender, final int subscribers, final int frameBytes)
            throws InterruptedException {
        double best = Double.NaN;
        final int rounds = Math.min(ROUNDS_MAX, plan.times().rounds());
        try {
            for (int round = 0; round < rounds; round++) {
                final double latencyUs = run.loneUs(
                        new StreamingCase(subscribers, Direction.NONE), contender, plan.onHost(frameBytes, TIMES));
                best = Double.isNaN(best) ? latencyUs : Math.min(best, latencyUs);
            }
        } catch (final MeasurementFailedException e) {
            console.accept("not measured for the models: " + contender.text() + ": " + e.getMessage());
        }
        return best / US_PER_SECOND;
    }
}
