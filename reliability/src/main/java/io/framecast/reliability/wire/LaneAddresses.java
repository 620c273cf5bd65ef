package io.framecast.reliability.wire;

/// A receiver's unicast addresses.
///
/// @param control its control lane's address
/// @param repair its repair lane's address
/// @param link descriptor of the endpoint by which it acts on its source's memory; empty for none
public record LaneAddresses(byte[] control, byte[] repair, byte[] link) {
    private static final byte[] NONE = {};

    public LaneAddresses {
        if (link.length > Wire.LINK_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "link: expected at most " + Wire.LINK_BYTES_MAX + " bytes, got " + link.length);
        }
    }

    /// Addresses of a receiver that only sends datagrams.
    public LaneAddresses(final byte[] control, final byte[] repair) {
        this(control, repair, NONE);
    }
}
