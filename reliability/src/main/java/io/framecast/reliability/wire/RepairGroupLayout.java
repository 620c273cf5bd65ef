package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// REPAIR_GROUP, source → co-root: the whole list of its members, in parts of up to 14. Repeated until an ACK carries
/// its
/// epoch. The list of the highest epoch counts, once all its parts are here.
///
/// ```
///  32 part u16  34 parts u16  36 members u32 (in this part)
///  40 { id u64, joined u32 (epoch in which it joined), control address (1 + 32), repair address (1 + 32) } …
/// ```
public final class RepairGroupLayout {
    static final int PART = 32;
    static final int PARTS = 34;
    static final int MEMBERS = 36;
    static final int FIRST = 40;
    static final int JOINED = 8;
    static final int CONTROL = 12;
    static final int REPAIR = CONTROL + AddressField.LENGTH;
    static final int MEMBER_BYTES = REPAIR + AddressField.LENGTH;

    /// Members of one datagram.
    public static final int MEMBERS_PER_PART = (Wire.CONTROL_BYTES_MAX - FIRST) / MEMBER_BYTES;
    /// Members of a group, without its co-root.
    public static final int MEMBERS_MAX = 63;

    static final int PARTS_MAX = (MEMBERS_MAX + MEMBERS_PER_PART - 1) / MEMBERS_PER_PART;

    private RepairGroupLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.bytes(datagram, offset);
        if (bytes < FIRST
                || ControlLayout.receiver(datagram, offset) == 0
                || ControlLayout.epoch(datagram, offset) <= 0) {
            return false;
        }
        final int members = members(datagram, offset);
        final int parts = parts(datagram, offset);
        final int part = part(datagram, offset);
        if (members < 0
                || members > MEMBERS_PER_PART
                || bytes != FIRST + members * MEMBER_BYTES
                || parts < 1
                || parts > PARTS_MAX
                || part >= parts
                || part * MEMBERS_PER_PART + members > MEMBERS_MAX
                || (part < parts - 1 && members != MEMBERS_PER_PART)) {
            return false;
        }
        for (int i = 0; i < members; i++) {
            final long at = at(offset, i);
            if (id(datagram, offset, i) == 0
                    || !AddressField.isValid(datagram, at + CONTROL)
                    || !AddressField.isValid(datagram, at + REPAIR)) {
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

    public static int part(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.SHORT, offset + PART) & 0xffff;
    }

    public static int parts(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.SHORT, offset + PARTS) & 0xffff;
    }

    public static int members(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + MEMBERS);
    }

    public static long id(final MemorySegment datagram, final long offset, final int member) {
        return datagram.get(Wire.LONG, at(offset, member));
    }

    public static int joined(final MemorySegment datagram, final long offset, final int member) {
        return datagram.get(Wire.INT, at(offset, member) + JOINED);
    }

    /// Allocates.
    public static LaneAddresses addresses(final MemorySegment datagram, final long offset, final int member) {
        final long at = at(offset, member);
        return new LaneAddresses(AddressField.read(datagram, at + CONTROL), AddressField.read(datagram, at + REPAIR));
    }

    /// Sets one member of a datagram under construction.
    public static void member(
            final MemorySegment datagram,
            final int index,
            final long id,
            final int joined,
            final LaneAddresses addresses) {
        final long at = at(0, index);
        datagram.set(Wire.LONG, at, id);
        datagram.set(Wire.INT, at + JOINED, joined);
        AddressField.write(datagram, at + CONTROL, addresses.control());
        AddressField.write(datagram, at + REPAIR, addresses.repair());
    }

    /// Completes a datagram whose members are set.
    ///
    /// @param total members of all parts
    public static int write(
            final MemorySegment datagram,
            final ControlIds ids,
            final int part,
            final int total,
            final HeaderChecksum checksum) {
        final int members = Math.min(MEMBERS_PER_PART, total - part * MEMBERS_PER_PART);
        ControlLayout.begin(datagram, ControlLayout.TYPE_REPAIR_GROUP, 0, ids);
        datagram.set(Wire.SHORT, PART, (short) part);
        datagram.set(Wire.SHORT, PARTS, (short) partsOf(total));
        datagram.set(Wire.INT, MEMBERS, members);
        return ControlLayout.seal(datagram, FIRST + members * MEMBER_BYTES, checksum);
    }
}
