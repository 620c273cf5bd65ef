package io.framecast.reliability.wire;

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
    public static final IntField RING_SLOTS = new IntField(32);
    static final IntField DELIVERY = new IntField(36);
    static final AddressField CONTROL_ADDRESS = new AddressField(40);
    static final AddressField REPAIR_ADDRESS = new AddressField(40 + AddressField.LENGTH);
    static final IntField SITE = new IntField(40 + 2 * AddressField.LENGTH);
    static final int LENGTH = 44 + 2 * AddressField.LENGTH;
    static final IntField LINK_BYTES = new IntField(LENGTH, Byte.BYTES);
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
        final int bytes = ControlLayout.DATAGRAM_BYTES.get(datagram, offset);
        return bytes >= LENGTH
                && bytes == LENGTH + linkFieldBytes(datagram, offset)
                && ControlLayout.RECEIVER.get(datagram, offset) != 0
                && RING_SLOTS.get(datagram, offset) > 0
                && Delivery.isCode(DELIVERY.get(datagram, offset))
                && CONTROL_ADDRESS.isValid(datagram, offset)
                && REPAIR_ADDRESS.isValid(datagram, offset);
    }

    // -1 where the field's length is impossible.
    private static int linkFieldBytes(final MemorySegment datagram, final long offset) {
        if ((ControlLayout.FLAGS.get(datagram, offset) & FLAG_LINK) == 0) {
            return 0;
        }
        if (ControlLayout.DATAGRAM_BYTES.get(datagram, offset) <= LENGTH) {
            return -1;
        }
        final int bytes = LINK_BYTES.get(datagram, offset);
        return bytes > 0 && bytes <= Wire.LINK_BYTES_MAX ? 1 + bytes : -1;
    }

    private static byte[] link(final MemorySegment datagram, final long offset) {
        final int bytes = linkFieldBytes(datagram, offset);
        return bytes == 0 ? new byte[0] : Wire.bytes(datagram, offset + LINK, bytes - 1);
    }

    /// All values. Allocates.
    public static Terms terms(final MemorySegment datagram, final long offset) {
        return new Terms(
                RING_SLOTS.get(datagram, offset),
                Delivery.of(DELIVERY.get(datagram, offset)),
                new LaneAddresses(
                        CONTROL_ADDRESS.read(datagram, offset),
                        REPAIR_ADDRESS.read(datagram, offset),
                        link(datagram, offset)),
                new CoRootOffer(
                        SITE.get(datagram, offset), (ControlLayout.FLAGS.get(datagram, offset) & FLAG_SERVES) != 0));
    }

    public static int write(final ControlWriter out, final Terms terms) {
        final byte[] link = terms.addresses().link();
        final int flags = (terms.offer().serves() ? FLAG_SERVES : 0) | (link.length > 0 ? FLAG_LINK : 0);
        out.begin(ControlLayout.TYPE_JOIN, flags)
                .put(RING_SLOTS, terms.ringSlots())
                .put(DELIVERY, terms.delivery().code())
                .put(CONTROL_ADDRESS, terms.addresses().control())
                .put(REPAIR_ADDRESS, terms.addresses().repair())
                .put(SITE, terms.offer().site());
        return link.length == 0
                ? out.seal(LENGTH)
                : out.put(LINK_BYTES, link.length).put(LINK, link).seal(LINK + link.length);
    }
}
