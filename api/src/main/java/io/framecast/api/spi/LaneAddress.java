package io.framecast.api.spi;

import java.util.Arrays;

/// Where a lane receives unicast: opaque bytes that only the transport understands (udp: address and port; verbs: GID
/// and queue pair number), carried inside JOIN and HEARTBEAT. At most [#BYTES_MAX] bytes.
public final class LaneAddress {
    public static final int BYTES_MAX = 32;

    private final byte[] bytes;

    public LaneAddress(final byte[] bytes) {
        if (bytes.length > BYTES_MAX) {
            throw new IllegalArgumentException(
                    "lane address: expected at most " + BYTES_MAX + " bytes, got " + bytes.length);
        }
        this.bytes = bytes.clone();
    }

    public byte[] toBytes() {
        return bytes.clone();
    }

    public int length() {
        return bytes.length;
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof LaneAddress that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return java.util.HexFormat.of().formatHex(bytes);
    }
}
