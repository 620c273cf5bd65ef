package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.concurrent.locks.LockSupport;

/// Membership in a group that the network manages, for as long as it is open: on InfiniBand a subnet manager makes
/// groups, gives them their local identifiers and announces their members to switches ("a join request … must be
/// sent to the subnet administrator", ibv_attach_mcast(3)). On RoCE joining this way works as well.
///
/// Queue pairs that are to receive are attached besides ([QueuePair#attach], with the destination and local
/// identifier of [#path]); a queue pair that only sends must be a member too.
///
/// Threading: one thread at a time.
public final class SubnetGroup implements AutoCloseable {
    private static final long LOOK_NS = 1_000_000;

    private final Verbs library;
    private final Arena arena = Arena.ofShared();
    private final InetAddress group;
    private final MemorySegment groupAddress;
    private MemorySegment channel = MemorySegment.NULL;
    private MemorySegment id = MemorySegment.NULL;
    private boolean joined;
    private boolean closed;
    private AddressPath path = new AddressPath(0, 0, new Gid(0, 0), 0, AddressPath.Hops.DEFAULT);

    private SubnetGroup(final CmLibrary library, final InetAddress group) {
        this.library = library.verbs();
        this.group = group;
        groupAddress = socketAddress(group);
    }

    /// Joins, and waits for the answer.
    ///
    /// @param own address of the interface on the port: IP over InfiniBand, whose partition is the group's
    /// @param patienceNs longest wait
    /// @throws TransportException naming the call that was refused, or the missing answer
    public static SubnetGroup join(
            final CmLibrary library, final InetAddress own, final InetAddress group, final long patienceNs) {
        final SubnetGroup joining = new SubnetGroup(library, group);
        try {
            joining.join(own, patienceNs);
            return joining;
        } catch (final RuntimeException e) {
            joining.close();
            throw e;
        }
    }

    private void join(final InetAddress own, final long patienceNs) {
        channel = library.make("rdma_create_event_channel", "groups of the subnet (is rdma_ucm loaded?)");
        final MemorySegment made = arena.allocate(ADDRESS);
        require("rdma_create_id", own, channel, made, MemorySegment.NULL, CmLayouts.RDMA_PS_UDP);
        id = made.get(ADDRESS, 0);
        require("rdma_bind_addr", own, id, socketAddress(own));
        new DescriptorMode(Verbs.intAt(channel, CmLayouts.EVENT_CHANNEL, "fd"), "groups of the subnet").unblock();
        require("rdma_join_multicast", group, id, groupAddress, MemorySegment.NULL);
        joined = true;
        awaitAnswer(own, System.nanoTime() + patienceNs);
    }

    private void require(final String function, final InetAddress what, final Object... arguments) {
        library.require(function, what.getHostAddress(), arguments);
    }

    private void awaitAnswer(final InetAddress own, final long endNs) {
        final MemorySegment event = arena.allocate(ADDRESS);
        int errno = library.errnoOf("rdma_get_cm_event", channel, event);
        while (errno != 0) {
            if (errno != VerbsErrors.EAGAIN && errno != VerbsErrors.EINTR) {
                throw VerbsErrors.of("rdma_get_cm_event", errno, group.getHostAddress());
            }
            if (System.nanoTime() - endNs > 0) {
                throw new TransportException("verbs: no subnet manager answered " + own.getHostAddress()
                        + " that asked to join " + group.getHostAddress() + "; does a subnet manager run (opensm)?");
            }
            LockSupport.parkNanos(this, LOOK_NS);
            errno = library.errnoOf("rdma_get_cm_event", channel, event);
        }
        final MemorySegment answer = event.get(ADDRESS, 0);
        try {
            take(Verbs.view(answer, CmLayouts.CM_EVENT));
        } finally {
            // An unacknowledged event keeps the identifier from being destroyed, for ever. rdmacm refuses only NULL.
            library.errnoOf("rdma_ack_cm_event", answer);
        }
    }

    private void take(final MemorySegment event) {
        final int kind = event.get(JAVA_INT, at("event"));
        final int status = event.get(JAVA_INT, at("status"));
        if (kind != CmLayouts.RDMA_CM_EVENT_MULTICAST_JOIN || status != 0) {
            throw VerbsErrors.of(
                    "rdma_join_multicast",
                    Math.abs(status),
                    group.getHostAddress() + " (event " + kind + "), does a subnet manager grant it");
        }
        path = AddressPath.read(event.asSlice(at("param", "ah_attr"), VerbsLayouts.AH_ATTR));
    }

    private static long at(final String... names) {
        return VerbsLayouts.offset(CmLayouts.CM_EVENT, names);
    }

    private MemorySegment socketAddress(final InetAddress address) {
        final byte[] raw = address.getAddress();
        final boolean isIpv4 = address instanceof Inet4Address;
        final StructLayout layout = isIpv4 ? CmLayouts.SOCKADDR_IN : CmLayouts.SOCKADDR_IN6;
        final MemorySegment socket = arena.allocate(layout.byteSize(), Long.BYTES);
        socket.set(JAVA_SHORT, VerbsLayouts.offset(layout, isIpv4 ? "sin_family" : "sin6_family"), (short)
                (isIpv4 ? CmLayouts.AF_INET : CmLayouts.AF_INET6));
        final long at = VerbsLayouts.offset(layout, isIpv4 ? "sin_addr" : "sin6_addr");
        MemorySegment.copy(raw, 0, socket, JAVA_BYTE, at, raw.length);
        if (address instanceof Inet6Address ipv6) {
            socket.set(JAVA_INT, VerbsLayouts.offset(layout, "sin6_scope_id"), ipv6.getScopeId());
        }
        return socket;
    }

    /// The path of its datagrams: port, own GID, the group's GID, local identifier, hops and service level.
    public AddressPath path() {
        return path;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            leave();
        } finally {
            arena.close();
        }
    }

    private void leave() {
        // No user can act on a refusal here, and the rest must be released: the kernel leaves the group when the
        // identifier is destroyed, and destroys that, if it could not be, when the channel's descriptor is closed.
        if (joined) {
            library.errnoOf("rdma_leave_multicast", id, groupAddress);
        }
        if (!id.equals(MemorySegment.NULL)) {
            library.errnoOf("rdma_destroy_id", id);
        }
        if (!channel.equals(MemorySegment.NULL)) {
            library.call("rdma_destroy_event_channel", channel);
        }
    }

    @Override
    public String toString() {
        return "group " + path.destination() + " (" + group.getHostAddress() + ")";
    }
}
