package io.framecast.reliability.window;

/// The received sequences: a bitmap over `[next, next + capacity)`. `next` is the first sequence missing (all below
/// were received), `end` the first one of which nothing is known yet.
///
/// Pure state; one thread.
public final class ReceiveWindow {
    private final long[] bits;
    private final int mask;
    private long next;
    private long end;
    // Received sequences in [next, end): those behind a gap.
    private long ahead;

    /// Makes a window for at least `slots` sequences.
    public ReceiveWindow(final int slots) {
        final int capacity = Math.max(64, Integer.highestOneBit(Math.max(1, slots - 1)) << 1);
        bits = new long[capacity >>> 6];
        mask = capacity - 1;
    }

    public int capacity() {
        return mask + 1;
    }

    /// Index of a sequence in tables of [#capacity] entries.
    public int index(final long sequence) {
        return (int) sequence & mask;
    }

    /// Empties the window; `first` is the first sequence wanted.
    public void reset(final long first) {
        java.util.Arrays.fill(bits, 0);
        next = first;
        end = first;
        ahead = 0;
    }

    public long next() {
        return next;
    }

    public long end() {
        return end;
    }

    /// Sequences below `end` that have not arrived.
    public long missing() {
        return end - next - ahead;
    }

    public boolean isReceived(final long sequence) {
        return sequence < next || (sequence < end && bit(sequence));
    }

    /// Learns that sequences below `knownEnd` were sent.
    public void extend(final long knownEnd) {
        end = Math.max(end, knownEnd);
    }

    /// Marks a sequence, not received before, in `[next, next + capacity)`.
    public void receive(final long sequence) {
        extend(sequence + 1);
        if (sequence != next) {
            bits[index(sequence) >>> 6] |= 1L << sequence;
            ahead++;
            return;
        }
        next++;
        while (ahead > 0 && bit(next)) {
            bits[index(next) >>> 6] &= ~(1L << next);
            next++;
            ahead--;
        }
    }

    /// Marks the `count` sequences from `end` on, of which nothing was known.
    public void receiveAtEnd(final int count) {
        final long last = end + count;
        if (next == end) {
            next = last;
        } else {
            ahead += count;
            for (long sequence = end; sequence < last; sequence = (sequence | 63) + 1) {
                final long after = Math.min(last, (sequence | 63) + 1) - sequence;
                bits[index(sequence) >>> 6] |= (-1L >>> (64 - after)) << sequence;
            }
        }
        end = last;
    }

    /// Gives up missing sequences below `first`, as if all of them had been received.
    public void skipTo(final long first) {
        for (long sequence = next; sequence < Math.min(first, end); sequence++) {
            if (ahead > 0 && bit(sequence)) {
                bits[index(sequence) >>> 6] &= ~(1L << sequence);
                ahead--;
            }
        }
        next = Math.max(next, first);
        extend(next);
        while (ahead > 0 && bit(next)) {
            bits[index(next) >>> 6] &= ~(1L << next);
            next++;
            ahead--;
        }
    }

    /// The first sequence at or after `from`, below `end`, that is missing; `end` when there is none.
    public long nextMissing(final long from) {
        long sequence = Math.max(from, next);
        while (sequence < end) {
            final long word = ~bits[index(sequence) >>> 6] >>> (sequence & 63);
            if (word != 0) {
                return Math.min(end, sequence + Long.numberOfTrailingZeros(word));
            }
            sequence = (sequence | 63) + 1;
        }
        return end;
    }

    /// The first sequence at or after `from` that was not received.
    public long nextUnreceived(final long from) {
        long sequence = from;
        while (isReceived(sequence)) {
            sequence++;
        }
        return sequence;
    }

    /// How many sequences from `first` on were not received, at most `max`.
    public int unreceivedRun(final long first, final int max) {
        int run = 0;
        while (run < max && !isReceived(first + run)) {
            run++;
        }
        return run;
    }

    private boolean bit(final long sequence) {
        return (bits[index(sequence) >>> 6] & 1L << sequence) != 0;
    }
}
