package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.SlotMemory;
import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.window.PayloadChecksum;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.SlotGuard;

/// The slots of a session's RDMA reads, and for each slot the two reads of its guard. All endpoints of the
/// session share them.
///
/// Threading: the session's thread, but for construction and [#close].
final class ReadBuffers implements AutoCloseable {
    private static final int GUARD_BYTES = Long.BYTES;

    private final ReadSlots slots;
    private final PayloadChecksum checksum;
    // The words are the guards of the reads.
    private final WindowRegions regions;

    /// @throws RefusedException when the system refuses to register the slots
    ReadBuffers(final OneSidedPort port, final ReadSlots slots) {
        this.slots = slots;
        final long bytes = (long) slots.slots() * slots.memory().slotBytes();
        checksum = new PayloadChecksum(
                slots.memory().payload().asSlice(slots.payloadOffset(0), bytes),
                slots.slots(),
                slots.memory().slotBytes());
        final SlotMemory memory = slots.memory();
        final long guardBytes = 2L * slots.slots() * GUARD_BYTES;
        regions = WindowRegions.of(port, guardBytes, memory.headers(), memory.payload(), Access.LOCAL);
    }

    ReadSlots slots() {
        return slots;
    }

    boolean readHeader(
            final EndpointPort endpoint, final int slot, final long address, final int key, final long token) {
        return endpoint.read(
                regions.headers(), slots.headerOffset(slot), slots.memory().headerBytes(), address, key, token);
    }

    boolean readPayload(final EndpointPort endpoint, final int slot, final long address, final int key) {
        return endpoint.read(
                regions.payload(),
                slots.payloadOffset(slot),
                slots.memory().slotBytes(),
                address,
                key,
                EndpointPort.NO_TOKEN);
    }

    /// @param after whether it is the read behind the payload
    boolean readGuard(
            final EndpointPort endpoint,
            final int slot,
            final boolean after,
            final long address,
            final int key,
            final long token) {
        return endpoint.read(regions.words(), guardOffset(slot, after), GUARD_BYTES, address, key, token);
    }

    private static long guardOffset(final int slot, final boolean after) {
        return (2L * slot + (after ? 1 : 0)) * GUARD_BYTES;
    }

    /// Length of the datagram in a slot; 0 when the slot holds another sequence, or its payload does not lie
    /// in the window. The machine checks the rest of the header.
    int datagramBytes(final int slot, final long sequence) {
        final long at = slots.headerOffset(slot);
        return DataLayout.type(slots.memory().headers(), at) == DataLayout.TYPE_DATA
                        && DataLayout.SEQUENCE.get(slots.memory().headers(), at) == sequence
                        && !DataLayout.isGathered(slots.memory().headers(), at)
                ? DataLayout.datagramBytes(
                        slots.memory().headers(),
                        at,
                        slots.memory().headerBytes(),
                        slots.memory().slotBytes())
                : 0;
    }

    /// Whether the slot held this sequence's datagram during the whole read: both guards are equal, and their
    /// checksum is the payload's.
    boolean isGuardValid(final int slot, final long sequence, final int datagramBytes) {
        final long before = regions.words().memory().get(JAVA_LONG, guardOffset(slot, false));
        final long after = regions.words().memory().get(JAVA_LONG, guardOffset(slot, true));
        return before == after
                && SlotGuard.isOf(after, sequence)
                && SlotGuard.payloadCrc(after)
                        == checksum.of(slot, datagramBytes - slots.memory().headerBytes());
    }

    @Override
    public void close() {
        regions.close();
    }
}
