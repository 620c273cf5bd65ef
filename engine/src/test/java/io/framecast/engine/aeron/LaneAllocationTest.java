package io.framecast.engine.aeron;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.testing.TestPorts;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class LaneAllocationTest {
    private static final int PAYLOAD_BYTES = 1_000;
    private static final int SLOTS = 64;
    private static final int BATCH = 16;
    private static final int DATAGRAMS = 10_000;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Completions completions = new Completions(BATCH);

    @Test
    void shouldAllocateNothingPerDatagramWhenWarm() {
        final TransportConfig config = new TransportConfig(
                Channel.parse(
                        "framecast:aeron?group=239.66.77.95:" + TestPorts.triple() + "|interface=127.0.0.1|mtu=1500"),
                _ -> {});
        try (Arena arena = Arena.ofShared();
                Transport near = new AeronTransportProvider().open(config);
                Transport far = new AeronTransportProvider().open(config)) {
            final SendRing send = LanePair.sendRing(arena, PAYLOAD_BYTES, SLOTS);
            final ReceiveRing receive = LanePair.receiveRing(arena, PAYLOAD_BYTES, SLOTS);
            final Lane source = LanePair.source(near, LaneKind.DATA, send);
            final Lane receiver = LanePair.receiver(far, LaneKind.DATA, receive, source.address());
            LanePair.connect(source, send, receiver);
            for (int slot = 0; slot < SLOTS; slot++) {
                LanePair.fill(send, slot, slot, PAYLOAD_BYTES);
            }
            exchange(source, receiver);
            // The JIT compilers may still work during the first passes; one pass without an allocated byte is the
            // proof.
            long least = Long.MAX_VALUE;
            for (int pass = 0; pass < 40 && least > 0; pass++) {
                final long before = threads.getCurrentThreadAllocatedBytes();
                exchange(source, receiver);
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least);
        }
    }

    private void exchange(final Lane source, final Lane receiver) {
        int sent = 0;
        int received = 0;
        final long startNs = System.nanoTime();
        while (received < DATAGRAMS) {
            if (System.nanoTime() - startNs > LanePair.PATIENCE_NS) {
                throw new AssertionError("received " + received + " of " + sent);
            }
            if (sent < DATAGRAMS && sent - received < SLOTS - BATCH) {
                sent += source.multicast(sent % SLOTS, Math.min(BATCH, DATAGRAMS - sent));
            }
            completions.clear();
            receiver.post(received % SLOTS, BATCH);
            received += receiver.poll(completions);
            Thread.onSpinWait();
        }
    }
}
