package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// POLICY, member → source: its behaviour when it cannot keep up changes, or the number of subscribers that it stands
/// for. Source → member: the policy that holds. The highest version counts, so that changes may overtake each other.
///
/// ```
///  40 version u32 (a member's from 1 on; 0 in an answer: JOIN's delivery holds)  44 delivery u16  46 patienceMs u16
///  48 subscribers u32 (1 … 65 535)
/// ```
public final class PolicyLayout {
    public static final IntField VERSION = new IntField(40);
    static final IntField DELIVERY = new IntField(44);
    public static final IntField SUBSCRIBERS = new IntField(48);
    static final int LENGTH = 52;
    private static final int SUBSCRIBERS_MAX = 65_535;

    private PolicyLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && ControlLayout.RECEIVER.get(datagram, offset) != 0
                && VERSION.get(datagram, offset) >= 0
                && Delivery.isCode(DELIVERY.get(datagram, offset))
                && SUBSCRIBERS.get(datagram, offset) > 0
                && SUBSCRIBERS.get(datagram, offset) <= SUBSCRIBERS_MAX;
    }

    public static Delivery delivery(final MemorySegment datagram, final long offset) {
        return Delivery.of(DELIVERY.get(datagram, offset));
    }

    public static int write(
            final ControlWriter out, final int version, final Delivery delivery, final int subscribers) {
        return out.begin(ControlLayout.TYPE_POLICY, 0)
                .put(VERSION, version)
                .put(DELIVERY, delivery.code())
                .put(SUBSCRIBERS, subscribers)
                .seal(LENGTH);
    }
}
