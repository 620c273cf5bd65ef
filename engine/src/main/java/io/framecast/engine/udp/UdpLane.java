package io.framecast.engine.udp;

import io.framecast.api.error.NativeException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.net.LaneCounts;
import io.framecast.engine.ready.ReadySet;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A lane on UDP sockets. The kernel copies between a socket and the rings' slots; the lane touches no payload.
///
/// Sends are complete when the call returns: the kernel has copied them. A receiver's data lane only receives,
/// and its [#address] is that of the group; unicast reaches repair and control lanes.
final class UdpLane implements Lane {
    // Quarters of the receive buffer that may hold datagrams. The kernel frees room only when a quarter of the
    // buffer was read, or all of it. One quarter may thus still be charged for datagrams already read.
    private static final int USABLE_QUARTERS = 3;

    private final LaneKind kind;
    private final UdpLink link;
    private final SystemFaults faults;
    private final @Nullable Readiness readiness;
    private final Consumer<UdpLane> onClose;
    private final Arena arena = Arena.ofShared();
    private final LaneCounts counts = new LaneCounts();
    private final LaneSockets sockets;
    private final LaneAddress address;
    private final PeerTable peers;
    private final MemorySegment groupSockaddr;
    private final @Nullable SendSlots send;
    private final int sendSlots;
    private final @Nullable ReceiveSlots receive;
    private final @Nullable ReceiveSocket group;
    private final @Nullable ReceiveSocket own;
    private final int receiveCapacity;
    private long submitted;
    private long drops;
    private boolean crowded;
    private boolean closed;

    UdpLane(
            final UdpLink link,
            final SocketBuffers buffers,
            final Offload offload,
            final SystemFaults faults,
            final @Nullable Readiness readiness,
            final LaneConfig config,
            final Consumer<UdpLane> onClose) {
        this.link = link;
        this.faults = faults;
        this.readiness = readiness;
        this.onClose = onClose;
        kind = config.kind();
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            opened.add(arena);
            final SendRing sendRing = config.send();
            final ReceiveRing receiveRing = config.receive();
            if (kind == LaneKind.DATA && config.role() == LaneConfig.Role.RECEIVER && sendRing != null) {
                throw new IllegalArgumentException("lane DATA: a receiver's data lane sends nothing, got a send ring");
            }
            send = sendRing == null ? null : new SendSlots(arena, sendRing, counts, offload, faults);
            sendSlots = sendRing == null ? 0 : sendRing.slots();
            receive = receiveRing == null ? null : new ReceiveSlots(arena, receiveRing, counts);
            sockets = opened.add(LaneSockets.open(arena, link, buffers, config));
            address = sockets.address().toLaneAddress();
            peers = new PeerTable(arena);
            groupSockaddr = arena.allocate(link.group().family().sockaddrBytes, Long.BYTES);
            link.group(kind.portOffset()).write(groupSockaddr, 0, link.index());
            if (sockets.own() != null) {
                offload.probe(sockets.own());
            }
            group = receiveSocket(sockets.group(), offload, receiveRing);
            own = receiveSocket(sockets.own(), offload, receiveRing);
            receiveCapacity = receiveRing == null ? 0 : capacity(receiveRing, sockets.receiveBytes());
            opened.keep();
        }
    }

    private @Nullable ReceiveSocket receiveSocket(
            final @Nullable LinuxSocket socket, final Offload offload, final @Nullable ReceiveRing ring) {
        return socket == null || ring == null
                ? null
                : new ReceiveSocket(
                        socket,
                        offload,
                        readiness,
                        kind == LaneKind.DATA,
                        kind != LaneKind.CONTROL && ReceiveSlots.canJoin(ring));
    }

    private int capacity(final ReceiveRing ring, final long receiveBytes) {
        final int datagramBytes = Math.min(ring.headerBytes() + ring.payloadBytes(), link.datagramBytesMax());
        final long datagrams = receiveBytes / 4 * USABLE_QUARTERS / Truesize.of(datagramBytes, link.loopback());
        return Math.clamp(datagrams, 1, UNLIMITED - 1);
    }

    @Override
    public LaneAddress address() {
        return address;
    }

    @Override
    public int post(final int firstSlot, final int count) {
        return receiving().post(firstSlot, count);
    }

    @Override
    public boolean canRedirect() {
        return receive != null && receive.canRedirect();
    }

    @Override
    public boolean redirect(final int slot, final @Nullable DeviceRegion memory, final long offset, final int bytes) {
        receiving().redirect(slot, memory == null ? null : memory.host(), offset, bytes);
        return true;
    }

    @Override
    public int poll(final Completions completions) {
        final ReceiveSlots slots = receiving();
        final int before = completions.count();
        slots.handOut(completions);
        // Unicast goes before multicast, which may build on it, but cannot keep multicast waiting for ever.
        final boolean groupFirst = crowded;
        drain(groupFirst ? group : own, slots, completions);
        crowded = !groupFirst && completions.isFull();
        drain(groupFirst ? own : group, slots, completions);
        return completions.count() - before;
    }

    private void drain(final @Nullable ReceiveSocket socket, final ReceiveSlots slots, final Completions completions) {
        if (socket == null || !socket.isReady()) {
            return;
        }
        final int errno = slots.drain(socket, completions);
        if (errno != 0 && errno != Linux.EAGAIN) {
            survive("recvmmsg", errno);
        }
    }

    // The kernel wakes a set of descriptors and each watcher of the set for every datagram, on the sender's time.
    // Next to no datagrams arrive on the other lanes.
    @Override
    public int readyDescriptor() {
        final LinuxSocket socket = closed || kind != LaneKind.DATA ? null : sockets.group();
        return socket == null ? ReadySet.NONE : socket.descriptor();
    }

    @Override
    public int receiveCapacity() {
        return receiveCapacity;
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        final SendSlots slots = sending(firstSlot, count);
        return sockets.sendsConnected()
                ? send(slots, 0, firstSlot, count)
                : send(slots, groupSockaddr.address(), firstSlot, count);
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        final SendSlots slots = sending(firstSlot, count);
        return send(slots, peers.sockaddr(peer), firstSlot, count);
    }

    private int send(final SendSlots slots, final long sockaddr, final int firstSlot, final int count) {
        final LinuxSocket from = sockets.own();
        if (from == null) {
            throw new IllegalStateException("lane " + kind + ": a receiver's data lane sends nothing");
        }
        final int sockaddrBytes = sockaddr == 0 ? 0 : link.group().family().sockaddrBytes;
        try {
            final int accepted = slots.send(from, sockaddr, sockaddrBytes, firstSlot, count);
            submitted += accepted;
            return accepted;
        } catch (final NativeException e) {
            close();
            throw e;
        }
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long completed() {
        return submitted;
    }

    @Override
    public long queuedBytes() {
        final LinuxSocket socket = closed ? null : sockets.own();
        return socket == null ? 0 : socket.memoryInfo(Linux.MEMINFO_WMEM_ALLOC);
    }

    @Override
    public int connect(final LaneAddress peer) {
        requireOpen();
        return peers.add(Endpoint.decode(peer, link.group().family()), link.index());
    }

    @Override
    public void disconnect(final int peer) {
        requireOpen();
        peers.remove(peer);
    }

    @Override
    public long counter(final LaneCounter counter) {
        if (counter == LaneCounter.RECEIVE_OVERRUNS) {
            // The lane asks the kernel only when a caller reads the counter, because it costs a system call.
            drops = closed ? drops : sockets.drops();
            return drops;
        }
        return counts.value(counter);
    }

    private void survive(final String function, final int errno) {
        try {
            SendSlots.requireUsable(function, errno);
        } catch (final NativeException e) {
            close();
            throw e;
        }
        counts.add(LaneCounter.SYSTEM_ERRORS, 1);
        faults.onFault(errno, 0, System.nanoTime());
    }

    private ReceiveSlots receiving() {
        requireOpen();
        if (receive == null) {
            throw new IllegalStateException("lane " + kind + ": opened without a receive ring");
        }
        return receive;
    }

    private SendSlots sending(final int firstSlot, final int count) {
        requireOpen();
        if (send == null) {
            throw new IllegalStateException("lane " + kind + ": opened without a send ring");
        }
        if (firstSlot < 0 || firstSlot >= sendSlots || count < 0) {
            throw new IllegalArgumentException(
                    "send: expected slots of 0 … " + (sendSlots - 1) + ", got " + firstSlot + " + " + count);
        }
        return send;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("lane " + kind + " is closed");
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        drops = sockets.drops();
        closed = true;
        forget(group);
        forget(own);
        sockets.close();
        arena.close();
        onClose.accept(this);
    }

    private void forget(final @Nullable ReceiveSocket socket) {
        if (socket != null && readiness != null) {
            readiness.remove(socket);
        }
    }
}
