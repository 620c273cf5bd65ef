package io.framecast.api.spi;

import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;

/// Counts of the resources that a device gave out and did not get back, by kind: a backend counts, counters and
/// tests read. All counts are zero once every resource is closed, also where some calls failed. Any thread;
/// nothing allocates.
public final class DeviceResources {
    /// Kinds of resources. Each counts objects, but PINNED_BYTES counts bytes.
    public enum Kind {
        /// Allocations of device memory; [DeviceBackend#allocatedBytes] has their bytes.
        REGIONS,
        /// Bytes of pinned host memory.
        PINNED_BYTES,
        /// Registered ranges of memory that the device did not allocate.
        REGISTRATIONS,
        STREAMS,
        EVENTS,
        /// Mappings of device memory for the CPU.
        MAPPINGS,
        /// Allocations that a NIC may write.
        EXPORTS,
        /// Memory of other processes that is open here.
        IMPORTS;

        /// As counters name it.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final Kind[] KINDS = Kind.values();

    private final AtomicLongArray counts = new AtomicLongArray(KINDS.length);
    private volatile boolean closed;

    /// Something was given out.
    public void take(final Kind kind, final long count) {
        if (!closed) {
            counts.addAndGet(kind.ordinal(), count);
        }
    }

    /// Something came back, or is gone with the device.
    public void give(final Kind kind, final long count) {
        take(kind, -count);
    }

    public long inUse(final Kind kind) {
        return counts.get(kind.ordinal());
    }

    /// The device was closed: everything is gone, and a late close changes nothing.
    public void close() {
        closed = true;
        for (int i = 0; i < KINDS.length; i++) {
            counts.set(i, 0);
        }
    }

    /// Resources in use: `2 streams, 1 events`; empty when no resource is.
    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder();
        for (final Kind kind : KINDS) {
            if (inUse(kind) != 0) {
                text.append(text.isEmpty() ? "" : ", ")
                        .append(inUse(kind))
                        .append(' ')
                        .append(kind.word());
            }
        }
        return text.toString();
    }
}
