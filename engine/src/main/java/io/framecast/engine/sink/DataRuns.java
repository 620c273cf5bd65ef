package io.framecast.engine.sink;

import io.framecast.api.spi.Completions;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;

/// Shows datagrams that arrived in order to the machine as one run, instead of one by one. One thread.
final class DataRuns {
    private final SinkConfig config;
    private final MemorySegment headers;
    private final MemorySegment payload;
    private final int slots;
    private final int datagramBytes;

    /// @param headers `[slots][headerStride]`, where the data lane lands headers
    /// @param payload `[slots][slotBytes]`, where it lands payloads
    DataRuns(final SinkConfig config, final MemorySegment headers, final MemorySegment payload, final int slots) {
        this.config = config;
        this.payload = payload;
        this.headers = headers;
        this.slots = slots;
        datagramBytes = DataLayout.LENGTH + config.slotBytes();
    }

    long headerOffset(final int slot) {
        return (long) slot * config.headerStride() + config.headerReserveBytes();
    }

    /// Gives a co-root's store what was accepted, from where it landed.
    ///
    /// @param index of the first datagram
    /// @param count datagrams, consecutive in sequence and slot
    void keep(
            final ReceiverMachine machine,
            final Completions completions,
            final int index,
            final int count,
            final long sequence) {
        final RepairStore store = machine.store();
        if (store == null) {
            return;
        }
        for (int i = 0; i < count; i++) {
            if (!store.wants(sequence + i)) {
                continue;
            }
            final int slot = completions.slot(index + i);
            final int bytes = completions.bytes(index + i) - DataLayout.LENGTH;
            store.putPayload(sequence + i, payload, (long) slot * config.slotBytes(), bytes);
            store.putHeader(sequence + i, headers, headerOffset(slot));
            machine.onStored(sequence + i);
        }
    }

    /// Takes what continues the datagram accepted last.
    ///
    /// @param index of that datagram
    /// @return datagrams behind it that the machine has taken
    int follow(final ReceiverMachine machine, final Completions completions, final int index, final long nowNs) {
        if (config.loss().isActive()) {
            // Each datagram is dropped or not by itself.
            return 0;
        }
        final int slot = completions.slot(index);
        final int limit = Math.min(completions.count() - index, slots - slot);
        int count = 1;
        while (count < limit
                && completions.bytes(index + count) == datagramBytes
                && completions.slot(index + count) == slot + count) {
            count++;
        }
        return count == 1 ? 0 : machine.onRun(headers, headerOffset(slot), config.headerStride(), count - 1, nowNs);
    }
}
