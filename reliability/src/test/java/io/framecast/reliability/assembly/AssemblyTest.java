package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.receive.ReceivedFrames;
import org.junit.jupiter.api.Test;

/// Behaviour of all assemblies: the slots that are held, and copies that are under way.
final class AssemblyTest {
    private final MemoryShape shape = TestShape.of(Kind.IN_RING, 2, 0);
    private final RecordedMemory memory = new RecordedMemory(shape);
    private final Assembly assembly = Assembly.of(shape, memory);

    private static Assembly of(final Kind kind) {
        final MemoryShape shape = TestShape.of(kind);
        return Assembly.of(shape, new RecordedMemory(shape));
    }

    private long deliver(final long firstSequence, final long bytes) {
        return assembly.deliver(ReceivedFrames.whole(firstSequence, bytes));
    }

    @Test
    void shouldPlaceAsItsShapeSays() {
        assertInstanceOf(RingAssembly.class, of(Kind.IN_RING));
        assertInstanceOf(StagedAssembly.class, of(Kind.STAGED));
        assertInstanceOf(ArrivalAssembly.class, of(Kind.BY_ARRIVAL));
        assertSame(memory.data(), assembly.slotMemory());
    }

    private static Assembly posted(final Kind kind) {
        final MemoryShape shape = TestShape.of(kind);
        return Assembly.of(shape, new RecordedMemory(shape), BufferQueue.EMPTY);
    }

    @Test
    void shouldReceiveIntoBuffersAroundThatPlacement() {
        assertInstanceOf(PostedRing.class, posted(Kind.IN_RING));
        assertInstanceOf(PostedStaging.class, posted(Kind.STAGED));
        assertInstanceOf(PostedArrivals.class, posted(Kind.BY_ARRIVAL));
    }

    @Test
    void shouldCountTheSlotsOfHeldFramesAndThoseBehindThem() {
        assembly.start(100);
        assertEquals(106, assembly.creditLimit());
        assertTrue(assembly.canDeliver(100, 2));
        final long first = deliver(100, 257);
        final long second = deliver(102, 256);
        assembly.skip(103, 105);
        assertEquals(2, assembly.framesHeld());
        assertEquals(5, assembly.heldSlots(105));
        assertEquals(106, assembly.creditLimit());
        assembly.release(second);
        assertEquals(1, assembly.framesHeld());
        assertEquals(5, assembly.heldSlots(105));
        assembly.release(first);
        assertEquals(0, assembly.framesHeld());
        assertEquals(0, assembly.heldSlots(105));
        assertEquals(111, assembly.creditLimit());
    }

    @Test
    void shouldWaitForTheCopiesThatBringAFrame() {
        assembly.start(0);
        assertFalse(assembly.isCopying());
        assembly.repaired(0, 0, 0, 256);
        assertTrue(assembly.isCopying());
        deliver(0, 256);
        assertTrue(assembly.isArriving());
        // A copy that began later brings another frame.
        assembly.repaired(1, 0, 1, 256);
        memory.finish(1);
        assertFalse(assembly.isArriving());
        assertTrue(assembly.isCopying());
        deliver(1, 256);
        assertTrue(assembly.isArriving());
        memory.finish();
        assertFalse(assembly.isArriving());
        assertFalse(assembly.isCopying());
    }

    @Test
    void shouldRefuseNoRepairWhereEveryFrameHasAPlace() {
        final RecordedRequests requests = new RecordedRequests();
        assertTrue(assembly.reserve(5, 2, requests, 0));
        assertEquals(0, assembly.refusedRepairs());
    }
}
