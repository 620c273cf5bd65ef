package io.framecast.engine.session;

import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.PayloadPlaces;
import io.framecast.api.spi.SendRing;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.reliability.window.WindowMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;

/// The source's registered memory: `slots` slots of the window and one more for probes, each `[header |
/// payload]`. The payload memory is mapped twice where the system supports it, so that every claim up to the whole
/// window is contiguous. Where payloads are encrypted while local readers read them, the sent bytes lie in memory
/// of their own beside them, as much again.
///
/// Owns its memory; freed by [#close].
public final class SendMemory implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MirroredMemory payload;
    // The same as the payload, or a copy of it that is encrypted.
    private final MirroredMemory sent;
    private final MemorySegment headers;
    private final int[] lengths;
    private final int slots;
    private final int slotBytes;
    private final int headerBytes;
    private final SendRing ring;

    /// @param headerBytes length of a header
    /// @param shared whether other processes are to read the payload: it has a descriptor then, where it
    ///     is mapped twice
    /// @param apart whether the sent bytes lie beside the payloads, because they are encrypted and the
    /// payloads are not
    /// @param gathers whether payloads may lie in device memory
    public SendMemory(
            final int slots,
            final int slotBytes,
            final int headerBytes,
            final boolean shared,
            final boolean apart,
            final boolean gathers) {
        this.slots = slots;
        this.slotBytes = slotBytes;
        this.headerBytes = headerBytes;
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            opened.add(arena);
            lengths = new int[slots + 1];
            lengths[slots] = slotBytes;
            // The probe's payload is the memory behind the window: the mirror's first slot, or a spare one.
            final long bytes = (long) slots * slotBytes;
            payload = opened.add(
                    shared
                            ? MirroredMemory.allocateShared(bytes, slotBytes)
                            : MirroredMemory.allocate(bytes, slotBytes));
            sent = apart ? opened.add(MirroredMemory.allocate(bytes, slotBytes)) : payload;
            headers = arena.allocate((long) (slots + 1) * headerBytes, 64);
            ring = new SendRing(
                    headers,
                    headerBytes,
                    withProbe(sent),
                    slotBytes,
                    lengths,
                    gathers ? new PayloadPlaces(slots + 1) : null);
            opened.keep();
        } catch (final OutOfMemoryError e) {
            throw new ConfigException(
                    "window: no room for "
                            + (MemoryNeeds.source(slots, slotBytes, headerBytes, 0)
                                            .hostBytes()
                                    + (apart ? (long) slots * slotBytes : 0))
                            + " bytes; lower window= or frame-max=",
                    e);
        }
    }

    public SendRing ring() {
        return ring;
    }

    private MemorySegment withProbe(final MirroredMemory memory) {
        return memory.segment().asSlice(0, (long) (slots + 1) * slotBytes);
    }

    /// The same memory, as the protocol sees it: payloads as they were written.
    public WindowMemory window() {
        return new WindowMemory(headers, withProbe(payload), lengths, slots, slotBytes, headerBytes);
    }

    /// The same memory, with payloads as they are sent.
    public WindowMemory sent() {
        return new WindowMemory(headers, ring.payload(), lengths, slots, slotBytes, headerBytes);
    }

    public MemorySegment headers() {
        return headers;
    }

    /// Payload memory of all slots.
    public MemorySegment payload() {
        return payload.segment();
    }

    /// The payload's memory, as other processes are given it.
    public MirroredMemory shared() {
        return payload;
    }

    public int[] lengths() {
        return lengths;
    }

    /// Whether `bytes` bytes from a slot on are contiguous.
    public boolean isContiguous(final int slot, final long bytes) {
        return payload.mirrored() || (long) slot * slotBytes + bytes <= (long) slots * slotBytes;
    }

    public MemorySegment slice(final int slot, final long bytes) {
        return payload.segment().asSlice((long) slot * slotBytes, bytes);
    }

    /// Copies into the ring from a slot on, around its end where need be.
    public void write(final int slot, final MemorySegment source, final long sourceOffset, final long bytes) {
        final long offset = (long) slot * slotBytes;
        final long head = Math.min(bytes, (long) slots * slotBytes - offset);
        MemorySegment.copy(source, sourceOffset, payload.segment(), offset, head);
        MemorySegment.copy(source, sourceOffset + head, payload.segment(), 0, bytes - head);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(payload, sent, arena);
    }
}
