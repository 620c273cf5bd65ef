package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// JOIN, receiver → source: asks to be admitted. Repeated until answered by ADMIT or EVICT.
///
/// ```
///  40 ringSlots u32  44 delivery u16  46 patienceMs u16  48 secret u64
///  56 control address (1 + 32)  89 repair address (1 + 32)  122 site u32
///  126 descriptor's length u8 (1 … 64)  127 endpoint descriptor: with flag 2 only
/// ```
///
/// Flags: 1 the receiver can serve as a co-root, 2 it has an endpoint, 4 it can serve as a co-root whose
/// replica the source writes, and only so.
public final class JoinLayout {
    /// Slots of a receiver whose bound on memory leaves no room for the stream: fewer than any ring has.
    public static final int NO_RING = 1;

    public static final IntField RING_SLOTS = new IntField(40);
    static final IntField DELIVERY = new IntField(44);
    static final LongField SECRET = new LongField(48);
    static final AddressField CONTROL_ADDRESS = new AddressField(56);
    static final AddressField REPAIR_ADDRESS = new AddressField(56 + AddressField.LENGTH);
    static final IntField SITE = new IntField(56 + 2 * AddressField.LENGTH);
    static final int LENGTH = 60 + 2 * AddressField.LENGTH;
    static final IntField LINK_BYTES = new IntField(LENGTH, Byte.BYTES);
    static final int LINK = LENGTH + 1;
    static final int FLAG_SERVES = 1;
    static final int FLAG_LINK = 2;
    static final int FLAG_FED_ONLY = 4;

    /// A receiver's values in JOIN.
    ///
    /// @param ringSlots data slots of its ring
    /// @param delivery its behaviour when it cannot keep up
    /// @param secret RESUME must know it
    /// @param addresses its unicast addresses
    /// @param offer its offer to serve as a co-root
    public record Terms(int ringSlots, Delivery delivery, long secret, LaneAddresses addresses, CoRootOffer offer) {
        public Terms withDelivery(final Delivery changed) {
            return new Terms(ringSlots, changed, secret, addresses, offer);
        }

        public Terms withSecret(final long other) {
            return new Terms(ringSlots, delivery, other, addresses, offer);
        }

        public Terms withLanes(final LaneAddresses moved, final CoRootOffer offered) {
            return new Terms(ringSlots, delivery, secret, moved, offered);
        }
    }

    private JoinLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return isSound(datagram, offset)
                && RING_SLOTS.get(datagram, offset) > 0
                && Delivery.isCode(DELIVERY.get(datagram, offset));
    }

    /// From the secret on; also of RESUME.
    static boolean isSound(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.DATAGRAM_BYTES.get(datagram, offset);
        return bytes >= LENGTH
                && bytes == LENGTH + linkFieldBytes(datagram, offset)
                && ControlLayout.RECEIVER.get(datagram, offset) != 0
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
                SECRET.get(datagram, offset),
                addresses(datagram, offset),
                offer(datagram, offset));
    }

    static LaneAddresses addresses(final MemorySegment datagram, final long offset) {
        return new LaneAddresses(
                CONTROL_ADDRESS.read(datagram, offset), REPAIR_ADDRESS.read(datagram, offset), link(datagram, offset));
    }

    static CoRootOffer offer(final MemorySegment datagram, final long offset) {
        final int flags = ControlLayout.FLAGS.get(datagram, offset);
        final boolean fedOnly = (flags & FLAG_FED_ONLY) != 0 && (flags & FLAG_LINK) != 0;
        return new CoRootOffer(SITE.get(datagram, offset), fedOnly || (flags & FLAG_SERVES) != 0, fedOnly);
    }

    public static int write(final ControlWriter out, final Terms terms) {
        return writeFrom(
                out.begin(ControlLayout.TYPE_JOIN, flags(terms))
                        .put(RING_SLOTS, terms.ringSlots())
                        .put(DELIVERY, terms.delivery().code()),
                terms);
    }

    static int flags(final Terms terms) {
        final int serves = terms.offer().fedOnly() ? FLAG_FED_ONLY : FLAG_SERVES;
        return (terms.offer().serves() ? serves : 0) | (terms.addresses().link().length > 0 ? FLAG_LINK : 0);
    }

    /// From the secret on; also of RESUME.
    static int writeFrom(final ControlWriter out, final Terms terms) {
        final byte[] link = terms.addresses().link();
        out.put(SECRET, terms.secret())
                .put(CONTROL_ADDRESS, terms.addresses().control())
                .put(REPAIR_ADDRESS, terms.addresses().repair())
                .put(SITE, terms.offer().site());
        return link.length == 0
                ? out.seal(LENGTH)
                : out.put(LINK_BYTES, link.length).put(LINK, link).seal(LINK + link.length);
    }
}
