package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.FifoNetwork;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// The user's buffers, to which frames that came before these were posted are copied within the device, while a
/// NIC copies other frames into the ring, and breaks. The ring is longer than the 16 MiB of receive buffers.
class PostedBufferTest extends LateDeviceFixture {
    private static final int FRAMES = 12;
    private static final int FRAME_BYTES = 2_000_000;
    private static final int FRAME_MAX = 12_000_000;
    private static final String SETTINGS =
            "|window=4m|frame-max=" + FRAME_MAX + "|frames-held=1|device=emulated|placement=loopback";
    private static final int NEVER = Integer.MAX_VALUE;

    private final DeviceRegion[] buffers = new DeviceRegion[FRAMES];
    private final long[] addresses = new long[FRAMES];
    private int cycles;
    private int offered;
    private int polled;

    /// The mark of a posted copy must not free slots that the NIC still reads. When the connection breaks, the
    /// stream copies those slots late, and other datagrams would have overwritten them meanwhile.
    @Test
    void shouldNotFreeWhatTheNicStillReadsWithACopyIntoABuffer() {
        launch(NodeConfig.DEFAULT, new FifoNetwork(5, FifoNetwork.Faults.NONE), true);
        join(SETTINGS);
        awaitReady();
        run(200);
        // Two frames begin in the ring: the first is copied on while the second is being read.
        nic.lag = 300;
        offer(1);
        run(10);
        final int copies = nic.copies;
        offer(2);
        while (nic.copies == copies) {
            run(1);
        }
        for (int b = 0; b < FRAMES; b++) {
            buffers[b] = device.allocate(FRAME_MAX);
            assertTrue(subscriber.post(buffers[b]));
        }
        while (polled == 0) {
            run(1);
        }
        nic.lag = NEVER;
        // The copy of the first frame is complete, and so is its mark.
        run(300);
        assertEquals(1, polled);
        nic.breakNow();
        offer(FRAMES);
        while (polled < FRAMES) {
            run(1);
        }
        verify();
    }

    private void run(final int count) {
        for (int i = 0; i < count; i++) {
            cycle(cycles++);
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                addresses[polled] = frame.region().address();
                frame.close();
                polled++;
            }
        }
    }

    private void offer(final int upTo) {
        while (offered < upTo) {
            final MemorySegment frame = frame(offered, FRAME_BYTES);
            while (publisher.offer(frame, FrameOptions.DEFAULT) <= 0) {
                run(1);
            }
            offered++;
        }
    }

    private void verify() {
        // Copies out of the ring that are still in flight complete.
        final DeviceEvent progress = device.openEvent();
        for (int asked = 0; asked < 50_000; asked++) {
            assertTrue(progress.isComplete());
        }
        progress.close();
        final DeviceStream reads = device.openStream();
        final MemorySegment host = arena.allocate(FRAME_BYTES);
        for (int id = 0; id < FRAMES; id++) {
            reads.copyToHost(host, 0, addresses[id], FRAME_BYTES);
            reads.synchronize();
            assertEquals(-1, host.mismatch(frame(id, FRAME_BYTES)), "frame " + id);
        }
        reads.close();
    }
}
