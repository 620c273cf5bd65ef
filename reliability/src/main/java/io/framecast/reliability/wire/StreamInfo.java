package io.framecast.reliability.wire;

import org.jspecify.annotations.Nullable;

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
/// @param seal protection of datagrams of the data and repair lanes
public record StreamInfo(
        long session,
        String channel,
        int slotBytes,
        int windowSlots,
        long frameMaxBytes,
        int aliveTimeoutMs,
        byte[] controlAddress,
        byte[] dataAddress,
        Seal seal) {
    public static final int SLOT_BYTES_MAX = 65_472;
    public static final int WINDOW_SLOTS_MAX = 1 << 22;

    /// The bytes behind the first 40 of a header, and whether payloads are encrypted.
    public enum Seal {
        /// Nothing.
        NONE(0),
        /// A tag over the header; payloads are as the user wrote them.
        HEADER(HeartbeatLayout.FLAG_SEALED),
        /// A tag over header and payload, which is encrypted by AES-256-GCM.
        AES_GCM(HeartbeatLayout.FLAG_SEALED | HeartbeatLayout.FLAG_AES_GCM),
        /// A tag over header and payload, which is encrypted by ChaCha20-Poly1305.
        CHACHA20_POLY1305(HeartbeatLayout.FLAG_SEALED | HeartbeatLayout.FLAG_CHACHA20_POLY1305);

        private static final int FLAGS =
                HeartbeatLayout.FLAG_SEALED | HeartbeatLayout.FLAG_AES_GCM | HeartbeatLayout.FLAG_CHACHA20_POLY1305;
        // values() allocates, and every heartbeat asks.
        private static final Seal[] SEALS = values();

        private final int flags;

        Seal(final int flags) {
            this.flags = flags;
        }

        /// Whether payloads are encrypted.
        public boolean isEncrypting() {
            return flags > HeartbeatLayout.FLAG_SEALED;
        }

        /// As a heartbeat announces it.
        public int flags() {
            return flags;
        }

        /// Length of a header on the data and repair lanes.
        public int headerBytes() {
            return this == NONE ? DataLayout.LENGTH : DataLayout.SEALED_LENGTH;
        }

        /// Null where these flags of a heartbeat announce none.
        public static @Nullable Seal of(final int flags) {
            for (final Seal seal : SEALS) {
                if (seal.flags == (flags & FLAGS)) {
                    return seal;
                }
            }
            return null;
        }
    }

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
                Seal.NONE);
    }

    /// Length of a header on the data and repair lanes.
    public int headerBytes() {
        return seal.headerBytes();
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
