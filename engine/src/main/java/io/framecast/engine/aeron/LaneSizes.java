package io.framecast.engine.aeron;

import io.aeron.logbuffer.LogBufferDescriptor;
import io.aeron.protocol.DataHeaderFlyweight;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import org.agrona.BitUtil;

/// How large one lane's datagrams and term buffers are. A term is three times in shared memory at each end.
///
/// @param mtuBytes Aeron's MTU for the lane's messages: just large enough for the ring's slots, so that each
///     datagram is one message in one packet
/// @param groupTermBytes term length of the group publication
/// @param unicastTermBytes term length of each unicast publication
record LaneSizes(int mtuBytes, int groupTermBytes, int unicastTermBytes) {
    /// A term holds this many datagrams at least; Aeron lets half of one be outstanding.
    private static final int REPAIR_DATAGRAMS = 16;

    /// At least this, because half a term is in flight at most. With terms of 64 KiB a repair waited so long that
    /// it was requested 14 times, and duplicates filled the lane (5 % loss, MTU 1500, a busy machine).
    private static final int REPAIR_TERM_BYTES = 1 << 20;

    private static final int CONTROL_DATAGRAMS = 4;

    /// Bookkeeping of a datagram in a socket buffer: sk_buff, shared info, and IP, UDP and Aeron's headers.
    private static final int SKB_BYTES = 768;
    private static final long TERM_BYTES_MAX = 1 << 28;

    static LaneSizes of(final LaneConfig config, final LocalLink link) {
        final int slotBytes = sendBytes(config);
        final int datagramBytesMax = link.mtuBytes() - DataHeaderFlyweight.HEADER_LENGTH;
        if (slotBytes > datagramBytesMax) {
            throw new TransportException("aeron: slots of " + slotBytes + " bytes in lane " + config.kind()
                    + ", but a datagram holds " + datagramBytesMax + "; raise mtu= or lower the slots");
        }
        final int mtu = mtu(slotBytes);
        final int small = term(
                config.kind() == LaneKind.CONTROL
                        ? (long) CONTROL_DATAGRAMS * mtu
                        : Math.max(REPAIR_TERM_BYTES, (long) REPAIR_DATAGRAMS * mtu));
        final int group = config.kind() == LaneKind.DATA ? dataTerm(link, mtu) : small;
        return new LaneSizes(mtu, group, small);
    }

    /// Half a term of the data lane may be in flight, so a term is twice the capacity of a receiver's socket
    /// buffer.
    static int dataTerm(final LocalLink link, final int mtuBytes) {
        final int inFlightBytes = link.ip() == null ? LocalLink.BUFFER_BYTES_WANTED : link.receiveBufferBytes();
        return term(Math.max(2L * inFlightBytes, (long) REPAIR_DATAGRAMS * mtuBytes));
    }

    /// How many datagrams of `datagramBytes` may be on their way to a receiver before the first is lost.
    ///
    /// Two limits, the smaller counts, and a quarter is kept spare. Window: a driver announces its receiver's
    /// position a quarter window late, and drops a datagram more than a window ahead of that. Socket buffer:
    /// Linux doubles the size that is set, and a datagram takes at most twice its length and bookkeeping, for
    /// buffers are allocated in powers of two.
    static int receiveCapacity(final LocalLink link, final int datagramBytes) {
        final int window = Math.min(link.receiveBufferBytes(), dataTerm(link, mtu(datagramBytes)) / 2);
        final int byWindow = window / mtu(datagramBytes);
        final int bySocket = link.receiveBufferBytes() / (datagramBytes + SKB_BYTES);
        return Math.max(1, Math.min(byWindow, bySocket) * 3 / 4);
    }

    private static int mtu(final int datagramBytes) {
        return BitUtil.align(datagramBytes + DataHeaderFlyweight.HEADER_LENGTH, LocalLink.MTU_ALIGNMENT);
    }

    private static int term(final long bytes) {
        return BitUtil.findNextPositivePowerOfTwo(
                (int) Math.clamp(bytes, LogBufferDescriptor.TERM_MIN_LENGTH, TERM_BYTES_MAX));
    }

    private static int sendBytes(final LaneConfig config) {
        final var send = config.send();
        return send == null ? 0 : send.headerBytes() + send.payloadBytes();
    }
}
