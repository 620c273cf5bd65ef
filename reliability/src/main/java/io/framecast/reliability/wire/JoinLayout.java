package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// JOIN, receiver → source: asks to be admitted. Repeated until answered by ADMIT or EVICT.
///
/// ```
///  32 ringSlots u32  36 delivery u16  38 patienceMs u16  40 control address (1 + 32)  73 repair address (1 + 32)
/// ```
public final class JoinLayout {
    static final int RING_SLOTS = 32;
    static final int DELIVERY = 36;
    static final int CONTROL_ADDRESS = 40;
    static final int REPAIR_ADDRESS = CONTROL_ADDRESS + AddressField.LENGTH;
    static final int LENGTH = REPAIR_ADDRESS + AddressField.LENGTH;

    /// What a receiver joins with.
    ///
    /// @param ringSlots data slots of its ring
    /// @param delivery what it does when it cannot keep up
    /// @param addresses where it takes unicast
    public record Terms(int ringSlots, Delivery delivery, LaneAddresses addresses) {}

    private JoinLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == LENGTH
                && ControlLayout.receiver(datagram, offset) != 0
                && datagram.get(Wire.INT, offset + RING_SLOTS) > 0
                && Delivery.isCode(datagram.get(Wire.INT, offset + DELIVERY))
                && AddressField.isValid(datagram, offset + CONTROL_ADDRESS)
                && AddressField.isValid(datagram, offset + REPAIR_ADDRESS);
    }

    public static int ringSlots(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + RING_SLOTS);
    }

    /// Allocates.
    public static Delivery delivery(final MemorySegment datagram, final long offset) {
        return Delivery.of(datagram.get(Wire.INT, offset + DELIVERY));
    }

    public static byte[] controlAddress(final MemorySegment datagram, final long offset) {
        return AddressField.read(datagram, offset + CONTROL_ADDRESS);
    }

    public static byte[] repairAddress(final MemorySegment datagram, final long offset) {
        return AddressField.read(datagram, offset + REPAIR_ADDRESS);
    }

    public static int write(
            final MemorySegment datagram, final ControlIds ids, final Terms terms, final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_JOIN, 0, ids);
        datagram.set(Wire.INT, RING_SLOTS, terms.ringSlots());
        datagram.set(Wire.INT, DELIVERY, terms.delivery().code());
        AddressField.write(datagram, CONTROL_ADDRESS, terms.addresses().control());
        AddressField.write(datagram, REPAIR_ADDRESS, terms.addresses().repair());
        return ControlLayout.seal(datagram, LENGTH, checksum);
    }
}
