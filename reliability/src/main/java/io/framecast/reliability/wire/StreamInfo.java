package io.framecast.reliability.wire;

/// A source's announcement of its stream in every heartbeat, fixed for the session.
///
/// @param session the source's random nonce
/// @param channel the channel's name, 1 … 64 bytes of ASCII
/// @param slotBytes payload bytes of every datagram but a frame's last; a multiple of 64
/// @param windowSlots datagrams the source can still repair
/// @param frameMaxBytes longest frame
/// @param aliveTimeoutMs silence after which a peer is lost
/// @param controlAddress unicast address of the source's control lane
/// @param dataAddress the source's data lane
/// @param sealed whether datagrams are authenticated: headers have a seal behind them
public record StreamInfo(
        long session,
        String channel,
        int slotBytes,
        int windowSlots,
        long frameMaxBytes,
        int aliveTimeoutMs,
        byte[] controlAddress,
        byte[] dataAddress,
        boolean sealed) {
    public static final int SLOT_BYTES_MAX = 65_472;
    public static final int WINDOW_SLOTS_MAX = 1 << 22;

    /// A stream whose datagrams have no seals.
    public StreamInfo(
            final long session,
            final String channel,
            final int slotBytes,
            final int windowSlots,
            final long frameMaxBytes,
            final int aliveTimeoutMs,
            final byte[] controlAddress,
            final byte[] dataAddress) {
        this(
                session,
                channel,
                slotBytes,
                windowSlots,
                frameMaxBytes,
                aliveTimeoutMs,
                controlAddress,
                dataAddress,
                false);
    }

    /// Length of a header on the data and repair lanes.
    public int headerBytes() {
        return sealed ? DataLayout.SEALED_LENGTH : DataLayout.LENGTH;
    }

    public long aliveTimeoutNs() {
        return aliveTimeoutMs * 1_000_000L;
    }

    /// Datagrams of the longest frame.
    public long frameMaxSlots() {
        return slots(frameMaxBytes, slotBytes);
    }

    /// Datagrams of a frame: every payload fills its slot, the last may be shorter.
    public static long slots(final long frameBytes, final int slotBytes) {
        return (frameBytes + slotBytes - 1) / slotBytes;
    }
}
