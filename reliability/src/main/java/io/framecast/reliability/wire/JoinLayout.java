package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// JOIN, receiver → source: asks to be admitted. Repeated until answered by ADMIT or EVICT.
///
/// ```
///  32 ringSlots u32  36 reserved u32  40 control address (1 + 32)  73 repair address (1 + 32)
/// ```
public final class JoinLayout {
    static final int RING_SLOTS = 32;
    static final int CONTROL_ADDRESS = 40;
    static final int REPAIR_ADDRESS = CONTROL_ADDRESS + AddressField.LENGTH;
    static final int LENGTH = REPAIR_ADDRESS + AddressField.LENGTH;

    private JoinLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == LENGTH
                && ControlLayout.receiver(datagram, offset) != 0
                && datagram.get(Wire.INT, offset + RING_SLOTS) > 0
                && AddressField.isValid(datagram, offset + CONTROL_ADDRESS)
                && AddressField.isValid(datagram, offset + REPAIR_ADDRESS);
    }

    public static int ringSlots(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + RING_SLOTS);
    }

    public static byte[] controlAddress(final MemorySegment datagram, final long offset) {
        return AddressField.read(datagram, offset + CONTROL_ADDRESS);
    }

    public static byte[] repairAddress(final MemorySegment datagram, final long offset) {
        return AddressField.read(datagram, offset + REPAIR_ADDRESS);
    }

    public static int write(
            final MemorySegment datagram,
            final ControlIds ids,
            final int ringSlots,
            final LaneAddresses addresses,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_JOIN, 0, ids);
        datagram.set(Wire.INT, RING_SLOTS, ringSlots);
        datagram.set(Wire.INT, RING_SLOTS + 4, 0);
        AddressField.write(datagram, CONTROL_ADDRESS, addresses.control());
        AddressField.write(datagram, REPAIR_ADDRESS, addresses.repair());
        return ControlLayout.seal(datagram, LENGTH, checksum);
    }
}
