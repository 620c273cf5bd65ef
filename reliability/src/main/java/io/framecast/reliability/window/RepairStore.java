package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A co-root's replica of the source's window: as many slots, so that each sequence that a member may still request
/// has its own, from the start of the co-root's term. Sequence s uses slot s mod slots.
///
/// Holds headers, payloads and metadata. The memory is the caller's, in host memory, and outlives this object. One
/// thread.
public final class RepairStore {
    private static final long NONE = -1;
    private static final long UNFED = -1;

    private final MemorySegment headers;
    private final MemorySegment payloads;
    private final int[] payloadLengths;
    private final long[] sequences;
    private final long[] metadataSequences;
    private final byte[] @Nullable [] metadata;
    private final int slots;
    private final int slotBytes;
    private @Nullable SlotGuards guards;
    private boolean guarding;
    private long feedFrom = UNFED;

    /// Makes an empty store.
    ///
    /// @param headers `[slots][40]` or more
    /// @param payloads `[slots][slotBytes]` or more
    /// @param payloadLengths `[slots]` or more, filled in here, read by the transport
    /// @param slots a power of two
    public RepairStore(
            final MemorySegment headers,
            final MemorySegment payloads,
            final int[] payloadLengths,
            final int slots,
            final int slotBytes) {
        if (Integer.bitCount(slots) != 1 || payloadLengths.length < slots) {
            throw new IllegalArgumentException("store: expected a power of two of slots, got " + slots);
        }
        this.slots = slots;
        this.headers = headers;
        this.payloads = payloads;
        this.payloadLengths = payloadLengths;
        this.slotBytes = slotBytes;
        sequences = new long[slots];
        metadataSequences = new long[slots];
        metadata = new byte[slots][];
        java.util.Arrays.fill(sequences, NONE);
        java.util.Arrays.fill(metadataSequences, NONE);
    }

    /// Before the first use: lets [#guard] write slot guards.
    public RepairStore guardedBy(final SlotGuards words) {
        guards = words;
        return this;
    }

    /// Other processes read the replica, now or later: from now on each datagram gets its slot guard as it comes.
    public boolean guard() {
        guarding = guards != null;
        return guarding;
    }

    public int slots() {
        return slots;
    }

    public int slot(final long sequence) {
        return (int) sequence & slots - 1;
    }

    /// The source itself writes the replica from this sequence on; earlier sequences came by datagram.
    public void feedFrom(final long sequence) {
        feedFrom = sequence;
    }

    /// The source no longer writes the replica.
    public void unfed() {
        feedFrom = UNFED;
    }

    /// Whether an accepted datagram is to be put here by [#putPayload] and [#putHeader].
    public boolean wants(final long sequence) {
        return !awaits(sequence) && (feedFrom == UNFED || !holds(sequence));
    }

    /// Holds a datagram that the source wrote into a slot with the header of that sequence, if its slot guard is
    /// valid.
    public boolean take(final long sequence, final int payloadBytes) {
        final int slot = slot(sequence);
        final SlotGuards words = guards;
        sequences[slot] = NONE;
        payloadLengths[slot] = payloadBytes;
        if (words == null || !words.isValid(slot, sequence)) {
            return false;
        }
        sequences[slot] = sequence;
        return true;
    }

    /// Whether the source will write this sequence, or has written it.
    public boolean awaits(final long sequence) {
        return feedFrom != UNFED && sequence >= feedFrom;
    }

    /// `[slots][40]`.
    public MemorySegment headers() {
        return headers;
    }

    /// `[slots][slotBytes]`.
    public MemorySegment payloads() {
        return payloads;
    }

    /// Length of the payload of a held sequence.
    public int payloadBytes(final long sequence) {
        return payloadLengths[slot(sequence)];
    }

    public int slotBytes() {
        return slotBytes;
    }

    public boolean holds(final long sequence) {
        return sequences[slot(sequence)] == sequence;
    }

    /// Copies the payload of an accepted datagram; [#putHeader] completes it.
    ///
    /// @param payloadBytes at most `slotBytes`
    public void putPayload(
            final long sequence, final MemorySegment payload, final long payloadOffset, final int payloadBytes) {
        final int slot = slot(sequence);
        sequences[slot] = NONE;
        final SlotGuards words = guards;
        if (guarding && words != null) {
            words.wipe(slot);
        }
        MemorySegment.copy(payload, payloadOffset, payloads, (long) slot * slotBytes, payloadBytes);
        payloadLengths[slot] = payloadBytes;
    }

    /// Copies the header, and holds the datagram from now on. The header comes last: a transport that still reads
    /// the slot for an older repair must not find the new header with the old payload. The old header with the new
    /// payload is a duplicate to every receiver.
    public void putHeader(final long sequence, final MemorySegment header, final long headerOffset) {
        final int slot = slot(sequence);
        MemorySegment.copy(header, headerOffset, headers, (long) slot * DataLayout.LENGTH, DataLayout.LENGTH);
        final SlotGuards words = guards;
        if (guarding && words != null) {
            words.seal(slot, sequence);
        }
        sequences[slot] = sequence;
    }

    /// Keeps a frame's metadata.
    public void putMetadata(final long firstSequence, final byte[] bytes) {
        metadataSequences[slot(firstSequence)] = firstSequence;
        metadata[slot(firstSequence)] = bytes;
    }

    public byte @Nullable [] metadata(final long firstSequence) {
        return metadataSequences[slot(firstSequence)] == firstSequence ? metadata[slot(firstSequence)] : null;
    }

    /// One datagram, header and payload, for callers that do not gather. Allocates.
    public byte[] datagram(final long sequence) {
        final int slot = slot(sequence);
        final byte[] bytes = new byte[DataLayout.LENGTH + payloadLengths[slot]];
        MemorySegment.copy(headers, JAVA_BYTE, (long) slot * DataLayout.LENGTH, bytes, 0, DataLayout.LENGTH);
        MemorySegment.copy(
                payloads, JAVA_BYTE, (long) slot * slotBytes, bytes, DataLayout.LENGTH, payloadLengths[slot]);
        return bytes;
    }
}
