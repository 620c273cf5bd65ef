package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// RC_CONNECT, source → member: the source's endpoint is up, with the addresses that the member may use. Repeated until
/// the member's word shows that it arrived.
///
/// With flag 1, between a member and its co-root: the member repeats its endpoint until the co-root answers with
/// its own and with the readable addresses. Both datagrams then carry the epoch in which the member was assigned,
/// and there is no word.
///
/// With flag 2 the source announces that it feeds its co-roots by writes, and a co-root announces the address of
/// its replica over its connection. That datagram has no descriptor, the word is the co-root's, and the common
/// header's epoch is the one that it obeys.
///
/// ```
///  40 word address u64 (a multiple of 8)  48 word key u32  52 epoch u16  54 descriptor's length u16 (0 … 64)
///  56 headers address u64  64 headers key u32  68 payload key u32  72 payload address u64  80 descriptor (64)
///  144 guards address u64 (a multiple of 8)  152 guards key u32  156 reserved
/// ```
///
/// The epoch at 52 is 0 with flag 1 only. The length is 0 only in a co-root's announcement of its replica.
public final class RcConnectLayout {
    static final LongField WORD = new LongField(40);
    static final IntField WORD_KEY = new IntField(48);
    /// Of the member's word.
    public static final IntField EPOCH = new IntField(52, Short.BYTES);
    static final IntField DESCRIPTOR_BYTES = new IntField(54, Short.BYTES);
    static final LongField HEADERS = new LongField(56);
    static final IntField HEADERS_KEY = new IntField(64);
    static final IntField PAYLOAD_KEY = new IntField(68);
    static final LongField PAYLOAD = new LongField(72);
    static final int DESCRIPTOR = 80;
    static final LongField GUARDS = new LongField(DESCRIPTOR + Wire.LINK_BYTES_MAX);
    static final LongField GUARDS_KEY = new LongField(GUARDS.at() + 8);
    static final int LENGTH = GUARDS.at() + 16;
    static final int FLAG_SET = 1;
    static final int FLAG_FEED = 2;
    private static final int NO_WORD = 0;

    private RcConnectLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return isAligned(datagram, offset)
                && ControlLayout.RECEIVER.get(datagram, offset) != 0
                && (EPOCH.get(datagram, offset) == NO_WORD) == isOfSet(datagram, offset)
                && (!isOfSet(datagram, offset) || ControlLayout.EPOCH.get(datagram, offset) > 0)
                && DESCRIPTOR_BYTES.get(datagram, offset) > 0
                && DESCRIPTOR_BYTES.get(datagram, offset) <= Wire.LINK_BYTES_MAX;
    }

    /// A co-root's announcement of its replica.
    public static boolean isValidCopy(final MemorySegment datagram, final long offset) {
        return isAligned(datagram, offset)
                && ControlLayout.FLAGS.get(datagram, offset) == FLAG_FEED
                && ControlLayout.EPOCH.get(datagram, offset) > 0
                && EPOCH.get(datagram, offset) != NO_WORD
                && DESCRIPTOR_BYTES.get(datagram, offset) == 0;
    }

    // Of full length, with words at addresses that take words.
    private static boolean isAligned(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && ((WORD.get(datagram, offset) | GUARDS.get(datagram, offset)) & 7) == 0;
    }

    /// Whether it is between a member and its co-root.
    public static boolean isOfSet(final MemorySegment datagram, final long offset) {
        return (ControlLayout.FLAGS.get(datagram, offset) & FLAG_SET) != 0;
    }

    /// Whether the source feeds its co-roots by writes.
    public static boolean isFeeding(final MemorySegment datagram, final long offset) {
        return (ControlLayout.FLAGS.get(datagram, offset) & FLAG_FEED) != 0;
    }

    /// All values. Allocates.
    public static EndpointOffer offer(final MemorySegment datagram, final long offset) {
        return new EndpointOffer(
                Wire.bytes(datagram, offset + DESCRIPTOR, DESCRIPTOR_BYTES.get(datagram, offset)),
                new RemotePlace(WORD.get(datagram, offset), WORD_KEY.get(datagram, offset)),
                new RemotePlace(HEADERS.get(datagram, offset), HEADERS_KEY.get(datagram, offset)),
                new RemotePlace(PAYLOAD.get(datagram, offset), PAYLOAD_KEY.get(datagram, offset)),
                new RemotePlace(GUARDS.get(datagram, offset), (int) GUARDS_KEY.get(datagram, offset)));
    }

    /// The source's RC_CONNECT.
    ///
    /// @param epoch of the member's word
    public static int write(final ControlWriter out, final int epoch, final EndpointOffer offer) {
        return write(out, 0, epoch, offer);
    }

    /// The RC_CONNECT of a source that feeds its co-roots by writes, or a co-root's announcement of its replica,
    /// which carries the epoch that it obeys.
    ///
    /// @param epoch of the word
    public static int writeFeed(final ControlWriter out, final int epoch, final EndpointOffer offer) {
        return write(out, FLAG_FEED, epoch, offer);
    }

    /// Between a member and its co-root, with the member, and the epoch in which it was assigned.
    public static int writeOfSet(final ControlWriter out, final EndpointOffer offer) {
        return write(out, FLAG_SET, NO_WORD, offer);
    }

    private static int write(final ControlWriter out, final int flags, final int epoch, final EndpointOffer offer) {
        return out.begin(ControlLayout.TYPE_RC_CONNECT, flags)
                .put(WORD, offer.word().address())
                .put(WORD_KEY, offer.word().key())
                .put(EPOCH, epoch)
                .put(DESCRIPTOR_BYTES, offer.descriptor().length)
                .put(HEADERS, offer.headers().address())
                .put(HEADERS_KEY, offer.headers().key())
                .put(PAYLOAD_KEY, offer.payload().key())
                .put(PAYLOAD, offer.payload().address())
                .put(GUARDS, offer.guards().address())
                // The reserved bytes behind it are 0.
                .put(GUARDS_KEY, Integer.toUnsignedLong(offer.guards().key()))
                .zero(DESCRIPTOR, Wire.LINK_BYTES_MAX)
                .put(DESCRIPTOR, offer.descriptor())
                .seal(LENGTH);
    }
}
