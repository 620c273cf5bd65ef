package io.framecast.engine.stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.engine.testing.StreamFixture;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Allocations of a running stream: none for a datagram. A frame costs its region and its slice; an ACK, a
/// heartbeat and a read of the statistics cost some objects each. Spread over a frame's datagrams, that is below
/// two bytes.
class AllocationTest {
    private static final int ROUNDS_MAX = 60;
    private static final int FRAMES = 10;
    private static final double BYTES_PER_DATAGRAM_MAX = 2;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @ParameterizedTest
    @CsvSource({"udp, 0", "aeron, 0", "udp, 0.001"})
    void shouldAllocateNothingPerDatagramWhenWarm(final String transport, final double loss) {
        final NodeConfig config =
                NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(9).withFaults(new NodeConfig.Faults(loss));
        final String settings = "|mtu=1500|frame-max=6220800|device=host";
        try (StreamFixture stream = new StreamFixture(config, transport, settings)) {
            final MemorySegment frame = stream.frame(0, 6_220_800);
            double best = Double.MAX_VALUE;
            // The JIT compilers take their time on a busy machine, so the best round counts.
            for (int round = 0; round < ROUNDS_MAX && best >= BYTES_PER_DATAGRAM_MAX; round++) {
                best = Math.min(best, bytesPerDatagram(stream, frame));
            }
            final double reached = best;
            assertTrue(reached < BYTES_PER_DATAGRAM_MAX, () -> reached + " bytes allocated per datagram");
        }
    }

    private double bytesPerDatagram(final StreamFixture stream, final MemorySegment frame) {
        final long datagramsBefore = stream.publisher.stats().sentDatagrams();
        final long before = threads.getCurrentThreadAllocatedBytes();
        int polled = 0;
        int offered = 0;
        while (polled < FRAMES) {
            if (offered < FRAMES && stream.publisher.offer(frame, FrameOptions.DEFAULT) > 0) {
                offered++;
            }
            stream.source.doWork();
            stream.sink.doWork();
            final DeviceFrame received = stream.subscriber.poll();
            if (received != null) {
                polled++;
                received.close();
            }
        }
        final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        return (double) bytes / (stream.publisher.stats().sentDatagrams() - datagramsBefore);
    }
}
