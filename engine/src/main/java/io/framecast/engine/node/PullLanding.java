package io.framecast.engine.node;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint.Range;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.engine.sink.Opened;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.window.PayloadChecksum;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.SlotWord;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;

/// Where datagrams land that a receiver reads out of windows: slots of its sink, and beside each the two looks
/// at the word that vouches for it. All endpoints of a session share it. By the receiver's thread, but for
/// construction.
final class PullLanding implements AutoCloseable {
    private static final int LOOK_BYTES = Long.BYTES;

    private final ReadSlots slots;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment looks;
    private final PayloadChecksum checksum;
    private final RegisteredMemory headers;
    private final RegisteredMemory payload;
    private final RegisteredMemory words;
    private final Range header;
    private final Range body;
    private final Range look;

    /// @throws TransportException when the system refuses
    PullLanding(final OneSided oneSided, final ReadSlots slots) {
        this.slots = slots;
        try (Opened opened = new Opened()) {
            opened.add(arena);
            looks = arena.allocate(JAVA_LONG, 2L * ReadSlots.SLOTS);
            final long bytes = (long) ReadSlots.SLOTS * slots.memory().slotBytes();
            checksum = new PayloadChecksum(
                    slots.memory().payload().asSlice(slots.payloadOffset(0), bytes),
                    ReadSlots.SLOTS,
                    slots.memory().slotBytes());
            headers = opened.add(oneSided.register(slots.memory().headers(), Access.LOCAL));
            payload = opened.add(oneSided.register(slots.memory().payload(), Access.LOCAL));
            words = opened.add(oneSided.register(looks, Access.LOCAL));
            header = new Range(headers);
            body = new Range(payload);
            look = new Range(words);
            opened.keep();
        }
    }

    ReadSlots slots() {
        return slots;
    }

    /// Where a slot's header lands; used again by the next call, as are the others.
    Range header(final int slot) {
        return header.at(slots.headerOffset(slot), DataLayout.LENGTH);
    }

    Range payload(final int slot) {
        return body.at(slots.payloadOffset(slot), slots.memory().slotBytes());
    }

    /// Where the word lands that was read before the slot, or behind it.
    Range look(final int slot, final boolean behind) {
        return look.at(lookOffset(slot, behind), LOOK_BYTES);
    }

    private static long lookOffset(final int slot, final boolean behind) {
        return (2L * slot + (behind ? 1 : 0)) * LOOK_BYTES;
    }

    /// Length of the datagram in a slot; 0 when another than this sequence's lies there. The machine checks
    /// the rest of the header.
    int datagramBytes(final int slot, final long sequence) {
        final long at = slots.headerOffset(slot);
        return DataLayout.type(slots.memory().headers(), at) == DataLayout.TYPE_DATA
                        && DataLayout.sequence(slots.memory().headers(), at) == sequence
                ? DataLayout.datagramBytes(
                        slots.memory().headers(), at, slots.memory().slotBytes())
                : 0;
    }

    /// Whether what lies in a slot was this sequence's all the time: the word was the same before and behind
    /// it, and its checksum is the payload's.
    boolean isVouchedFor(final int slot, final long sequence, final int datagramBytes) {
        final long before = looks.get(JAVA_LONG, lookOffset(slot, false));
        final long behind = looks.get(JAVA_LONG, lookOffset(slot, true));
        return before == behind
                && SlotWord.isOf(behind, sequence)
                && SlotWord.payloadCrc(behind) == checksum.of(slot, datagramBytes - DataLayout.LENGTH);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(words, payload, headers, arena);
    }
}
