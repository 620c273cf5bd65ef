package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// ACK, receiver → source or co-root: cumulative acknowledgement and credit. From a co-root to the source, with
/// [#FLAG_AGGREGATE], the least of its group's (Subramoni, co-root scheme). The epoch in the header is the newest
/// that the sender of the ACK obeys.
///
/// ```
///  40 acknowledged u64 (all below were received)  48 grant u64 (the source may send all below)
///  56 highest u64 (1 + highest received)  64 echoTimeNs i64 (the newest heartbeat's source time)
///  72 echoDelayNs u32 (how long the echo was held)  76 covered u32 (aggregate: covers members that joined
///  the group up to this epoch)  80 slowestMember u64 (aggregate only: id of the member with the least
///  acknowledgement or grant)
/// ```
public final class AckLayout {
    /// Echo field of a receiver that has heard no heartbeat yet.
    public static final long NO_ECHO = Long.MIN_VALUE;
    /// The receiver knows the stream's end and has everything up to it: the source may close.
    public static final int FLAG_COMPLETE = 1;
    /// Covers a whole group.
    public static final int FLAG_AGGREGATE = 2;

    public static final LongField ACKNOWLEDGED = new LongField(40);
    public static final LongField GRANT = new LongField(48);
    public static final LongField HIGHEST = new LongField(56);
    public static final LongField ECHO_TIME = new LongField(64);
    /// Unsigned.
    public static final IntField ECHO_DELAY = new IntField(72);
    public static final IntField COVERED = new IntField(76);
    static final int LENGTH = 80;
    public static final LongField SLOWEST_MEMBER = new LongField(80);
    static final int AGGREGATE_LENGTH = 88;

    private AckLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset)
                        == (isAggregate(datagram, offset) ? AGGREGATE_LENGTH : LENGTH)
                && isSound(datagram, offset);
    }

    /// Whether a body of [#LENGTH] bytes is possible, in an ACK or in a NACK.
    static boolean isSound(final MemorySegment datagram, final long offset) {
        final long acknowledged = ACKNOWLEDGED.get(datagram, offset);
        return acknowledged >= 0
                && HIGHEST.get(datagram, offset) >= acknowledged
                && GRANT.get(datagram, offset) >= acknowledged;
    }

    public static boolean isAggregate(final MemorySegment datagram, final long offset) {
        return (ControlLayout.FLAGS.get(datagram, offset) & FLAG_AGGREGATE) != 0;
    }

    public static boolean isComplete(final MemorySegment datagram, final long offset) {
        return (ControlLayout.FLAGS.get(datagram, offset) & FLAG_COMPLETE) != 0;
    }

    public static int write(final ControlWriter out, final AckValues values) {
        writeBody(out.begin(ControlLayout.TYPE_ACK, values.flags), values);
        return (values.flags & FLAG_AGGREGATE) == 0
                ? out.seal(LENGTH)
                : out.put(SLOWEST_MEMBER, values.slowestMember).seal(AGGREGATE_LENGTH);
    }

    static void writeBody(final ControlWriter out, final AckValues values) {
        out.put(ACKNOWLEDGED, values.acknowledged)
                .put(GRANT, values.grant)
                .put(HIGHEST, values.highest)
                .put(ECHO_TIME, values.echoTimeNs)
                .put(ECHO_DELAY, (int) Math.min(values.echoDelayNs, 0xffff_ffffL))
                .put(COVERED, values.covered);
    }
}
