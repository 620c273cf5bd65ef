package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// ACK, receiver → source or co-root: cumulative acknowledgement and credit. From a co-root to the source, with
/// [#FLAG_AGGREGATE], the least of its group's (Subramoni, co-root scheme). The epoch in the header is the newest
/// that the sender of the ACK obeys.
///
/// ```
///  32 acknowledged u64 (all below were received)  40 grant u64 (the source may send all below)
///  48 highest u64 (1 + highest received)  56 echoTimeNs i64 (the newest heartbeat's source time)
///  64 echoDelayNs u32 (how long the echo was held)  68 covered u32 (aggregate: covers members that joined
///  the group up to this epoch)  72 slowestMember u64 (aggregate only: id of the member with the least
///  acknowledgement or grant)
/// ```
public final class AckLayout {
    /// Echo field of a receiver that has heard no heartbeat yet.
    public static final long NO_ECHO = Long.MIN_VALUE;
    /// The receiver knows the stream's end and has everything up to it: the source may close.
    public static final int FLAG_COMPLETE = 1;
    /// Covers a whole group.
    public static final int FLAG_AGGREGATE = 2;

    static final int ACKNOWLEDGED = 32;
    static final int GRANT = 40;
    static final int HIGHEST = 48;
    static final int ECHO_TIME = 56;
    static final int ECHO_DELAY = 64;
    static final int COVERED = 68;
    static final int LENGTH = 72;
    static final int SLOWEST_MEMBER = 72;
    static final int AGGREGATE_LENGTH = 80;

    private AckLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == (isAggregate(datagram, offset) ? AGGREGATE_LENGTH : LENGTH)
                && isSound(datagram, offset);
    }

    /// Whether a body of [#LENGTH] bytes is possible, in an ACK or in a NACK.
    static boolean isSound(final MemorySegment datagram, final long offset) {
        return acknowledged(datagram, offset) >= 0
                && highest(datagram, offset) >= acknowledged(datagram, offset)
                && grant(datagram, offset) >= acknowledged(datagram, offset);
    }

    public static boolean isAggregate(final MemorySegment datagram, final long offset) {
        return (ControlLayout.flags(datagram, offset) & FLAG_AGGREGATE) != 0;
    }

    public static boolean isComplete(final MemorySegment datagram, final long offset) {
        return (ControlLayout.flags(datagram, offset) & FLAG_COMPLETE) != 0;
    }

    public static int covered(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + COVERED);
    }

    public static long slowestMember(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + SLOWEST_MEMBER);
    }

    public static long acknowledged(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + ACKNOWLEDGED);
    }

    public static long grant(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + GRANT);
    }

    public static long highest(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + HIGHEST);
    }

    public static long echoTimeNs(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + ECHO_TIME);
    }

    public static long echoDelayNs(final MemorySegment datagram, final long offset) {
        return Integer.toUnsignedLong(datagram.get(Wire.INT, offset + ECHO_DELAY));
    }

    public static int write(
            final MemorySegment datagram, final ControlIds ids, final AckValues values, final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_ACK, values.flags, ids);
        writeBody(datagram, values);
        if ((values.flags & FLAG_AGGREGATE) == 0) {
            return ControlLayout.seal(datagram, LENGTH, checksum);
        }
        datagram.set(Wire.LONG, SLOWEST_MEMBER, values.slowestMember);
        return ControlLayout.seal(datagram, AGGREGATE_LENGTH, checksum);
    }

    static void writeBody(final MemorySegment datagram, final AckValues values) {
        datagram.set(Wire.LONG, ACKNOWLEDGED, values.acknowledged);
        datagram.set(Wire.LONG, GRANT, values.grant);
        datagram.set(Wire.LONG, HIGHEST, values.highest);
        datagram.set(Wire.LONG, ECHO_TIME, values.echoTimeNs);
        datagram.set(Wire.INT, ECHO_DELAY, (int) Math.min(values.echoDelayNs, 0xffff_ffffL));
        datagram.set(Wire.INT, COVERED, values.covered);
    }
}
