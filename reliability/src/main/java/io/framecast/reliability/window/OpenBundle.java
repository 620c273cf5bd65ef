package io.framecast.reliability.window;

import io.framecast.reliability.wire.BundleLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The bundle that small frames are being added to: one word with its progress, changed by compare-and-set, and the
/// entries of its table.
///
/// Two threads meet here and neither ever waits. The producer adds frames: a claim moves the word's end, and a
/// commit moves its count and its used bytes. The consumer takes the bundle as it stands when it has nothing else
/// to send. The thread that sets the word to [#NONE] has closed the bundle and seals it; the other thread's next
/// change fails.
///
/// Entries are not kept in the slot, because the table's place is known only at the end. There are several tables,
/// used in turn, so that the producer goes on while the consumer still seals a bundle. See [#isFree].
final class OpenBundle {
    /// No bundle is open.
    static final long NONE = 0;

    private static final int TABLES = 8;
    // Lengths in units of 8 bytes: a slot has at most 65 472.
    private static final int UNIT_SHIFT = 3;
    private static final int END_BITS = 14;
    private static final long END_MASK = (1 << END_BITS) - 1;
    private static final int CLAIM_SHIFT = END_BITS;
    private static final int COUNT_SHIFT = 2 * END_BITS;
    private static final long COUNT_MASK = 0x7f;
    private static final long OPEN = 1L << 35;
    // The sequence's low bits, so that a stale word is not taken for a later bundle's.
    private static final int TAG_SHIFT = 36;

    private static final VarHandle WORD;
    private static final VarHandle SEALED;

    static {
        try {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            WORD = lookup.findVarHandle(OpenBundle.class, "word", long.class);
            SEALED = lookup.findVarHandle(OpenBundle.class, "sealed", long.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // `[sequence mod TABLES][frame]`, and the header's fields of the first frame.
    private final long[][] entries = new long[TABLES][BundleLayout.FRAMES_MAX];
    private final long[] firstFrameIds = new long[TABLES];
    private final long[] timestampsNs = new long[TABLES];
    private final int[] formats = new int[TABLES];
    private final int[] flags = new int[TABLES];
    private volatile long word;
    // Behind the last bundle that the consumer took and sealed.
    private volatile long sealed;

    static boolean isOpen(final long word, final long sequence) {
        return (word & OPEN) != 0 && word >>> TAG_SHIFT == (sequence << TAG_SHIFT) >>> TAG_SHIFT;
    }

    static int count(final long word) {
        return (int) (word >>> COUNT_SHIFT & COUNT_MASK);
    }

    /// Where the last payload ends, rounded up to 8 bytes.
    static int usedBytes(final long word) {
        return (int) (word & END_MASK) << UNIT_SHIFT;
    }

    /// The claimed bytes lie below; the table goes behind them.
    static int claimedBytes(final long word) {
        return (int) (word >>> CLAIM_SHIFT & END_MASK) << UNIT_SHIFT;
    }

    static int roundUp(final int bytes) {
        return bytes + (1 << UNIT_SHIFT) - 1 & -(1 << UNIT_SHIFT);
    }

    private static long word(final long sequence, final int count, final int usedBytes, final int claimedBytes) {
        return sequence << TAG_SHIFT
                | OPEN
                | (long) count << COUNT_SHIFT
                | (long) (claimedBytes >>> UNIT_SHIFT) << CLAIM_SHIFT
                | usedBytes >>> UNIT_SHIFT;
    }

    long word() {
        return word;
    }

    /// Producer: whether the table of a bundle may be overwritten, because the consumer has sealed the last bundle
    /// that it took with the same table. `lastTaken` is the last bundle taken.
    boolean isFree(final long sequence, final long lastTaken) {
        return sequence - lastTaken < TABLES || sealed > lastTaken;
    }

    /// Producer: opens a bundle without frames, which the consumer does not take yet, with room claimed for the
    /// first.
    void open(final long sequence, final int bytes) {
        WORD.setRelease(this, word(sequence, 0, 0, roundUp(bytes)));
    }

    /// Producer: claims the bytes up to `endBytes`.
    boolean claim(final long seen, final long sequence, final int endBytes) {
        return WORD.compareAndSet(this, seen, word(sequence, count(seen), usedBytes(seen), roundUp(endBytes)));
    }

    /// Producer: takes the claim back.
    boolean abort(final long seen, final long sequence) {
        return WORD.compareAndSet(this, seen, word(sequence, count(seen), usedBytes(seen), usedBytes(seen)));
    }

    /// Producer: the frame claimed is complete.
    boolean append(final long seen, final long sequence, final long entry) {
        final int count = count(seen);
        entries[table(sequence)][count] = entry;
        final int endBytes = claimedBytes(seen);
        return WORD.compareAndSet(this, seen, word(sequence, count + 1, endBytes, endBytes));
    }

    /// Producer: sets the header's fields of the first frame; before it is appended.
    void first(final long sequence, final long frameId, final long timestampNs, final int format, final int flag) {
        firstFrameIds[table(sequence)] = frameId;
        timestampsNs[table(sequence)] = timestampNs;
        formats[table(sequence)] = format;
        flags[table(sequence)] = flag;
    }

    /// Either: closes the bundle as it was seen.
    ///
    /// @return whether the caller has closed it, and seals it
    boolean close(final long seen) {
        return WORD.compareAndSet(this, seen, NONE);
    }

    /// Consumer: the bundle it took is sealed.
    void sealed(final long sequence) {
        SEALED.setRelease(this, sequence + 1);
    }

    long entry(final long sequence, final int index) {
        return entries[table(sequence)][index];
    }

    long firstFrameId(final long sequence) {
        return firstFrameIds[table(sequence)];
    }

    long timestampNs(final long sequence) {
        return timestampsNs[table(sequence)];
    }

    /// Of the whole datagram, beside those of its frames.
    int flags(final long sequence) {
        return flags[table(sequence)];
    }

    int format(final long sequence) {
        return formats[table(sequence)];
    }

    private static int table(final long sequence) {
        return (int) sequence & TABLES - 1;
    }
}
