package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

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

    private final WindowMemory memory;
    private final long[] sequences;
    private final long[] metadataSequences;
    private final byte[] @Nullable [] metadata;
    private @Nullable SlotGuards guards;
    private boolean guarding;
    private long feedFrom = UNFED;

    /// Makes an empty store.
    public RepairStore(final WindowMemory memory) {
        this.memory = memory;
        final int slots = memory.slots();
        sequences = new long[slots];
        metadataSequences = new long[slots];
        metadata = new byte[slots][];
        java.util.Arrays.fill(sequences, NONE);
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
        return memory.slots();
    }

    public int slot(final long sequence) {
        return memory.slot(sequence);
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
        memory.lengths()[slot] = payloadBytes;
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

    /// `[slots][headerBytes]`.
    public MemorySegment headers() {
        return memory.headers();
    }

    /// `[slots][slotBytes]`.
    public MemorySegment payloads() {
        return memory.payload();
    }

    /// Length of the payload of a held sequence.
    public int payloadBytes(final long sequence) {
        return memory.lengths()[slot(sequence)];
    }

    public int headerBytes() {
        return memory.headerBytes();
    }

    public int slotBytes() {
        return memory.slotBytes();
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
        MemorySegment.copy(payload, payloadOffset, memory.payload(), memory.payloadOffset(slot), payloadBytes);
        memory.lengths()[slot] = payloadBytes;
    }

    /// Copies the header, and holds the datagram from now on. The header comes last: a transport that still reads
    /// the slot for an older repair must not find the new header with the old payload. The old header with the new
    /// payload is a duplicate to every receiver.
    public void putHeader(final long sequence, final MemorySegment header, final long headerOffset) {
        final int slot = slot(sequence);
        MemorySegment.copy(header, headerOffset, memory.headers(), memory.headerOffset(slot), memory.headerBytes());
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
        final byte[] bytes = new byte[memory.headerBytes() + memory.lengths()[slot]];
        MemorySegment.copy(memory.headers(), JAVA_BYTE, memory.headerOffset(slot), bytes, 0, memory.headerBytes());
        MemorySegment.copy(
                memory.payload(),
                JAVA_BYTE,
                memory.payloadOffset(slot),
                bytes,
                memory.headerBytes(),
                memory.lengths()[slot]);
        return bytes;
    }
}
