package io.framecast.perf.streaming;

import java.util.ArrayList;
import java.util.List;

/// The paths of frames over unicast. Rank 0 is the source.
///
/// @param radix k of a k-nomial tree; 1 for a ring, which is a tree that does not branch; as many as there are
/// processes
///     where the source sends to each
record Topology(int radix, int processes) {
    private static final int RING = 1;

    static Topology of(final StreamingSpec spec) {
        final int processes = spec.receivers() + 1;
        return switch (spec.contender().scheme()) {
            case Scheme.RING -> new Topology(RING, processes);
            case Scheme.UNICAST -> new Topology(processes, processes);
            default -> new Topology(spec.contender().radix(), processes);
        };
    }

    /// The one that a rank gets its frames from.
    ///
    /// @param rank not the source's
    int parent(final int rank) {
        if (radix == RING) {
            return rank - 1;
        }
        // The lowest digit that is not 0 becomes 0.
        return rank - rank % (lowestDigit(rank) * radix);
    }

    /// Those that a rank passes frames on to, who has most below it first.
    List<Integer> children(final int rank) {
        if (radix == RING) {
            return rank + 1 < processes ? List.of(rank + 1) : List.of();
        }
        final List<Integer> children = new ArrayList<>();
        for (int digit = highestDigit(rank); digit >= 1; digit /= radix) {
            for (int i = 1; i < radix; i++) {
                if (rank + i * digit < processes) {
                    children.add(rank + i * digit);
                }
            }
        }
        return children;
    }

    // Worth of the lowest digit that is not 0.
    private int lowestDigit(final int rank) {
        int digit = 1;
        while (rank / digit % radix == 0) {
            digit *= radix;
        }
        return digit;
    }

    // Worth of the highest digit that a child of this rank may have more.
    private int highestDigit(final int rank) {
        int digit = 1;
        while (digit * radix < processes && (rank == 0 || digit * radix < lowestDigit(rank))) {
            digit *= radix;
        }
        return rank != 0 && lowestDigit(rank) == 1 ? 0 : digit;
    }
}
