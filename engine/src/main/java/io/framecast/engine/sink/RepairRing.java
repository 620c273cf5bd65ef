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
import java.lang.foreign.MemorySegment;

/// The repair lane's receive memory: slots are used in order of arrival and posted again once their payloads
/// were copied to their place. One thread.
final class RepairRing {
    private static final long INTERVAL_NS = 200_000;

    private final SinkConfig config;
    private final MemorySegment headers;
    private final MemorySegment payload;
    private final ReceiveRing ring;
    private final InboundRing slots = new InboundRing(SinkConfig.REPAIR_SLOTS);
    private final Completions completions = new Completions(SinkConfig.REPAIR_BATCH_MAX);
    private long dueNs;

    /// Makes a ring.
    ///
    /// @param headers `[REPAIR_SLOTS][headerStride]`, the caller's
    /// @param payload `[REPAIR_SLOTS][slotBytes]`, the caller's
    RepairRing(final SinkConfig config, final MemorySegment headers, final MemorySegment payload) {
        this.config = config;
        this.headers = headers;
        this.payload = payload;
        ring = new ReceiveRing(
                headers,
                DataLayout.LENGTH,
                config.headerStride(),
                DeviceRegion.ofHost(payload),
                config.slotBytes(),
                SinkConfig.REPAIR_SLOTS);
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
        return slots.poll(lane, placement, completions);
    }

    /// Shows datagram `index` of the last poll to the machine.
    ///
    /// @return whether it was new: its payload belongs at the machine's accepted sequence
    boolean accept(final ReceiverMachine machine, final int index, final long nowNs) {
        if (config.loss().drop()) {
            return false;
        }
        final long header = headerOffset(index);
        if (machine.onRepair(headers, header, completions.bytes(index), nowNs) != Verdict.GOOD
                || machine.acceptedSequence() == ReceiverMachine.NO_SEQUENCE) {
            return false;
        }
        final long sequence = machine.acceptedSequence();
        final RepairStore store = machine.store();
        if (store != null) {
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

    int slot(final int index) {
        return completions.slot(index);
    }

    int payloadBytes(final int index) {
        return completions.bytes(index) - DataLayout.LENGTH;
    }

    long consumed() {
        return slots.consumed();
    }

    void freeUpTo(final long count) {
        slots.freeUpTo(count);
    }
}
