package io.framecast.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.PlacementOptions;
import io.framecast.api.spi.DeviceResources.Kind;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.sink.LoopbackQueuePair;
import io.framecast.engine.sink.StagedReceiveMemory;
import io.framecast.engine.testing.DelayedDevice;
import io.framecast.engine.testing.LateNic;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import org.junit.jupiter.api.Test;

/// The figures of [MemoryNeeds] against the memory that a device is then asked for.
class MemoryNeedsTest {
    private static final int SLOT_BYTES = 1408;
    private static final int RING_SLOTS = 2048;
    private static final int FRAME_MAX = 500_000;
    private static final long PAGE_BYTES = 2L << 20;

    private final DelayedDevice device = new DelayedDevice();

    private static MemoryShape shape() {
        final StreamInfo stream =
                new StreamInfo(1, "default", SLOT_BYTES, 1024, FRAME_MAX, 5_000, new byte[0], new byte[0]);
        return MemoryShape.of(stream, MemoryShape.Kind.STAGED, RING_SLOTS, 0, true, 2);
    }

    @Test
    void shouldSayWhatASubscriberByLoopbackTakes() {
        final MemoryShape shape = shape();
        final MemoryNeeds staged = MemoryNeeds.subscriber(shape, PlacementOptions.Kind.STAGED, 0);
        final MemoryNeeds loopback = MemoryNeeds.subscriber(shape, PlacementOptions.Kind.LOOPBACK, 0);
        device.offersAccess = true;
        final LateNic nic = new LateNic(device::writeRemotely);
        final StagedReceiveMemory memory =
                StagedReceiveMemory.byNic(shape, device, 0, new LoopbackQueuePair(nic, _ -> {}));
        assertEquals(device.allocatedBytes(), loopback.deviceBytes());
        // The ring of 2 883 584 bytes and its tail in whole pages of the device.
        assertEquals(2 * PAGE_BYTES, loopback.deviceBytes());
        assertEquals(shape.ringBytes() + shape.bufferBytes(), staged.deviceBytes());
        // Receive and repair slots are pinned; their headers and lists, and the control rings, are not.
        final long headers = (shape.stagingSlots() + shape.allRepairSlots()) * (long) DataLayout.LENGTH;
        final long lists = MemoryNeeds.listBytes(shape.stagingSlots()) + MemoryNeeds.listBytes(shape.repairSlots());
        assertEquals(
                device.resources().inUse(Kind.PINNED_BYTES),
                loopback.hostBytes() - headers - lists - ControlLane.memoryBytes(0));
        assertEquals(staged.hostBytes(), loopback.hostBytes());
        // For each slot that a run may begin in: target, source, length and number.
        assertEquals((RING_SLOTS + shape.allRepairSlots()) * 28L, loopback.tableBytes() - staged.tableBytes());
        assertEquals(staged.metadataBytesMax(), loopback.metadataBytesMax());
        assertEquals(loopback.hostBytes() + loopback.deviceBytes() + loopback.tableBytes(), loopback.totalBytes());
        memory.close();
        assertEquals(0, device.allocatedBytes());
        assertEquals("", device.resources().toString());
        assertEquals(0, nic.leases);
        assertEquals(0, nic.open());
    }
}
