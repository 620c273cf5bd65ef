package io.framecast.engine.net;

import io.framecast.api.spi.ReceiveRing;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The memory of a receive ring's payloads. A payload goes to its slot. Where [io.framecast.api.spi.Lane#redirect]
/// gave the slot other memory, the payload's first bytes go there.
///
/// One thread; allocates at the first redirection alone.
public final class RedirectedSlots {
    private final MemorySegment payload;
    private final int payloadBytes;
    private final int slots;
    // By slot; empty before the first redirection.
    private @Nullable MemorySegment[] memory = {};
    private long[] offsets = {};
    private int[] rooms = {};
    private int redirected;

    /// @param ring whose payloads the host addresses
    public RedirectedSlots(final ReceiveRing ring) {
        payload = ring.payload().host();
        payloadBytes = ring.payloadBytes();
        slots = ring.slots();
    }

    /// Redirects a slot.
    ///
    /// @param to null for the slot itself
    /// @param bytes that go there; the rest goes to the slot
    public void redirect(final int slot, final @Nullable MemorySegment to, final long offset, final int bytes) {
        if (memory.length == 0) {
            if (to == null) {
                return;
            }
            memory = new MemorySegment[slots];
            offsets = new long[slots];
            rooms = new int[slots];
        }
        if (to != null && (bytes <= 0 || bytes > payloadBytes || offset < 0 || offset > to.byteSize() - bytes)) {
            throw new IllegalArgumentException("redirect: expected 1 … " + payloadBytes + " bytes within "
                    + to.byteSize() + ", got " + bytes + " at " + offset);
        }
        redirected += (to == null ? 0 : 1) - (memory[slot] == null ? 0 : 1);
        memory[slot] = to;
        offsets[slot] = offset;
        rooms[slot] = to == null ? 0 : bytes;
    }

    /// Every slot takes its own payload again.
    public void clear() {
        if (redirected > 0) {
            Arrays.fill(memory, null);
            Arrays.fill(rooms, 0);
            redirected = 0;
        }
    }

    /// Whether any slot is redirected.
    public boolean hasAny() {
        return redirected > 0;
    }

    /// Bytes of a slot's payload that go to other memory; 0 for none.
    public int room(final int slot) {
        return redirected == 0 ? 0 : rooms[slot];
    }

    /// The address that these bytes go to.
    public long address(final int slot) {
        return Objects.requireNonNull(memory[slot]).address() + offsets[slot];
    }

    /// Writes a payload to the memory of a slot.
    public void put(final MemorySegment from, final long at, final int slot, final int bytes) {
        final int there = Math.min(bytes, room(slot));
        if (there > 0) {
            MemorySegment.copy(from, at, Objects.requireNonNull(memory[slot]), offsets[slot], there);
        }
        MemorySegment.copy(from, at + there, payload, place(slot) + there, bytes - there);
    }

    /// Reads a payload from the memory of a slot.
    public void get(final int slot, final MemorySegment to, final long at, final int bytes) {
        final int there = Math.min(bytes, room(slot));
        if (there > 0) {
            MemorySegment.copy(Objects.requireNonNull(memory[slot]), offsets[slot], to, at, there);
        }
        MemorySegment.copy(payload, place(slot) + there, to, at + there, bytes - there);
    }

    /// Moves a payload from one slot's place to another's.
    public void move(final int from, final int to, final int bytes) {
        final int there = Math.min(bytes, room(from));
        final MemorySegment source = there > 0 ? Objects.requireNonNull(memory[from]) : payload;
        final long at = there > 0 ? offsets[from] : place(from);
        if (there == 0 || there == bytes) {
            put(source, at, to, bytes);
            return;
        }
        // The slots may share memory, but each part is read before it is written.
        final byte[] whole = new byte[bytes];
        get(from, MemorySegment.ofArray(whole), 0, bytes);
        put(MemorySegment.ofArray(whole), 0, to, bytes);
    }

    private long place(final int slot) {
        return (long) slot * payloadBytes;
    }
}
