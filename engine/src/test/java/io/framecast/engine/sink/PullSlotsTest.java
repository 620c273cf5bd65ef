package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.memory.HostProvider;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class PullSlotsTest {
    private static final int FIRST = 512;

    private static PullSlots slots(final DeviceBackend device) {
        final StreamInfo stream = new StreamInfo(1, "cam", 1408, 1024, 5_000, 50, new byte[0], new byte[0]);
        final SinkConfig config = new SinkConfig(stream, 64, 0, 0, true, device, new LossInjector(0, 0));
        return new PullSlots(config, FIRST, MemorySegment.NULL, MemorySegment.NULL);
    }

    @Test
    void shouldShowEachDatagramOnceAndKeepItsSlotUntilItIsCopied() {
        try (DeviceBackend device = new HostProvider().open(0)) {
            final PullSlots slots = slots(device);
            final Completions shown = new Completions(8);
            final int first = slots.take();
            final int second = slots.take();
            slots.land(first, 100);
            assertEquals(1, slots.show(shown));
            slots.land(second, 200);
            // The copy out of the first slot is still under way.
            shown.clear();
            assertEquals(1, slots.show(shown));
            assertEquals(1, shown.count());
            assertEquals(FIRST + second, shown.slot(0));
            assertEquals(200, shown.bytes(0));
            assertEquals(0, slots.show(shown));
            for (int i = 2; i < PullSlots.SLOTS; i++) {
                slots.take();
            }
            assertTrue(slots.isEmpty());
            slots.settle(slots.shown());
            assertFalse(slots.isEmpty());
            slots.take();
            slots.take();
            assertTrue(slots.isEmpty());
        }
    }
}
