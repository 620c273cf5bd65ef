package io.framecast.reliability.sim.record;

import io.framecast.reliability.wire.DataLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// The source's published frames, and the payload of every frame as a function of seed, frame and offset.
public final class SimFrames {
    /// One published frame.
    ///
    /// @param id its number
    /// @param firstSequence of its datagrams
    /// @param format empty for none
    public record Frame(
            long id, long firstSequence, long bytes, int flags, long timestampNs, byte[] metadata, byte[] format) {
        public Frame at(final long sequence) {
            return new Frame(id, sequence, bytes, flags, timestampNs, metadata, format);
        }

        /// As it is sent from memory of its owner's.
        public Frame gathered() {
            final int all = flags | DataLayout.FLAG_GATHERED;
            return new Frame(id, firstSequence, bytes, all, timestampNs, metadata, format);
        }
    }

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long FRAME_STEP = 0x9e3779b97f4a7c15L;
    private static final long WORD_STEP = 0xd1342543de82ef95L;

    private final long seed;
    private final long firstId;
    private final List<Frame> frames = new ArrayList<>();
    private long nextSequence;

    public SimFrames(final long seed, final long firstId) {
        this.seed = seed;
        this.firstId = firstId;
    }

    /// A frame that takes `slots` slots from `firstSequence` on; one slot may be that of the frame before.
    public Frame add(final Frame frame, final long slots) {
        frames.add(frame);
        nextSequence = frame.firstSequence + slots;
        return frame;
    }

    public long nextId() {
        return firstId + frames.size();
    }

    public int count() {
        return frames.size();
    }

    public boolean contains(final long id) {
        return id >= firstId && id < nextId();
    }

    public Frame get(final long id) {
        return frames.get((int) (id - firstId));
    }

    /// The number of the first frame that begins at or after a sequence; it may not be published yet.
    public long idFrom(final long sequence) {
        int low = 0;
        int high = frames.size();
        while (low < high) {
            final int middle = (low + high) >>> 1;
            if (frames.get(middle).firstSequence < sequence) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return firstId + low;
    }

    /// Behind a frame: the first sequence of the next one, but for those that share its slot.
    public long endSequence(final long id) {
        for (long next = id + 1; next < nextId(); next++) {
            if (get(next).firstSequence > get(id).firstSequence) {
                return get(next).firstSequence;
            }
        }
        return nextSequence;
    }

    /// The first sequence of a frame, or of the next one.
    public long firstSequence(final long id) {
        return contains(id) ? get(id).firstSequence : nextSequence;
    }

    /// Writes payload bytes; `offset` is a multiple of 8.
    public void fill(final long id, final long offset, final byte[] target, final int at, final int bytes) {
        int done = 0;
        while (done + 8 <= bytes) {
            WORDS.set(target, at + done, word(id, offset + done));
            done += 8;
        }
        final long last = word(id, offset + done);
        for (int shift = 0; done < bytes; done++, shift += 8) {
            target[at + done] = (byte) (last >>> shift);
        }
    }

    /// Compares payload bytes.
    ///
    /// @return position of the first wrong byte, or −1
    public int mismatch(final long id, final long offset, final byte[] actual, final int at, final int bytes) {
        int done = 0;
        while (done + 8 <= bytes) {
            if ((long) WORDS.get(actual, at + done) != word(id, offset + done)) {
                return done;
            }
            done += 8;
        }
        final long last = word(id, offset + done);
        for (int shift = 0; done < bytes; done++, shift += 8) {
            if (actual[at + done] != (byte) (last >>> shift)) {
                return done;
            }
        }
        return -1;
    }

    private long word(final long id, final long offset) {
        return mix(seed + id * FRAME_STEP + offset * WORD_STEP);
    }

    /// Spreads every bit over all others (the finalizer of SplitMix64).
    static long mix(final long value) {
        long z = value;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
