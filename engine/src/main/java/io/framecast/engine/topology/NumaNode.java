package io.framecast.engine.topology;

import java.util.BitSet;

/// A NUMA node of this host.
///
/// @param cpus its CPUs as Linux writes them, `0-15,32-47`; empty where it has memory alone
/// @param memoryBytes 0 where that is not known
public record NumaNode(int id, String cpus, long memoryBytes) {
    /// Of a device without a known node.
    public static final int UNKNOWN = -1;

    private static final int CPUS_MAX = 1 << 16;

    /// @return empty for a list that cannot be read
    static BitSet cpus(final String list) {
        final BitSet cpus = new BitSet();
        for (final String range : list.strip().split(",", -1)) {
            if (range.matches("\\d{1,6}(-\\d{1,6})?")) {
                final int dash = range.indexOf('-');
                final int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
                final int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
                if (first <= last && last < CPUS_MAX) {
                    cpus.set(first, last + 1);
                }
            }
        }
        return cpus;
    }

    int count(final BitSet of) {
        final BitSet common = cpus(cpus);
        common.and(of);
        return common.cardinality();
    }
}
