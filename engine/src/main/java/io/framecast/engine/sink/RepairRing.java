package io.framecast.engine.sink;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The repair lane's receive memory: slots are used in order of arrival and posted again once their payloads
/// were copied to their place. Behind them are those for what is read out of windows, where the transport can. One
/// thread.
final class RepairRing {
    private static final long INTERVAL_NS = 200_000;

    private final SinkConfig config;
    private final MemorySegment headers;
    private final MemorySegment payload;
    private final ReceiveRing ring;
    private final InboundRing slots;
    private final Completions completions = new Completions(SinkConfig.REPAIR_BATCH_MAX);
    private final @Nullable PullSlots pulls;
    // Of the last poll, those that came by the lane.
    private int received;
    private long dueNs;

    /// @param slots of the lane
    /// @param arena headers come from it
    /// @param payload `[slots + pullSlots][slotBytes]`, the caller's
    RepairRing(final SinkConfig config, final int slots, final Arena arena, final MemorySegment payload) {
        this.config = config;
        this.slots = new InboundRing(slots);
        this.payload = payload;
        headers = arena.allocate((long) (slots + config.pullSlots()) * config.headerStride(), 64);
        pulls = config.readsWindows() ? new PullSlots(config, slots, headers, payload) : null;
        ring = new ReceiveRing(
                headers.asSlice(0, (long) slots * config.headerStride()),
                DataLayout.LENGTH,
                config.headerStride(),
                DeviceRegion.ofHost(payload.asSlice(0, (long) slots * config.slotBytes())),
                config.slotBytes(),
                slots);
    }

    ReceiveRing ring() {
        return ring;
    }

    MemorySegment payload() {
        return payload;
    }

    /// Whether it is time to look: repairs are awaited, or there is nothing better to do. While data comes in
    /// order, those that others asked for can wait.
    ///
    /// @param taken from the data lane just now
    boolean isDue(final ReceiverMachine machine, final int taken, final long nowNs) {
        final boolean due = taken == 0 || machine.missing() > 0 || nowNs >= dueNs;
        dueNs = due ? nowNs + INTERVAL_NS : dueNs;
        return due;
    }

    int poll(final Lane lane, final Placement placement) {
        received = slots.poll(lane, placement, completions);
        return pulls == null ? received : received + pulls.show(completions);
    }

    /// Null where nothing is read out of windows.
    @Nullable
    PullSlots pulls() {
        return pulls;
    }

    /// Shows datagram `index` of the last poll to the machine.
    ///
    /// @return whether it was new: its payload belongs at the machine's accepted sequence
    boolean accept(final ReceiverMachine machine, final int index, final long nowNs) {
        return !isLost(index) && take(machine, index, nowNs);
    }

    /// Whether datagram `index` of the last poll counts as lost; asked once. What was read is not lost on the
    /// way.
    boolean isLost(final int index) {
        return index < received && config.loss().drop();
    }

    /// As [#accept], of a datagram that is not lost.
    boolean take(final ReceiverMachine machine, final int index, final long nowNs) {
        final long header = headerOffset(index);
        if (machine.onRepair(headers, header, completions.bytes(index), nowNs) != Verdict.GOOD
                || machine.acceptedSequence() == ReceiverMachine.NO_SEQUENCE) {
            return false;
        }
        final long sequence = machine.acceptedSequence();
        final RepairStore store = machine.store();
        if (store != null && store.wants(sequence)) {
            final long offset = (long) slot(index) * config.slotBytes();
            store.putPayload(sequence, payload, offset, payloadBytes(index));
            store.putHeader(sequence, headers, header);
            machine.onStored(sequence);
        }
        return true;
    }

    MemorySegment headers() {
        return headers;
    }

    long headerOffset(final int index) {
        return (long) completions.slot(index) * config.headerStride() + config.headerReserveBytes();
    }

    int bytes(final int index) {
        return completions.bytes(index);
    }

    int slot(final int index) {
        return completions.slot(index);
    }

    int payloadBytes(final int index) {
        return completions.bytes(index) - DataLayout.LENGTH;
    }

    long consumed() {
        return slots.consumed();
    }

    /// Of those that were read out of windows, how many a poll has given since the beginning.
    long pulled() {
        return pulls == null ? 0 : pulls.shown();
    }

    void freeUpTo(final long count, final long pulled) {
        slots.freeUpTo(count);
        if (pulls != null) {
            pulls.settle(pulled);
        }
    }
}
