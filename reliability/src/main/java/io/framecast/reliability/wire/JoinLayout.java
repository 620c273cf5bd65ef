package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/// JOIN, receiver → source: asks to be admitted. Repeated until answered by ADMIT or EVICT.
///
/// ```
///  32 ringSlots u32  36 delivery u16  38 patienceMs u16  40 control address (1 + 32)  73 repair address (1 + 32)
///  106 site u32
///  110 descriptor's length u8 (1 … 64)  111 endpoint descriptor: with flag 2 only
/// ```
///
/// Flags: 1 the receiver can serve as a co-root, 2 it has an endpoint.
public final class JoinLayout {
    static final int RING_SLOTS = 32;
    static final int DELIVERY = 36;
    static final int CONTROL_ADDRESS = 40;
    static final int REPAIR_ADDRESS = CONTROL_ADDRESS + AddressField.LENGTH;
    static final int SITE = REPAIR_ADDRESS + AddressField.LENGTH;
    static final int LENGTH = SITE + 4;
    static final int LINK = LENGTH + 1;
    static final int FLAG_SERVES = 1;
    static final int FLAG_LINK = 2;

    /// A receiver's values in JOIN.
    ///
    /// @param ringSlots data slots of its ring
    /// @param delivery its behaviour when it cannot keep up
    /// @param addresses its unicast addresses
    /// @param offer its offer to serve as a co-root
    public record Terms(int ringSlots, Delivery delivery, LaneAddresses addresses, CoRootOffer offer) {}

    private JoinLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) >= LENGTH
                && ControlLayout.bytes(datagram, offset) == LENGTH + linkFieldBytes(datagram, offset)
                && ControlLayout.receiver(datagram, offset) != 0
                && datagram.get(Wire.INT, offset + RING_SLOTS) > 0
                && Delivery.isCode(datagram.get(Wire.INT, offset + DELIVERY))
                && AddressField.isValid(datagram, offset + CONTROL_ADDRESS)
                && AddressField.isValid(datagram, offset + REPAIR_ADDRESS);
    }

    // -1 where the field's length is impossible.
    private static int linkFieldBytes(final MemorySegment datagram, final long offset) {
        if ((ControlLayout.flags(datagram, offset) & FLAG_LINK) == 0) {
            return 0;
        }
        if (ControlLayout.bytes(datagram, offset) <= LENGTH) {
            return -1;
        }
        final int bytes = datagram.get(JAVA_BYTE, offset + LENGTH) & 0xff;
        return bytes > 0 && bytes <= Wire.LINK_BYTES_MAX ? 1 + bytes : -1;
    }

    private static byte[] link(final MemorySegment datagram, final long offset) {
        if (linkFieldBytes(datagram, offset) == 0) {
            return new byte[0];
        }
        final byte[] link = new byte[linkFieldBytes(datagram, offset) - 1];
        MemorySegment.copy(datagram, JAVA_BYTE, offset + LINK, link, 0, link.length);
        return link;
    }

    public static int ringSlots(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + RING_SLOTS);
    }

    /// All values. Allocates.
    public static Terms terms(final MemorySegment datagram, final long offset) {
        return new Terms(
                ringSlots(datagram, offset),
                Delivery.of(datagram.get(Wire.INT, offset + DELIVERY)),
                new LaneAddresses(
                        AddressField.read(datagram, offset + CONTROL_ADDRESS),
                        AddressField.read(datagram, offset + REPAIR_ADDRESS),
                        link(datagram, offset)),
                new CoRootOffer(
                        datagram.get(Wire.INT, offset + SITE),
                        (ControlLayout.flags(datagram, offset) & FLAG_SERVES) != 0));
    }

    public static int write(
            final MemorySegment datagram, final ControlIds ids, final Terms terms, final HeaderChecksum checksum) {
        final byte[] link = terms.addresses().link();
        final int flags = (terms.offer().serves() ? FLAG_SERVES : 0) | (link.length > 0 ? FLAG_LINK : 0);
        ControlLayout.begin(datagram, ControlLayout.TYPE_JOIN, flags, ids);
        datagram.set(Wire.INT, RING_SLOTS, terms.ringSlots());
        datagram.set(Wire.INT, DELIVERY, terms.delivery().code());
        AddressField.write(datagram, CONTROL_ADDRESS, terms.addresses().control());
        AddressField.write(datagram, REPAIR_ADDRESS, terms.addresses().repair());
        datagram.set(Wire.INT, SITE, terms.offer().site());
        if (link.length == 0) {
            return ControlLayout.seal(datagram, LENGTH, checksum);
        }
        datagram.set(JAVA_BYTE, LENGTH, (byte) link.length);
        MemorySegment.copy(link, 0, datagram, JAVA_BYTE, LINK, link.length);
        return ControlLayout.seal(datagram, LINK + link.length, checksum);
    }
}
