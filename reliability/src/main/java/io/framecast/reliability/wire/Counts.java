package io.framecast.reliability.wire;

import java.util.function.LongSupplier;

/// Counters, one for each constant of an enum. One thread writes; other threads may read stale values.
public final class Counts<K extends Enum<K>> {
    private final long[] values;

    public Counts(final Class<K> kinds) {
        values = new long[kinds.getEnumConstants().length];
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
