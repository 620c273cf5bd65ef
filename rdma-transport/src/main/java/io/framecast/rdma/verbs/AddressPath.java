package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;

/// The path to a port or a group.
///
/// @param port own port, from 1
/// @param sourceGid index of the own GID in the port's table; on RoCE it chooses address family and network
///     interface
/// @param destination GID of the peer or group
/// @param lid local identifier of the peer or group on InfiniBand; 0 on RoCE
/// @param hops how many routers it may pass, and priority
public record AddressPath(int port, int sourceGid, Gid destination, int lid, Hops hops) {
    /// @param limit TTL or hop limit, 0 … 255
    /// @param trafficClass TOS or traffic class, 0 … 255
    /// @param serviceLevel of InfiniBand, 0 … 15
    public record Hops(int limit, int trafficClass, int serviceLevel) {
        public static final Hops DEFAULT = new Hops(64, 0, 0);
    }

    static AddressPath read(final MemorySegment attributes) {
        return new AddressPath(
                byteAt(attributes, "port_num"),
                byteAt(attributes, "grh", "sgid_index"),
                Gid.read(attributes, at("grh", "dgid")),
                Short.toUnsignedInt(attributes.get(JAVA_SHORT, at("dlid"))),
                new Hops(
                        byteAt(attributes, "grh", "hop_limit"),
                        byteAt(attributes, "grh", "traffic_class"),
                        byteAt(attributes, "sl")));
    }

    private static int byteAt(final MemorySegment attributes, final String... path) {
        return Byte.toUnsignedInt(attributes.get(JAVA_BYTE, at(path)));
    }

    void write(final MemorySegment attributes) {
        destination.write(attributes, at("grh", "dgid"));
        attributes.set(JAVA_BYTE, at("grh", "sgid_index"), (byte) sourceGid);
        attributes.set(JAVA_BYTE, at("grh", "hop_limit"), (byte) hops.limit);
        attributes.set(JAVA_BYTE, at("grh", "traffic_class"), (byte) hops.trafficClass);
        attributes.set(JAVA_SHORT, at("dlid"), (short) lid);
        attributes.set(JAVA_BYTE, at("sl"), (byte) hops.serviceLevel);
        attributes.set(JAVA_BYTE, at("is_global"), (byte) 1);
        attributes.set(JAVA_BYTE, at("port_num"), (byte) port);
    }

    private static long at(final String... path) {
        return VerbsLayouts.offset(VerbsLayouts.AH_ATTR, path);
    }
}
