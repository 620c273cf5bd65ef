package io.framecast.api.spi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The memory that crosses the SPI: regions, rings, completions, lane configurations.
final class RingTest {
    private static final LaneAddress PEER = new LaneAddress(new byte[] {1});

    @Test
    void shouldSliceHostRegionsOverTheSameBytes() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment memory = arena.allocate(100);
            final DeviceRegion slice = DeviceRegion.ofHost(memory).slice(10, 20);
            assertTrue(slice.hostAddressable());
            assertEquals(memory.address() + 10, slice.address());
            assertEquals(20, slice.host().byteSize());
            slice.host().set(ValueLayout.JAVA_BYTE, 0, (byte) 7);
            assertEquals(7, memory.get(ValueLayout.JAVA_BYTE, 10));
            assertEquals(100, DeviceRegion.ofHost(memory).slice(0, 100).bytes());
        }
    }

    @Test
    void shouldSliceDeviceRegionsByAddressOnly() {
        final DeviceRegion region = new DeviceRegion(0x7f00_0000L, 4096, 5, MemorySegment.NULL);
        assertFalse(region.hostAddressable());
        final DeviceRegion slice = region.slice(4000, 96);
        assertEquals(DeviceRegion.ofDevice(0x7f00_0000L + 4000, 96), slice);
        assertEquals(DeviceRegion.NO_DMA_BUF, slice.dmaBufDescriptor());
        assertSame(MemorySegment.NULL, slice.host());
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 5",
        "0, 0",
        "0, -1",
        "0, 101",
        "100, 1",
        "99, 2",
        "1, 9223372036854775807",
        "9223372036854775807, 1"
    })
    void shouldRefuseSlicesOutsideTheRegion(final long offset, final long length) {
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> DeviceRegion.ofDevice(1 << 20, 100).slice(offset, length));
    }

    @Test
    void shouldRefuseEmptyRegions() {
        assertThrows(IllegalArgumentException.class, () -> DeviceRegion.ofDevice(1, 0));
        assertThrows(IllegalArgumentException.class, () -> DeviceRegion.ofDevice(1, -1));
    }

    @Test
    void shouldTakeSendRingsWhoseMemoryHoldsTheirSlots() {
        assertEquals(8, new SendRing(heap(320), 40, heap(4096), 512, new int[8]).slots());
        assertEquals(8, new SendRing(heap(0), 0, heap(4096), 512, new int[8]).slots());
    }

    @Test
    void shouldRefuseSendRingsThatDoNotFit() {
        refusesSend(319, 40, 4096, 512, 8);
        refusesSend(320, 40, 4095, 512, 8);
        refusesSend(320, 40, 4096, 512, 0);
        refusesSend(320, -1, 4096, 512, 8);
        refusesSend(320, 40, 4096, 0, 8);
        // 2^31 − 1 bytes by 4 slots: more than an int counts.
        refusesSend(320, Integer.MAX_VALUE, 4096, 512, 4);
        refusesSend(320, 40, 4096, Integer.MAX_VALUE, 4);
    }

    @Test
    void shouldTakeReceiveRingsWhoseMemoryHoldsTheirSlots() {
        assertEquals(8, new ReceiveRing(heap(640), 40, 80, DeviceRegion.ofDevice(4096, 4096), 512, 8).slots());
        assertEquals(8, new ReceiveRing(heap(0), 0, 0, DeviceRegion.ofHost(heap(4096)), 512, 8).slots());
    }

    @Test
    void shouldRefuseReceiveRingsThatDoNotFit() {
        refusesReceive(639, 40, 80, 4096, 8);
        refusesReceive(640, 40, 80, 4095, 8);
        refusesReceive(640, 40, 39, 4096, 8);
        refusesReceive(640, -1, 80, 4096, 8);
        refusesReceive(640, 40, 80, 4096, 0);
        refusesReceive(640, 40, 80, 4096, -8);
        refusesReceive(640, 40, Integer.MAX_VALUE, 4096, 4);
        refusesReceive(640, 40, 80, 4096, Integer.MAX_VALUE);
        assertThrows(
                IllegalArgumentException.class,
                () -> new ReceiveRing(heap(640), 40, 80, DeviceRegion.ofDevice(4096, 4096), 0, 8));
    }

    @Test
    void shouldKeepCompletionsInOrderWhenOneIsTakenOut() {
        final Completions completions = new Completions(4);
        for (int i = 0; i < 4; i++) {
            assertFalse(completions.isFull());
            completions.add(10 + i, 100 + i);
        }
        assertTrue(completions.isFull());
        completions.remove(1);
        completions.remove(2);
        assertEquals(2, completions.count());
        assertArrayEquals(new int[] {10, 12}, new int[] {completions.slot(0), completions.slot(1)});
        assertArrayEquals(new int[] {100, 102}, new int[] {completions.bytes(0), completions.bytes(1)});
        completions.clear();
        assertEquals(0, completions.count());
        assertEquals(4, completions.capacity());
    }

    @Test
    void shouldCompareLaneAddressesByTheirBytes() {
        final byte[] bytes = {1, 2, (byte) 0xfe};
        final LaneAddress address = new LaneAddress(bytes);
        bytes[0] = 9;
        address.toBytes()[1] = 9;
        assertEquals(new LaneAddress(new byte[] {1, 2, (byte) 0xfe}), address);
        assertEquals(new LaneAddress(new byte[] {1, 2, (byte) 0xfe}).hashCode(), address.hashCode());
        assertNotEquals(new LaneAddress(bytes), address);
        assertEquals("0102fe", address.toString());
        assertEquals(LaneAddress.BYTES_MAX, new LaneAddress(new byte[LaneAddress.BYTES_MAX]).length());
        assertThrows(IllegalArgumentException.class, () -> new LaneAddress(new byte[LaneAddress.BYTES_MAX + 1]));
    }

    @Test
    void shouldRefuseLanesThatCannotWork() {
        final SendRing send = new SendRing(heap(40), 40, heap(512), 512, new int[1]);
        final ReceiveRing receive = new ReceiveRing(heap(40), 40, 40, DeviceRegion.ofHost(heap(512)), 512, 1);
        final LaneConfig.Role receiver = LaneConfig.Role.RECEIVER;
        assertEquals(PEER, new LaneConfig(LaneKind.DATA, receiver, null, receive, PEER).peer());
        assertEquals(send, new LaneConfig(LaneKind.DATA, LaneConfig.Role.SOURCE, send, null, null).send());
        assertEquals(receive, new LaneConfig(LaneKind.CONTROL, receiver, send, receive, null).receive());
        refusesLane(LaneKind.REPAIR, null, null);
        refusesLane(LaneKind.DATA, null, receive);
    }

    private static void refusesLane(
            final LaneKind kind, final @Nullable SendRing send, final @Nullable ReceiveRing receive) {
        assertThrows(
                IllegalArgumentException.class,
                () -> new LaneConfig(kind, LaneConfig.Role.RECEIVER, send, receive, null));
    }

    private static void refusesSend(
            final int headerMemory, final int header, final int payloadMemory, final int payload, final int slots) {
        assertThrows(
                IllegalArgumentException.class,
                () -> new SendRing(heap(headerMemory), header, heap(payloadMemory), payload, new int[slots]));
    }

    private static void refusesReceive(
            final int headerMemory, final int header, final int stride, final int payloadMemory, final int slots) {
        final DeviceRegion payload = DeviceRegion.ofDevice(4096, payloadMemory);
        assertThrows(
                IllegalArgumentException.class,
                () -> new ReceiveRing(heap(headerMemory), header, stride, payload, 512, slots));
    }

    private static MemorySegment heap(final int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }
}
