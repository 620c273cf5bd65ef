package io.framecast.reliability.sim.shared;

import io.framecast.reliability.group.SegmentMemory;
import io.framecast.reliability.group.TableLayout;
import java.util.function.Consumer;

/// The memory that a leader of a simulated host group shares in one session: its ring, and the words of
/// docs/host-segment.md. It outlives its leader. Each store to the words is a point at which the process that
/// stores may die.
public final class SimSegment {
    private final byte[] ring;
    private final TableLayout layout;
    private final byte[] words;

    /// @param ring of the leader, which goes on at its start
    public SimSegment(final byte[] ring, final TableLayout layout) {
        this.ring = ring;
        this.layout = layout;
        words = new byte[layout.wordsBytes()];
    }

    public byte[] ring() {
        return ring;
    }

    public TableLayout layout() {
        return layout;
    }

    /// The words as a process maps them.
    ///
    /// @param store hears of each store of that process in front of it, and may end the process
    public SegmentMemory map(final Consumer<Step> store) {
        return new SimWords(words, layout, store);
    }

    /// The words as they look to an injected bug: an entry that is being written is there.
    public SegmentMemory mapTorn(final Consumer<Step> store) {
        return new TornWords(words, layout, store);
    }

    /// Copies bytes of the ring.
    public byte[] read(final long offset, final int bytes) {
        final byte[] found = new byte[bytes];
        final int head = (int) Math.min(bytes, ring.length - offset);
        System.arraycopy(ring, (int) offset, found, 0, head);
        System.arraycopy(ring, 0, found, head, bytes - head);
        return found;
    }
}
