package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// REPAIR_GROUP, source → co-root: the whole list of its members, in parts of up to 14. Repeated until an ACK
/// carries its epoch. The list of the highest epoch counts, once all its parts are here.
///
/// ```
///  40 part u16  42 parts u16  44 members u32 (in this part)
///  48 { id u64, joined u32 (epoch in which it joined), control address (1 + 32), repair address (1 + 32) } …
/// ```
public final class RepairGroupLayout {
    public static final IntField PART = new IntField(40, Short.BYTES);
    public static final IntField PARTS = new IntField(42, Short.BYTES);
    public static final IntField MEMBERS = new IntField(44);
    static final int FIRST = 48;
    static final LongField ID = new LongField(0);
    static final IntField JOINED = new IntField(8);
    static final AddressField CONTROL = new AddressField(12);
    static final AddressField REPAIR = new AddressField(12 + AddressField.LENGTH);
    static final int MEMBER_BYTES = 12 + 2 * AddressField.LENGTH;

    /// Members of one datagram.
    public static final int MEMBERS_PER_PART = (ControlLayout.BODY_END_MAX - FIRST) / MEMBER_BYTES;
    /// Members of a group, without its co-root.
    public static final int MEMBERS_MAX = 63;

    static final int PARTS_MAX = (MEMBERS_MAX + MEMBERS_PER_PART - 1) / MEMBERS_PER_PART;

    private RepairGroupLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.DATAGRAM_BYTES.get(datagram, offset);
        if (bytes < FIRST
                || ControlLayout.RECEIVER.get(datagram, offset) == 0
                || ControlLayout.EPOCH.get(datagram, offset) <= 0) {
            return false;
        }
        final int members = MEMBERS.get(datagram, offset);
        final int parts = PARTS.get(datagram, offset);
        final int part = PART.get(datagram, offset);
        if (members < 0
                || members > MEMBERS_PER_PART
                || bytes != FIRST + members * MEMBER_BYTES
                || parts < 1
                || parts > PARTS_MAX
                || part >= parts
                || part * MEMBERS_PER_PART + members > MEMBERS_MAX
                || (part < parts - 1 && members != MEMBERS_PER_PART)
                || (members == 0 && parts > 1)) {
            return false;
        }
        for (int i = 0; i < members; i++) {
            final long at = at(offset, i);
            if (id(datagram, offset, i) == 0 || !CONTROL.isValid(datagram, at) || !REPAIR.isValid(datagram, at)) {
                return false;
            }
        }
        return true;
    }

    private static long at(final long offset, final int member) {
        return offset + FIRST + (long) member * MEMBER_BYTES;
    }

    /// Parts for that many members; one for none.
    public static int partsOf(final int members) {
        return Math.max(1, (members + MEMBERS_PER_PART - 1) / MEMBERS_PER_PART);
    }

    public static long id(final MemorySegment datagram, final long offset, final int member) {
        return ID.get(datagram, at(offset, member));
    }

    public static int joined(final MemorySegment datagram, final long offset, final int member) {
        return JOINED.get(datagram, at(offset, member));
    }

    /// Allocates.
    public static LaneAddresses addresses(final MemorySegment datagram, final long offset, final int member) {
        final long at = at(offset, member);
        return new LaneAddresses(CONTROL.read(datagram, at), REPAIR.read(datagram, at));
    }

    /// Sets one member of a datagram under construction.
    public static void member(
            final MemorySegment datagram,
            final int index,
            final long id,
            final int joined,
            final LaneAddresses addresses) {
        final long at = at(0, index);
        ID.set(datagram, at, id);
        JOINED.set(datagram, at, joined);
        CONTROL.write(datagram, at, addresses.control());
        REPAIR.write(datagram, at, addresses.repair());
    }

    /// Completes a datagram whose members are set.
    ///
    /// @param total members of all parts
    public static int write(final ControlWriter out, final int part, final int total) {
        final int members = Math.min(MEMBERS_PER_PART, total - part * MEMBERS_PER_PART);
        return out.begin(ControlLayout.TYPE_REPAIR_GROUP, 0)
                .put(PART, part)
                .put(PARTS, partsOf(total))
                .put(MEMBERS, members)
                .seal(FIRST + members * MEMBER_BYTES);
    }
}
