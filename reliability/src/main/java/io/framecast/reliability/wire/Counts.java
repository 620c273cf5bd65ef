package io.framecast.reliability.wire;

import java.util.List;
import java.util.function.LongSupplier;

/// Counters, one for each constant of an enum. One thread writes; other threads may read stale values.
public final class Counts<K extends Enum<K>> {
    private final List<K> kinds;
    private final long[] values;

    public Counts(final Class<K> kinds) {
        this.kinds = List.of(kinds.getEnumConstants());
        values = new long[this.kinds.size()];
    }

    /// All constants of the enum, in its order.
    public List<K> kinds() {
        return kinds;
    }

    public void add(final K kind) {
        values[kind.ordinal()]++;
    }

    public void add(final K kind, final long more) {
        values[kind.ordinal()] += more;
    }

    public void set(final K kind, final long value) {
        values[kind.ordinal()] = value;
    }

    public long get(final K kind) {
        return values[kind.ordinal()];
    }

    public LongSupplier of(final K kind) {
        return () -> get(kind);
    }
}
