package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceResources.Kind;
import io.framecast.engine.sink.LocalNic;
import io.framecast.engine.sink.LossInjector;
import io.framecast.engine.sink.SinkConfig;
import io.framecast.engine.sink.StagedSink;
import io.framecast.reliability.wire.StreamInfo;
import org.junit.jupiter.api.Test;

/// What [MemoryNeeds] says beforehand against what a device is then asked for.
class MemoryNeedsTest {
    private static final int SLOT_BYTES = 1408;
    private static final int RING_SLOTS = 2048;
    private static final int FRAME_MAX = 500_000;
    private static final long PAGE_BYTES = 2L << 20;

    private final DelayedDevice device = new DelayedDevice();

    private SinkConfig config() {
        final StreamInfo stream =
                new StreamInfo(1, "default", SLOT_BYTES, 1024, FRAME_MAX, 5_000, new byte[0], new byte[0]);
        return new SinkConfig(stream, RING_SLOTS, 0, 0, true, device, new LossInjector(0, 0));
    }

    @Test
    void shouldSayWhatASubscriberByLoopbackTakes() {
        final SinkConfig config = config();
        final MemoryNeeds staged = MemoryNeeds.staged(config);
        final MemoryNeeds loopback = MemoryNeeds.loopback(config);
        device.offersAccess = true;
        final LateNic nic = new LateNic(device::writeRemotely);
        final StagedSink sink = StagedSink.byNic(config, new LocalNic(nic, _ -> {}));
        assertEquals(device.allocatedBytes(), loopback.deviceBytes());
        // The ring of 2 883 584 bytes in whole pages of the device.
        assertEquals(2 * PAGE_BYTES + FRAME_MAX, loopback.deviceBytes());
        assertTrue(loopback.deviceBytes() > staged.deviceBytes());
        // Landing and repair slots are pinned; their headers and lists, and the control rings, are not.
        final long headers = (long) config.stagedSlots() * config.headerStride();
        final long lists =
                MemoryNeeds.listBytes(config.landingSlots()) + MemoryNeeds.listBytes(SinkConfig.REPAIR_SLOTS);
        assertEquals(
                device.resources().inUse(Kind.PINNED_BYTES),
                loopback.hostBytes() - headers - lists - ControlLane.memoryBytes(0));
        assertEquals(staged.hostBytes(), loopback.hostBytes());
        // For each slot that a run may begin in: where to, where from, how long, and what was taken before of
        // each kind.
        assertEquals(
                (RING_SLOTS + SinkConfig.REPAIR_SLOTS + config.pullSlots()) * 44L,
                loopback.tableBytes() - staged.tableBytes());
        assertEquals(staged.metadataBytesMax(), loopback.metadataBytesMax());
        assertEquals(loopback.hostBytes() + loopback.deviceBytes() + loopback.tableBytes(), loopback.totalBytes());
        sink.close();
        assertEquals(0, device.allocatedBytes());
        assertEquals("", device.resources().toString());
        assertEquals(0, nic.leases);
        assertEquals(0, nic.open());
    }
}
