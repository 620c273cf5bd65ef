package io.framecast.engine.hostgroup;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.wire.Delivery;
import java.lang.foreign.MemorySegment;

/// The messages between followers and their leader (docs/host-segment.md).
///
/// ```
/// HELLO    follower → leader  0 magic u64  8 version u32  12 type u32 = 1  16 number u64 of the member:
///                             random, the same to all leaders; 0 for one that is no subscriber's
///                             24 generation u64 of the segment that it read last, 0 for none, 2^64 − 1 for a
///                             connection that is no subscriber's: it copies for other members
///                             32 delivery u16, patience u16 as in JOIN (docs/protocol.md)
/// SEGMENT  leader → follower  0 magic u64  8 version u32  12 type u32 = 2  16 generation u64  24 member u32
///                             and four descriptors: ring (to be read), words, the member's counter, the leader's
/// REFUSED  leader → follower  0 magic u64  8 version u32, the leader's  12 type u32 = 5
///                             16 reason u64: 1 the follower speaks another version, 2 no place is left
/// PROBE    follower → leader  0 magic u64  8 version u32  12 type u32 = 6  16 0: a follower without a session sees by
///                             it whether the leader reads
/// ```
final class GroupMessage {
    static final int HELLO = 1;
    static final int SEGMENT = 2;
    // 3 and 4 are messages of clients that publish.
    static final int REFUSED = 5;
    static final int PROBE = 6;
    static final int BYTES = 40;
    static final long OTHER_VERSION = 1;
    static final long NO_PLACE = 2;
    static final long NO_SUBSCRIBER = -1;

    private static final long VERSION_AT = 8;
    private static final long TYPE_AT = 12;
    private static final long NUMBER_AT = 16;
    private static final long MEMBER_AT = 24;
    private static final long GENERATION_AT = 24;
    private static final long DELIVERY_AT = 32;

    private GroupMessage() {}

    private static MemorySegment begin(final MemorySegment message, final int type, final long number) {
        message.fill((byte) 0);
        message.set(JAVA_LONG, 0, SegmentLayout.MAGIC);
        message.set(JAVA_INT, VERSION_AT, SegmentLayout.VERSION);
        message.set(JAVA_INT, TYPE_AT, type);
        message.set(JAVA_LONG, NUMBER_AT, number);
        return message.asSlice(0, BYTES);
    }

    static MemorySegment hello(
            final MemorySegment message, final long member, final long generation, final Delivery delivery) {
        final MemorySegment hello = begin(message, HELLO, member);
        hello.set(JAVA_LONG, GENERATION_AT, generation);
        hello.set(JAVA_INT, DELIVERY_AT, delivery.code());
        return hello;
    }

    static MemorySegment segment(final MemorySegment message, final long generation, final int member) {
        begin(message, SEGMENT, generation).set(JAVA_INT, MEMBER_AT, member);
        return message.asSlice(0, BYTES);
    }

    static MemorySegment refused(final MemorySegment message, final long reason) {
        return begin(message, REFUSED, reason);
    }

    static MemorySegment probe(final MemorySegment message) {
        return begin(message, PROBE, 0);
    }

    static boolean is(final MemorySegment message, final int bytes, final int type) {
        return bytes == BYTES
                && message.get(JAVA_LONG, 0) == SegmentLayout.MAGIC
                && message.get(JAVA_INT, VERSION_AT) == SegmentLayout.VERSION
                && message.get(JAVA_INT, TYPE_AT) == type;
    }

    /// Whether it is one of another version.
    static boolean isForeign(final MemorySegment message, final int bytes) {
        return bytes >= TYPE_AT
                && message.get(JAVA_LONG, 0) == SegmentLayout.MAGIC
                && message.get(JAVA_INT, VERSION_AT) != SegmentLayout.VERSION;
    }

    /// Of the sender, in a message that [#isForeign].
    static int version(final MemorySegment message) {
        return message.get(JAVA_INT, VERSION_AT);
    }

    /// The number of the follower that says HELLO.
    static long sender(final MemorySegment message) {
        return message.get(JAVA_LONG, NUMBER_AT);
    }

    static long generation(final MemorySegment message) {
        return message.get(JAVA_LONG, GENERATION_AT);
    }

    /// The follower's policy; the strongest where it names none that there is.
    static Delivery delivery(final MemorySegment message) {
        final int code = message.get(JAVA_INT, DELIVERY_AT);
        return Delivery.isCode(code) ? Delivery.of(code) : Delivery.RELIABLE;
    }

    static long reason(final MemorySegment message) {
        return message.get(JAVA_LONG, NUMBER_AT);
    }

    static int member(final MemorySegment message) {
        return message.get(JAVA_INT, MEMBER_AT);
    }
}
