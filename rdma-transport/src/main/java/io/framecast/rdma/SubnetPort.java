package io.framecast.rdma;

import io.framecast.rdma.verbs.Context;
import io.framecast.rdma.verbs.GidEntry;
import io.framecast.rdma.verbs.PortAttributes;
import java.util.Optional;

/// A port that is active on InfiniBand, with IP over InfiniBand on it.
///
/// @param port as it stands
/// @param gid own, the first of its table
/// @param ipoib the interface by which groups are asked for
record SubnetPort(PortAttributes port, GidEntry gid, Ipoib ipoib) {
    /// @param wanted device, network interface or address; empty for any
    static Optional<SubnetPort> on(final Context context, final boolean ipv4, final String wanted) {
        final int ports = context.attributes().ports();
        for (int number = 1; number <= ports; number++) {
            final PortAttributes port = context.port(number);
            final Optional<Ipoib> ipoib = isManaged(port) ? Ipoib.on(context.name(), number, ipv4) : Optional.empty();
            final Optional<GidEntry> gid = context.gid(number, 0);
            if (ipoib.isPresent() && gid.isPresent() && isWanted(context, ipoib.get(), wanted)) {
                return Optional.of(new SubnetPort(port, gid.get(), ipoib.get()));
            }
        }
        return Optional.empty();
    }

    static boolean isAny(final Context context) {
        return on(context, true, "").or(() -> on(context, false, "")).isPresent();
    }

    private static boolean isManaged(final PortAttributes port) {
        return port.isActive() && port.linkLayer() == PortAttributes.LinkLayer.INFINIBAND && port.lid() != 0;
    }

    private static boolean isWanted(final Context context, final Ipoib ipoib, final String wanted) {
        return wanted.isEmpty()
                || wanted.equals(context.name())
                || wanted.equals(ipoib.name())
                || RdmaPort.isAddress(wanted, ipoib.address());
    }

    int datagramBytesMax() {
        return Math.min(port.mtu().activeBytes(), ipoib.datagramBytesMax());
    }
}
