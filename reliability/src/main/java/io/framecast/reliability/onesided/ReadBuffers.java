package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.window.PayloadChecksum;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.SlotGuard;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;

/// The landing slots of a session's RDMA reads, and for each slot the two reads of its guard. All endpoints of the
/// session share them.
///
/// Threading: the session's thread, but for construction and [#close].
final class ReadBuffers implements AutoCloseable {
    private static final int GUARD_BYTES = Long.BYTES;

    private final ReadSlots slots;
    private final PayloadChecksum checksum;
    private final Region headers;
    private final Region payload;
    private final Region guards;

    /// @throws RefusedException when the system refuses to register the slots
    ReadBuffers(final OneSidedPort port, final ReadSlots slots) {
        this.slots = slots;
        final long bytes = (long) slots.slots() * slots.memory().slotBytes();
        checksum = new PayloadChecksum(
                slots.memory().payload().asSlice(slots.payloadOffset(0), bytes),
                slots.slots(),
                slots.memory().slotBytes());
        final List<Region> made = new ArrayList<>();
        try {
            made.add(port.allocate(2L * slots.slots() * GUARD_BYTES, Access.LOCAL));
            made.add(port.register(slots.memory().headers(), Access.LOCAL));
            made.add(port.register(slots.memory().payload(), Access.LOCAL));
        } catch (final RuntimeException | Error e) {
            CloseHelper.closeAll(made);
            throw e;
        }
        guards = made.get(0);
        headers = made.get(1);
        payload = made.get(2);
    }

    ReadSlots slots() {
        return slots;
    }

    boolean readHeader(
            final EndpointPort endpoint, final int slot, final long address, final int key, final long token) {
        return endpoint.read(headers, slots.headerOffset(slot), DataLayout.LENGTH, address, key, token);
    }

    boolean readPayload(final EndpointPort endpoint, final int slot, final long address, final int key) {
        return endpoint.read(
                payload, slots.payloadOffset(slot), slots.memory().slotBytes(), address, key, EndpointPort.NO_TOKEN);
    }

    /// @param after whether it is the read behind the payload
    boolean readGuard(
            final EndpointPort endpoint,
            final int slot,
            final boolean after,
            final long address,
            final int key,
            final long token) {
        return endpoint.read(guards, guardOffset(slot, after), GUARD_BYTES, address, key, token);
    }

    private static long guardOffset(final int slot, final boolean after) {
        return (2L * slot + (after ? 1 : 0)) * GUARD_BYTES;
    }

    /// Length of the datagram in a slot; 0 when the slot holds another sequence. The machine checks the rest of the
    /// header.
    int datagramBytes(final int slot, final long sequence) {
        final long at = slots.headerOffset(slot);
        return DataLayout.type(slots.memory().headers(), at) == DataLayout.TYPE_DATA
                        && DataLayout.SEQUENCE.get(slots.memory().headers(), at) == sequence
                ? DataLayout.datagramBytes(
                        slots.memory().headers(), at, slots.memory().slotBytes())
                : 0;
    }

    /// Whether the slot held this sequence's datagram during the whole read: both guards are equal, and their
    /// checksum is the payload's.
    boolean isGuardValid(final int slot, final long sequence, final int datagramBytes) {
        final long before = guards.memory().get(JAVA_LONG, guardOffset(slot, false));
        final long after = guards.memory().get(JAVA_LONG, guardOffset(slot, true));
        return before == after
                && SlotGuard.isOf(after, sequence)
                && SlotGuard.payloadCrc(after) == checksum.of(slot, datagramBytes - DataLayout.LENGTH);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(guards, payload, headers);
    }
}
