package io.framecast.rdma.verbs;

/// One entry of a port's GID table.
///
/// @param gid the identifier
/// @param index its place in the table: `sgid_index` of an [AddressPath]
/// @param port the port, from 1
/// @param type the format of its packets
/// @param interfaceIndex the network interface it belongs to, as in [java.net.NetworkInterface]; 0 on InfiniBand
public record GidEntry(Gid gid, int index, int port, Type type, int interfaceIndex) {
    /// Kind of network that an entry speaks. In the order of verbs.h.
    public enum Type {
        INFINIBAND,
        ROCE_V1,
        ROCE_V2,
        UNKNOWN
    }
}
