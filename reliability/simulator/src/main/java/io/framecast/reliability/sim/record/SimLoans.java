package io.framecast.reliability.sim.record;

import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Memory of frames that are sent from where they are, such as a GPU's: the source's lanes read a slot's payload
/// there. The owner uses the memory again as soon as the window is free of the frame.
public final class SimLoans {
    private final SendWindow window;
    private final WindowMemory memory;
    // By slot; null where the payload lies in the window.
    private final @Nullable MemorySegment[] places;
    private final ArrayDeque<Loan> loans = new ArrayDeque<>();

    /// @param end behind the frame's last sequence
    private record Loan(byte[] bytes, long end) {}

    public SimLoans(final SendWindow window) {
        this.window = window;
        memory = window.memory();
        places = new MemorySegment[memory.slots() + 1];
        window.onPayload(slot -> places[slot] = null);
    }

    /// Lends a frame's memory to the window's next slots; the frame's commit follows.
    public void lend(final SimFrames frames, final SimFrames.Frame frame, final long slots) {
        final byte[] bytes = new byte[(int) frame.bytes()];
        frames.fill(frame.id(), 0, bytes, 0, bytes.length);
        final long first = window.cursor();
        for (int i = 0; i < slots; i++) {
            final int at = i * memory.slotBytes();
            places[window.slot(first + i)] =
                    MemorySegment.ofArray(bytes).asSlice(at, Math.min(memory.slotBytes(), bytes.length - at));
        }
        loans.add(new Loan(bytes, first + slots));
    }

    /// Gives memory back that the window does not need any more: its owner writes something else into it.
    public void reap() {
        while (!loans.isEmpty() && loans.getFirst().end <= window.freed()) {
            Arrays.fill(loans.removeFirst().bytes, (byte) 0xa5);
        }
    }

    /// Copies a slot's payload, from wherever it is sent.
    public void copy(final int slot, final byte[] target, final int at) {
        final int bytes = memory.lengths()[slot];
        final MemorySegment place = places[slot];
        if (place == null) {
            MemorySegment.copy(memory.payload(), ValueLayout.JAVA_BYTE, memory.payloadOffset(slot), target, at, bytes);
        } else {
            MemorySegment.copy(place, ValueLayout.JAVA_BYTE, 0, target, at, bytes);
        }
    }
}
