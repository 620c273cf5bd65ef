package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

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
///  32 word address u64 (a multiple of 8)  40 word key u32  44 epoch u16  46 descriptor's length u16 (0 … 64)
///  48 headers address u64  56 headers key u32  60 payload key u32  64 payload address u64  72 descriptor (64)
///  136 guards address u64 (a multiple of 8)  144 guards key u32  148 reserved
/// ```
///
/// The epoch at 44 is 0 with flag 1 only. The length is 0 only in a co-root's announcement of its replica.
public final class RcConnectLayout {
    static final int WORD = 32;
    static final int WORD_KEY = 40;
    static final int EPOCH = 44;
    static final int DESCRIPTOR_BYTES = 46;
    static final int HEADERS = 48;
    static final int HEADERS_KEY = 56;
    static final int PAYLOAD_KEY = 60;
    static final int PAYLOAD = 64;
    static final int DESCRIPTOR = 72;
    static final int GUARDS = DESCRIPTOR + Wire.LINK_BYTES_MAX;
    static final int GUARDS_KEY = GUARDS + 8;
    static final int LENGTH = GUARDS + 16;
    static final int FLAG_SET = 1;
    static final int FLAG_FEED = 2;
    private static final int NO_WORD = 0;

    private RcConnectLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == LENGTH
                && ControlLayout.receiver(datagram, offset) != 0
                && isEpochPossible(datagram, offset)
                && (datagram.get(Wire.LONG, offset + WORD) & 7) == 0
                && (datagram.get(Wire.LONG, offset + GUARDS) & 7) == 0
                && descriptorBytes(datagram, offset) > 0
                && descriptorBytes(datagram, offset) <= Wire.LINK_BYTES_MAX;
    }

    /// A co-root's announcement of its replica.
    public static boolean isValidCopy(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == LENGTH
                && ControlLayout.flags(datagram, offset) == FLAG_FEED
                && ControlLayout.epoch(datagram, offset) > 0
                && epoch(datagram, offset) != NO_WORD
                && (datagram.get(Wire.LONG, offset + WORD) & 7) == 0
                && (datagram.get(Wire.LONG, offset + GUARDS) & 7) == 0
                && descriptorBytes(datagram, offset) == 0;
    }

    private static boolean isEpochPossible(final MemorySegment datagram, final long offset) {
        return isOfSet(datagram, offset)
                ? epoch(datagram, offset) == NO_WORD && ControlLayout.epoch(datagram, offset) > 0
                : epoch(datagram, offset) != NO_WORD;
    }

    /// Whether it is between a member and its co-root.
    public static boolean isOfSet(final MemorySegment datagram, final long offset) {
        return (ControlLayout.flags(datagram, offset) & FLAG_SET) != 0;
    }

    /// Whether the source feeds its co-roots by writes.
    public static boolean isFeeding(final MemorySegment datagram, final long offset) {
        return (ControlLayout.flags(datagram, offset) & FLAG_FEED) != 0;
    }

    /// The epoch of the member's word.
    public static int epoch(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.SHORT, offset + EPOCH) & 0xffff;
    }

    private static int descriptorBytes(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.SHORT, offset + DESCRIPTOR_BYTES) & 0xffff;
    }

    /// All values. Allocates.
    public static EndpointOffer offer(final MemorySegment datagram, final long offset) {
        final byte[] descriptor = new byte[descriptorBytes(datagram, offset)];
        MemorySegment.copy(datagram, JAVA_BYTE, offset + DESCRIPTOR, descriptor, 0, descriptor.length);
        return new EndpointOffer(
                descriptor,
                place(datagram, offset + WORD, offset + WORD_KEY),
                place(datagram, offset + HEADERS, offset + HEADERS_KEY),
                place(datagram, offset + PAYLOAD, offset + PAYLOAD_KEY),
                place(datagram, offset + GUARDS, offset + GUARDS_KEY));
    }

    private static RemotePlace place(final MemorySegment datagram, final long address, final long key) {
        return new RemotePlace(datagram.get(Wire.LONG, address), datagram.get(Wire.INT, key));
    }

    /// The source's RC_CONNECT.
    ///
    /// @param epoch of the member's word
    public static int write(
            final MemorySegment datagram,
            final ControlIds ids,
            final int epoch,
            final EndpointOffer offer,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_RC_CONNECT, 0, ids);
        return write(datagram, epoch, offer, checksum);
    }

    /// The RC_CONNECT of a source that feeds its co-roots by writes, or a co-root's announcement of its replica.
    ///
    /// @param ids of a co-root: the epoch that it obeys
    /// @param epoch of the word
    public static int writeFeed(
            final MemorySegment datagram,
            final ControlIds ids,
            final int epoch,
            final EndpointOffer offer,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_RC_CONNECT, FLAG_FEED, ids);
        return write(datagram, epoch, offer, checksum);
    }

    /// Between a member and its co-root.
    ///
    /// @param ids the member, and the epoch in which it was assigned
    public static int writeOfSet(
            final MemorySegment datagram,
            final ControlIds ids,
            final EndpointOffer offer,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_RC_CONNECT, FLAG_SET, ids);
        return write(datagram, NO_WORD, offer, checksum);
    }

    private static int write(
            final MemorySegment datagram, final int epoch, final EndpointOffer offer, final HeaderChecksum checksum) {
        datagram.set(Wire.LONG, WORD, offer.word().address());
        datagram.set(Wire.INT, WORD_KEY, offer.word().key());
        datagram.set(Wire.SHORT, EPOCH, (short) epoch);
        datagram.set(Wire.SHORT, DESCRIPTOR_BYTES, (short) offer.descriptor().length);
        datagram.set(Wire.LONG, HEADERS, offer.headers().address());
        datagram.set(Wire.INT, HEADERS_KEY, offer.headers().key());
        datagram.set(Wire.INT, PAYLOAD_KEY, offer.payload().key());
        datagram.set(Wire.LONG, PAYLOAD, offer.payload().address());
        datagram.set(Wire.LONG, GUARDS, offer.guards().address());
        datagram.set(Wire.INT, GUARDS_KEY, offer.guards().key());
        datagram.set(Wire.INT, GUARDS_KEY + 4, 0);
        Wire.zero(datagram, DESCRIPTOR, Wire.LINK_BYTES_MAX);
        MemorySegment.copy(offer.descriptor(), 0, datagram, JAVA_BYTE, DESCRIPTOR, offer.descriptor().length);
        return ControlLayout.seal(datagram, LENGTH, checksum);
    }
}
