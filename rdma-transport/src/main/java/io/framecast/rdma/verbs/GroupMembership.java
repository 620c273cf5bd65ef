package io.framecast.rdma.verbs;

import io.framecast.api.error.TransportException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import org.jspecify.annotations.Nullable;

/// Membership of a network interface in a group, for as long as it is open: on RoCE the kernel's IP layer, and
/// switches that snoop, drop a group's packets before the device sees them unless a member has joined.
///
/// A socket of this process joins and never reads. librdmacm's `rdma_join_multicast` would do the same on
/// RoCE, by the same means (IGMP and MLD in the kernel), but needs another library, another kernel module
/// (rdma_ucm) and an event loop; it is needed only where a subnet manager hands out groups, on InfiniBand.
///
/// Threading: any thread.
public final class GroupMembership implements AutoCloseable {
    private final DatagramChannel channel;

    private GroupMembership(final DatagramChannel channel) {
        this.channel = channel;
    }

    /// @param interfaceIndex network interface, of [GidEntry#interfaceIndex]
    /// @throws TransportException when the system refuses
    public static GroupMembership join(final InetAddress group, final int interfaceIndex) {
        try {
            final NetworkInterface network = NetworkInterface.getByIndex(interfaceIndex);
            if (network == null) {
                throw new TransportException("verbs: no network interface " + interfaceIndex + " to join "
                        + group.getHostAddress() + " on; is the device's interface up, with an address?");
            }
            return join(group, network);
        } catch (final IOException e) {
            throw new TransportException("verbs: network interface " + interfaceIndex + ": " + e.getMessage(), e);
        }
    }

    /// @param network the interface below the device
    public static GroupMembership join(final InetAddress group, final NetworkInterface network) {
        DatagramChannel channel = null;
        try {
            channel = DatagramChannel.open(
                    group instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
            channel.join(group, network);
            return new GroupMembership(channel);
        } catch (final IOException | IllegalArgumentException | UnsupportedOperationException e) {
            // Java has the last for a family that this system does not have at all, the second for no group.
            close(channel);
            throw new TransportException(
                    "verbs: " + network.getName() + " cannot join " + group.getHostAddress() + " (" + e.getMessage()
                            + "); is it up, with an address of that family?",
                    e);
        }
    }

    private static void close(final @Nullable DatagramChannel channel) {
        if (channel == null) {
            return;
        }
        try {
            channel.close();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        close(channel);
    }
}
