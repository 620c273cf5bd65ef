package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;

/// State of a port at the moment of asking.
///
/// @param state where the link stands; only ACTIVE carries datagrams
/// @param linkLayer network below the verbs
/// @param mtu path MTU in effect and the most the port could have
/// @param gids entries of the GID table
/// @param lid local identifier; 0 on Ethernet
public record PortAttributes(State state, LinkLayer linkLayer, Mtu mtu, int gids, int lid) {
    /// Of a link. In the order of verbs.h.
    public enum State {
        NOP,
        DOWN,
        INIT,
        ARMED,
        ACTIVE,
        ACTIVE_DEFER,
        UNKNOWN
    }

    /// Below the verbs.
    public enum LinkLayer {
        INFINIBAND,
        /// RoCE: groups need membership at IP level too.
        ETHERNET,
        UNKNOWN
    }

    /// The largest payload of a datagram. A longer one completes as sent and goes nowhere, so callers must
    /// look.
    ///
    /// @param activeBytes in effect
    /// @param maxBytes of the hardware
    public record Mtu(int activeBytes, int maxBytes) {
        private static final int UNIT_BYTES = 128;

        /// Number of an MTU in verbs.h: 1 for 256 … 5 for 4096.
        static int code(final int bytes) {
            if (Integer.bitCount(bytes) != 1 || bytes < 2 * UNIT_BYTES || bytes > UNIT_BYTES << 5) {
                throw new IllegalArgumentException("mtu: expected 256, 512, 1024, 2048 or 4096, got " + bytes);
            }
            return Integer.numberOfTrailingZeros(bytes / UNIT_BYTES);
        }

        static int bytes(final int code) {
            return code <= 0 || code > 5 ? 0 : UNIT_BYTES << code;
        }
    }

    public boolean isActive() {
        return state == State.ACTIVE;
    }

    static PortAttributes read(final MemorySegment attributes) {
        return new PortAttributes(
                VerbsLayouts.valueOf(State.values(), attributes.get(JAVA_INT, at("state"))),
                linkLayer(attributes.get(JAVA_BYTE, at("link_layer"))),
                new Mtu(
                        Mtu.bytes(attributes.get(JAVA_INT, at("active_mtu"))),
                        Mtu.bytes(attributes.get(JAVA_INT, at("max_mtu")))),
                attributes.get(JAVA_INT, at("gid_tbl_len")),
                Short.toUnsignedInt(attributes.get(JAVA_SHORT, at("lid"))));
    }

    private static LinkLayer linkLayer(final int code) {
        return switch (code) {
            // Old drivers of InfiniBand leave it unspecified.
            case VerbsConstants.IBV_LINK_LAYER_UNSPECIFIED, VerbsConstants.IBV_LINK_LAYER_INFINIBAND ->
                LinkLayer.INFINIBAND;
            case VerbsConstants.IBV_LINK_LAYER_ETHERNET -> LinkLayer.ETHERNET;
            default -> LinkLayer.UNKNOWN;
        };
    }

    private static long at(final String member) {
        return VerbsLayouts.offset(VerbsLayouts.PORT_ATTR, member);
    }
}
