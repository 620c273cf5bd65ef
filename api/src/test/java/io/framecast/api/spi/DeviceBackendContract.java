package io.framecast.api.spi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.DeviceException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The contract of every [DeviceBackend]. Content is always read back from the device and compared.
public abstract class DeviceBackendContract {
    private static final long SEED = 20_261_121L;
    private static final int SMALL_BYTES = 4096;
    private static final int LARGE_BYTES = 8 << 20;

    private DeviceBackend backend;
    private DeviceStream stream;
    private Arena arena;

    /// Opens the backend under test.
    protected abstract DeviceBackend open();

    /// A kernel `contract_add(target, source, count, addend)`: `target[i] = (byte) (source[i] + addend)` for
    /// `count` bytes, whatever the grid. Null where kernels cannot run.
    protected KernelSource addKernel() {
        return new KernelSource(
                "contract_add",
                () -> {
                    throw new AssertionError("this backend was given no PTX");
                },
                DeviceBackendContract::add);
    }

    /// Whether device addresses are checked at enqueue.
    protected boolean checksDeviceBounds() {
        return true;
    }

    /// More than the device has.
    protected long tooManyBytes() {
        return 1L << 50;
    }

    private static void add(
            final KernelSource.DeviceMemory memory, final int grid, final int block, final long[] arguments) {
        final MemorySegment target = memory.at(arguments[0], arguments[2]);
        final MemorySegment source = memory.at(arguments[1], arguments[2]);
        for (long i = 0; i < arguments[2]; i++) {
            final byte sum = (byte) (source.get(ValueLayout.JAVA_BYTE, i) + arguments[3]);
            target.set(ValueLayout.JAVA_BYTE, i, sum);
        }
    }

    @BeforeEach
    final void openBackend() {
        backend = open();
        stream = backend.openStream();
        arena = Arena.ofShared();
    }

    @AfterEach
    final void closeBackend() {
        backend.close();
        arena.close();
    }

    @Test
    final void shouldNameItself() {
        assertFalse(backend.name().isBlank());
        assertFalse(backend.description().isBlank());
        assertFalse(backend.description().contains("\n"), "one line");
    }

    @Test
    final void shouldReadBackWhatWasCopiedAtOddOffsets() {
        final Random random = new Random(SEED);
        final MemorySegment source = randomPinned(random, SMALL_BYTES * 4);
        final MemorySegment target = backend.allocatePinned(SMALL_BYTES * 4);
        final DeviceRegion region = backend.allocate(SMALL_BYTES * 4);
        for (int round = 0; round < 200; round++) {
            final int bytes = 1 + random.nextInt(SMALL_BYTES);
            final int from = random.nextInt(SMALL_BYTES);
            final int at = random.nextInt(SMALL_BYTES);
            final int to = random.nextInt(SMALL_BYTES);
            stream.copyToDevice(region.address() + at, source, from, bytes);
            stream.copyToHost(target, to, region.address() + at, bytes);
            stream.synchronize();
            assertSameBytes(source.asSlice(from, bytes), target.asSlice(to, bytes), "round " + round);
        }
    }

    @Test
    final void shouldCopyLargeBlocksWhole() {
        final MemorySegment source = randomPinned(new Random(SEED), LARGE_BYTES + 13);
        final DeviceRegion region = backend.allocate(LARGE_BYTES + 13);
        stream.copyToDevice(region.address(), source, 0, source.byteSize());
        assertSameBytes(source, readBack(region), "large block");
    }

    @Test
    final void shouldStoreAndReadThroughAMappingWhatStreamsSee() {
        final Random random = new Random(SEED);
        final DeviceRegion region = backend.allocate(LARGE_BYTES);
        try (DeviceMapping mapping = mapOrSkip(region)) {
            final MemorySegment source = arena.allocate(SMALL_BYTES);
            final MemorySegment target = arena.allocate(SMALL_BYTES);
            for (int round = 0; round < 100; round++) {
                randomize(random, source);
                final int bytes = 1 + random.nextInt(SMALL_BYTES - 64);
                final int from = random.nextInt(64);
                final long at = random.nextInt(LARGE_BYTES - SMALL_BYTES);
                mapping.write(at, source, from, bytes);
                mapping.read(at, target, 0, bytes);
                assertSameBytes(source.asSlice(from, bytes), target.asSlice(0, bytes), "read, round " + round);
                stream.copyToHost(target, 0, region.address() + at, bytes);
                stream.synchronize();
                assertSameBytes(source.asSlice(from, bytes), target.asSlice(0, bytes), "copied, round " + round);
            }
            assertThrows(IndexOutOfBoundsException.class, () -> mapping.write(LARGE_BYTES - 1, source, 0, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> mapping.read(-1, source, 0, 1));
        }
    }

    private DeviceMapping mapOrSkip(final DeviceRegion region) {
        try {
            return backend.access().map(region);
        } catch (final DeviceException e) {
            System.err.println("mapping skipped: " + e.getMessage());
            return Assumptions.abort(e.getMessage());
        }
    }

    @Test
    final void shouldCopyFromMemoryThatIsNotPinned() {
        final MemorySegment source = arena.allocate(SMALL_BYTES);
        randomize(new Random(SEED), source);
        final DeviceRegion region = backend.allocate(SMALL_BYTES);
        stream.copyToDevice(region.address(), source, 0, SMALL_BYTES);
        assertSameBytes(source, readBack(region), "pageable memory");
    }

    @Test
    final void shouldCopyFromRegisteredMemory() {
        final MemorySegment source = arena.allocate(LARGE_BYTES, 4096);
        randomize(new Random(SEED), source);
        backend.registerHost(source);
        final DeviceRegion region = backend.allocate(LARGE_BYTES);
        stream.copyToDevice(region.address(), source, 0, LARGE_BYTES);
        assertSameBytes(source, readBack(region), "registered memory");
        backend.unregisterHost(source);
    }

    @Test
    final void shouldDoNothingWhenNoBytesAreCopied() {
        final DeviceRegion region = filled((byte) 7, SMALL_BYTES);
        final MemorySegment source = backend.allocatePinned(SMALL_BYTES);
        stream.copyToDevice(region.address() + 5, source, 9, 0);
        stream.copyWithin(region.address(), region.address() + 100, 0);
        stream.fill(region.address(), (byte) 1, 0);
        assertAll((byte) 7, readBack(region), 0, SMALL_BYTES);
    }

    @Test
    final void shouldCopyWithinTheDevice() {
        final MemorySegment source = randomPinned(new Random(SEED), SMALL_BYTES);
        final DeviceRegion first = backend.allocate(SMALL_BYTES);
        final DeviceRegion second = filled((byte) 0, SMALL_BYTES);
        stream.copyToDevice(first.address(), source, 0, SMALL_BYTES);
        stream.copyWithin(second.address() + 3, first.address() + 1001, 1777);
        final MemorySegment result = readBack(second);
        assertSameBytes(source.asSlice(1001, 1777), result.asSlice(3, 1777), "moved part");
        assertAll((byte) 0, result, 0, 3);
        assertAll((byte) 0, result, 1780, SMALL_BYTES);
    }

    @Test
    final void shouldGatherEveryPieceAndNothingElse() {
        final Random random = new Random(SEED);
        final DeviceGather gather = backend.openGather(stream);
        final int slot = SMALL_BYTES;
        final int slots = 25;
        final DeviceRegion source = backend.allocate((long) slots * slot);
        final DeviceRegion target = backend.allocate((long) slots * slot);
        final MemorySegment bytes = randomPinned(random, slots * slot);
        stream.copyToDevice(source.address(), bytes, 0, bytes.byteSize());
        for (int round = 0; round < 40; round++) {
            stream.fill(target.address(), (byte) round, target.bytes());
            final byte[] expected = new byte[slots * slot];
            java.util.Arrays.fill(expected, (byte) round);
            final int pieces = round % slots;
            for (int i = 0; i < pieces; i++) {
                // Some at odd addresses and of odd lengths.
                final int odd = round % 3 == 0 ? random.nextInt(16) : 0;
                final int length = 1 + random.nextInt(slot - odd);
                final int from = random.nextInt(slots) * slot + odd;
                final int to = i * slot + odd;
                gather.add(target.address() + to, source.address() + from, length);
                MemorySegment.copy(bytes, from, MemorySegment.ofArray(expected), to, length);
            }
            gather.flush();
            assertSameBytes(MemorySegment.ofArray(expected), readBack(target), "round " + round);
        }
    }

    @Test
    final void shouldFillExactlyTheRange() {
        final DeviceRegion region = filled((byte) 0x11, SMALL_BYTES);
        stream.fill(region.address() + 101, (byte) 0xEE, 501);
        final MemorySegment result = readBack(region);
        assertAll((byte) 0x11, result, 0, 101);
        assertAll((byte) 0xEE, result, 101, 602);
        assertAll((byte) 0x11, result, 602, SMALL_BYTES);
    }

    @Test
    final void shouldRunTheWorkOfOneStreamInOrder() {
        final DeviceRegion region = filled((byte) 0, LARGE_BYTES);
        for (int i = 1; i <= 3000; i++) {
            stream.fill(region.address() + (i & 63), (byte) i, 1000);
        }
        stream.fill(region.address(), (byte) 42, 2000);
        assertAll((byte) 42, readBack(region), 0, 2000);
    }

    @Test
    final void shouldReportAnEventCompleteWhenNeverRecorded() {
        try (DeviceEvent event = backend.openEvent()) {
            assertTrue(event.isComplete());
            event.synchronize();
            stream.await(event);
            stream.synchronize();
        }
    }

    @Test
    final void shouldShowTheCopyWhenItsEventIsComplete() {
        final Random random = new Random(SEED);
        final DeviceRegion region = backend.allocate(LARGE_BYTES);
        final MemorySegment target = backend.allocatePinned(LARGE_BYTES);
        try (DeviceEvent event = backend.openEvent()) {
            for (int round = 0; round < 5; round++) {
                final MemorySegment source = randomPinned(random, LARGE_BYTES);
                stream.copyToDevice(region.address(), source, 0, LARGE_BYTES);
                stream.copyToHost(target, 0, region.address(), LARGE_BYTES);
                stream.record(event);
                event.synchronize();
                assertTrue(event.isComplete());
                assertSameBytes(source, target, "round " + round);
            }
        }
    }

    @Test
    final void shouldWaitForTheEventOfAnotherStream() {
        final Random random = new Random(SEED);
        final DeviceRegion region = backend.allocate(LARGE_BYTES);
        final MemorySegment target = backend.allocatePinned(LARGE_BYTES);
        try (DeviceStream reader = backend.openStream();
                DeviceEvent written = backend.openEvent();
                DeviceEvent read = backend.openEvent()) {
            for (int round = 0; round < 5; round++) {
                final MemorySegment source = randomPinned(random, LARGE_BYTES);
                stream.await(read);
                stream.copyToDevice(region.address(), source, 0, LARGE_BYTES);
                stream.record(written);
                reader.await(written);
                reader.copyToHost(target, 0, region.address(), LARGE_BYTES);
                reader.record(read);
                reader.synchronize();
                assertSameBytes(source, target, "round " + round);
            }
        }
    }

    @Test
    final void shouldStandForTheLastRecordingWhenAnEventIsReused() {
        final DeviceRegion region = backend.allocate(LARGE_BYTES);
        try (DeviceStream other = backend.openStream();
                DeviceEvent event = backend.openEvent()) {
            other.record(event);
            stream.fill(region.address(), (byte) 1, LARGE_BYTES);
            stream.fill(region.address(), (byte) 2, LARGE_BYTES);
            stream.record(event);
            other.await(event);
            final MemorySegment target = backend.allocatePinned(LARGE_BYTES);
            other.copyToHost(target, 0, region.address(), LARGE_BYTES);
            other.synchronize();
            assertAll((byte) 2, target, 0, LARGE_BYTES);
        }
    }

    @Test
    final void shouldKeepStreamsOfSeveralThreadsApart() throws InterruptedException {
        final List<Thread> threads = new ArrayList<>();
        final List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < 3; t++) {
            final long seed = SEED + t;
            final Thread thread = new Thread(() -> copyBackAndForth(seed));
            thread.setUncaughtExceptionHandler((_, e) -> failures.add(e));
            threads.add(thread);
            thread.start();
        }
        for (final Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of(), failures);
    }

    private void copyBackAndForth(final long seed) {
        final Random random = new Random(seed);
        final DeviceRegion region = backend.allocate(SMALL_BYTES);
        final MemorySegment source = backend.allocatePinned(SMALL_BYTES);
        final MemorySegment target = backend.allocatePinned(SMALL_BYTES);
        try (DeviceStream own = backend.openStream();
                DeviceEvent done = backend.openEvent()) {
            for (int round = 0; round < 300; round++) {
                randomize(random, source);
                own.copyToDevice(region.address(), source, 0, SMALL_BYTES);
                own.copyToHost(target, 0, region.address(), SMALL_BYTES);
                own.record(done);
                done.synchronize();
                assertSameBytes(source, target, "seed " + seed + " round " + round);
            }
        }
        backend.free(region);
        backend.freePinned(source);
        backend.freePinned(target);
    }

    @Test
    final void shouldAccountForDeviceMemory() {
        final long before = backend.allocatedBytes();
        final DeviceRegion first = backend.allocate(1000);
        final DeviceRegion second = backend.allocate(1);
        assertEquals(1000, first.bytes());
        assertEquals(0, first.address() % 256);
        assertEquals(0, second.address() % 256);
        assertTrue(second.address() >= first.address() + 1000 || second.address() < first.address());
        assertEquals(before + 1001, backend.allocatedBytes());
        assertTrue(backend.availableBytes() > 0);
        backend.free(first);
        assertEquals(before + 1, backend.allocatedBytes());
        backend.free(second);
        assertEquals(before, backend.allocatedBytes());
    }

    @Test
    // To close a mapping twice changes nothing.
    @SuppressWarnings("try")
    final void shouldCountWhatItHasGivenOut() {
        final DeviceResources counts = backend.resources();
        assertEquals("1 streams", counts.toString());
        // Exports are of whole pages, and some drivers register nothing else.
        final DeviceRegion region = backend.allocate(2 << 20);
        final MemorySegment pinned = backend.allocatePinned(3000);
        final MemorySegment foreign = arena.allocate(8192, 4096);
        backend.registerHost(foreign);
        final DeviceEvent event = backend.openEvent();
        final DeviceStream other = backend.openStream();
        assertThrows(DeviceException.class, () -> backend.allocate(tooManyBytes()));
        assertEquals("1 regions, 3000 pinned_bytes, 1 registrations, 2 streams, 1 events", counts.toString());
        try (DeviceMapping mapping = backend.access().map(region)) {
            assertEquals(1, counts.inUse(DeviceResources.Kind.MAPPINGS));
            mapping.close();
        } catch (final DeviceException e) {
            assertOneLine(e);
        }
        try {
            final DeviceRegion exported = backend.access().export(region);
            assertEquals(1, counts.inUse(DeviceResources.Kind.EXPORTS));
            backend.access().unexport(exported);
        } catch (final DeviceException e) {
            assertOneLine(e);
        }
        other.close();
        other.close();
        event.close();
        event.close();
        backend.unregisterHost(foreign);
        backend.freePinned(pinned);
        backend.free(region);
        assertEquals("1 streams", counts.toString());
        backend.allocate(1000);
        backend.openEvent();
        backend.close();
        stream.close();
        assertEquals("", counts.toString());
    }

    @Test
    final void shouldFinishWorkWhenItsMemoryIsFreed() {
        final KernelSource source = addKernel();
        Assumptions.assumeTrue(source != null, "kernels cannot run here");
        final DeviceKernel kernel = backend.load(source);
        for (int round = 0; round < 20; round++) {
            final DeviceRegion input = filled((byte) 4, LARGE_BYTES / 8);
            final DeviceRegion output = backend.allocate(LARGE_BYTES / 8);
            stream.launch(kernel, 4, 64, output.address(), input.address(), LARGE_BYTES / 8, 3);
            backend.free(input);
            assertAll((byte) 7, readBack(output), 0, 64);
            backend.free(output);
        }
    }

    @Test
    final void shouldTellAllocationsApart() {
        final DeviceRegion region = backend.allocate(LARGE_BYTES);
        final DeviceRegion other = backend.allocate(SMALL_BYTES);
        final DeviceAllocation allocation = backend.access().identify(region).allocation();
        Assumptions.assumeTrue(allocation != null, "a device that does not know its allocations");
        assertEquals(
                allocation, backend.access().identify(region.slice(4096, 100)).allocation());
        assertNotEquals(allocation, backend.access().identify(other).allocation());
        final DeviceRegion longer = DeviceRegion.ofDevice(region.address(), region.bytes() + (1L << 40));
        assertThrows(IllegalArgumentException.class, () -> backend.access().identify(longer));
        assertTrue(allocation.isAlive());
        backend.free(region);
        assertFalse(allocation.isAlive());
        assertThrows(
                IllegalArgumentException.class,
                () -> backend.access().identify(DeviceRegion.ofDevice(region.address(), 100)));
        // Perhaps at the same address.
        assertNotEquals(
                allocation,
                backend.access().identify(backend.allocate(LARGE_BYTES)).allocation());
    }

    @Test
    final void shouldRefuseToFreeWhatItDidNotAllocate() {
        final DeviceRegion region = backend.allocate(1000);
        assertThrows(IllegalArgumentException.class, () -> backend.free(region.slice(8, 100)));
        backend.free(region);
        assertThrows(IllegalArgumentException.class, () -> backend.free(region));
        assertThrows(IllegalArgumentException.class, () -> backend.allocate(0));
    }

    @Test
    final void shouldGoOnWhenMemoryRunsOut() {
        final DeviceException e = assertThrows(DeviceException.class, () -> backend.allocate(tooManyBytes()));
        assertOneLine(e);
        shouldCopyWithinTheDevice();
    }

    @Test
    final void shouldRefuseCopiesThatLeaveDeviceMemory() {
        Assumptions.assumeTrue(checksDeviceBounds(), "this backend does not check device addresses");
        final DeviceRegion region = filled((byte) 5, SMALL_BYTES);
        final MemorySegment host = backend.allocatePinned(SMALL_BYTES * 2);
        final long end = region.address() + SMALL_BYTES;
        assertRefused(() -> stream.copyToDevice(region.address() + 1, host, 0, SMALL_BYTES));
        assertRefused(() -> stream.copyToHost(host, 0, end - 1, 2));
        assertRefused(() -> stream.copyWithin(end - 1, region.address(), 2));
        assertRefused(() -> stream.copyWithin(region.address(), end - 1, 2));
        assertRefused(() -> stream.fill(end - 1, (byte) 1, 2));
        assertAll((byte) 5, readBack(region), 0, SMALL_BYTES);
    }

    @Test
    final void shouldRefuseCopiesThatLeaveHostMemory() {
        final DeviceRegion region = backend.allocate(SMALL_BYTES);
        final MemorySegment host = backend.allocatePinned(100);
        assertThrows(IndexOutOfBoundsException.class, () -> stream.copyToDevice(region.address(), host, 1, 100));
        assertThrows(IndexOutOfBoundsException.class, () -> stream.copyToDevice(region.address(), host, -1, 10));
        assertThrows(IndexOutOfBoundsException.class, () -> stream.copyToHost(host, 0, region.address(), 101));
        assertThrows(IndexOutOfBoundsException.class, () -> stream.copyToHost(host, 0, region.address(), -1));
    }

    @Test
    final void shouldRunKernelsInStreamOrder() {
        final KernelSource source = addKernel();
        Assumptions.assumeTrue(source != null, "kernels cannot run here");
        final DeviceKernel kernel = backend.load(source);
        assertEquals("contract_add", kernel.name());
        final Random random = new Random(SEED);
        final DeviceRegion input = backend.allocate(SMALL_BYTES);
        final DeviceRegion output = backend.allocate(SMALL_BYTES);
        for (int round = 0; round < 20; round++) {
            final int count = 1 + random.nextInt(SMALL_BYTES);
            final byte addend = (byte) random.nextInt();
            final MemorySegment bytes = randomPinned(random, count);
            stream.fill(output.address(), (byte) 0, SMALL_BYTES);
            stream.copyToDevice(input.address(), bytes, 0, count);
            stream.launch(kernel, 1 + random.nextInt(4), 32, output.address(), input.address(), count, addend);
            final MemorySegment result = readBack(output);
            for (int i = 0; i < SMALL_BYTES; i++) {
                final byte expected = i < count ? (byte) (bytes.get(ValueLayout.JAVA_BYTE, i) + addend) : 0;
                assertEquals(expected, result.get(ValueLayout.JAVA_BYTE, i), "round " + round + " byte " + i);
            }
        }
    }

    @Test
    final void shouldFinishWorkWhenAStreamCloses() {
        final DeviceRegion region = backend.allocate(LARGE_BYTES);
        final DeviceStream brief = backend.openStream();
        brief.fill(region.address(), (byte) 9, LARGE_BYTES);
        brief.close();
        brief.close();
        assertAll((byte) 9, readBack(region), 0, LARGE_BYTES);
        assertThrows(DeviceException.class, () -> brief.fill(region.address(), (byte) 1, 1));
    }

    @Test
    final void shouldRefuseWorkWhenClosed() {
        final DeviceRegion region = backend.allocate(SMALL_BYTES);
        final DeviceEvent event = backend.openEvent();
        stream.fill(region.address(), (byte) 9, SMALL_BYTES);
        stream.record(event);
        backend.close();
        assertDoesNotThrow(backend::close);
        assertDoesNotThrow(stream::close);
        assertDoesNotThrow(event::close);
        assertOneLine(assertThrows(DeviceException.class, () -> backend.allocate(1)));
        assertThrows(DeviceException.class, () -> stream.fill(region.address(), (byte) 1, 1));
        assertThrows(DeviceException.class, () -> stream.record(event));
        assertThrows(DeviceException.class, backend::openStream);
        assertEquals(0, backend.allocatedBytes());
    }

    @Test
    final void shouldKeepBackendsOfOneDeviceApart() {
        final DeviceRegion mine = filled((byte) 3, SMALL_BYTES);
        try (DeviceBackend other = open()) {
            assertEquals(0, other.allocatedBytes());
            other.allocate(SMALL_BYTES);
        }
        assertAll((byte) 3, readBack(mine), 0, SMALL_BYTES);
        assertEquals(SMALL_BYTES, backend.allocatedBytes());
    }

    private static void assertRefused(final Runnable call) {
        assertOneLine(assertThrows(DeviceException.class, call::run));
    }

    private static void assertOneLine(final DeviceException e) {
        assertNotNull(e.getMessage());
        assertFalse(e.getMessage().contains("\n"), e.getMessage());
    }

    private DeviceRegion filled(final byte value, final int bytes) {
        final DeviceRegion region = backend.allocate(bytes);
        stream.fill(region.address(), value, bytes);
        return region;
    }

    private MemorySegment readBack(final DeviceRegion region) {
        final MemorySegment target = backend.allocatePinned(region.bytes());
        stream.copyToHost(target, 0, region.address(), region.bytes());
        stream.synchronize();
        return target;
    }

    private MemorySegment randomPinned(final Random random, final int bytes) {
        final MemorySegment segment = backend.allocatePinned(bytes);
        randomize(random, segment);
        return segment;
    }

    private static void randomize(final Random random, final MemorySegment segment) {
        final byte[] bytes = new byte[(int) segment.byteSize()];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    private static void assertSameBytes(final MemorySegment expected, final MemorySegment actual, final String what) {
        assertEquals(-1, expected.mismatch(actual), () -> what + ": first differing byte");
    }

    private static void assertAll(final byte value, final MemorySegment bytes, final long from, final long to) {
        for (long i = from; i < to; i++) {
            final long index = i;
            assertEquals(value, bytes.get(ValueLayout.JAVA_BYTE, i), () -> "byte " + index);
        }
    }
}
