package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.rdma.verbs.AddressHandle;
import io.framecast.rdma.verbs.CompletionChannel;
import io.framecast.rdma.verbs.GroupMembership;
import io.framecast.rdma.verbs.QueuePair;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A lane on one UD queue pair: a source's data lane only sends, a receiver's only receives; repair and
/// control do both, by number and by group.
///
/// Lanes share the channel's group; their queue keys separate them ([LaneKeys]).
final class VerbsLane implements Lane {
    private static final int NO_DESCRIPTOR = -1;
    private static final String NAME = "verbs: ";
    // In vain, before events are looked for: a thread that does not sleep does so within a millisecond or some.
    private static final int IDLE_LOOKS = 1024;
    // A working device sends waiting datagrams within microseconds, and the closing thread serves other lanes.
    private static final long DRAIN_MAX_NS = 50_000_000;

    private final LaneKind kind;
    private final VerbsLink link;
    private final RdmaPort port;
    private final Consumer<VerbsLane> onClose;
    private final LaneResources resources = new LaneResources();
    private final QueuePair queuePair;
    private final RdmaAddress address;
    private final RdmaPeers peers;
    private final RdmaPeers.@Nullable Peer group;
    private final @Nullable SendSlots send;
    private final int sendSlots;
    private final @Nullable ReceiveSlots receive;
    private final @Nullable CompletionChannel wakeup;
    private final QueuePairRecovery recovery;
    // Since events were looked for.
    private int idleLooks;
    // As often as this lane looked at the port anew.
    private int portReturns;
    private boolean closed;
    private @Nullable String failure;

    VerbsLane(final VerbsLink link, final LaneConfig config, final Consumer<VerbsLane> onClose) {
        this.onClose = onClose;
        kind = config.kind();
        this.link = link;
        port = link.port();
        portReturns = link.events().returns();
        try {
            final SendRing sendRing = config.send();
            final ReceiveRing receiveRing = config.receive();
            final RdmaAddress only = onlySource(config);
            sendSlots = sendRing == null ? 0 : sendRing.slots();
            final int queueKey = queueKey(only);
            final LaneQueues queues = LaneQueues.open(resources, port, config, queueKey);
            queuePair = queues.pair();
            wakeup = queues.wakeup();
            recovery = new QueuePairRecovery(port, queuePair, queueKey, datagramBytes(config));
            // It may be another than when the transport was opened.
            recovery.requireWide();
            address = new RdmaAddress(port.gid().gid(), port.lid(), queuePair.number(), queueKey);
            peers = resources.keep(new RdmaPeers(link.handles()));
            group = sendRing == null
                    ? null
                    : new RdmaPeers.Peer(AddressHandleCache.Entry.of(groupHandle()), QueuePair.MULTICAST, queueKey);
            send = sendRing == null ? null : openSends(sendRing, queues);
            receive = receiveRing == null ? null : openReceives(receiveRing, queues, only);
            if (receiveRing != null) {
                receiveGroup();
            }
        } catch (final RuntimeException e) {
            release();
            throw e;
        }
    }

    // A receiver's data lane may receive from one source alone.
    private static @Nullable RdmaAddress onlySource(final LaneConfig config) {
        final boolean isData = config.kind() == LaneKind.DATA;
        if (isData && config.role() == LaneConfig.Role.RECEIVER && config.send() != null) {
            throw new IllegalArgumentException("lane DATA: a receiver's data lane sends nothing, got a send ring");
        }
        final LaneAddress peer = config.peer();
        return isData && peer != null ? RdmaAddress.decode(peer) : null;
    }

    private SendSlots openSends(final SendRing ring, final LaneQueues queues) {
        return new SendSlots(
                resources.arena(), link, ring, queues.sends(), queues.depths().sends(), this::key);
    }

    private ReceiveSlots openReceives(
            final ReceiveRing ring, final LaneQueues queues, final @Nullable RdmaAddress only) {
        return resources.keep(new ReceiveSlots(
                resources.arena(),
                link,
                ring,
                new ReceiveSlots.Queues(
                        queues.pair(), queues.receives(), queues.depths().receives()),
                only,
                this::key));
    }

    private int key(final RegistrationCache.Lease lease) {
        return resources.keep(lease).localKey();
    }

    // No datagram is longer than the port carries, even if the rings hold longer ones.
    private int datagramBytes(final LaneConfig config) {
        final SendRing sends = config.send();
        final ReceiveRing receives = config.receive();
        return Math.min(
                port.datagramBytesMax(),
                Math.max(
                        sends == null ? 0 : sends.headerBytes() + sends.payloadBytes(),
                        receives == null ? 0 : receives.headerBytes() + receives.payloadBytes()));
    }

    private int queueKey(final @Nullable RdmaAddress only) {
        if (kind != LaneKind.DATA) {
            return LaneKeys.shared(link.group(), kind);
        }
        return only == null ? LaneKeys.ownData() : only.queueKey();
    }

    // A group's link address follows from its own: no neighbour is asked.
    private AddressHandle groupHandle() {
        return resources.keep(port.domain().addressHandle(link.pathToGroup()));
    }

    private void receiveGroup() {
        // On InfiniBand the transport is a member of the subnet's group.
        if (!port.isInfiniBand()) {
            resources.keep(
                    GroupMembership.join(link.group().address(), port.gid().interfaceIndex()));
        }
        resources.keep(queuePair.attach(
                link.groupPath().destination(), link.groupPath().lid()));
    }

    @Override
    public LaneAddress address() {
        return address.toLaneAddress();
    }

    @Override
    public int post(final int firstSlot, final int count) {
        final ReceiveSlots slots = receiving();
        try {
            return recovery.isFailed() && !isRecovered() ? 0 : slots.post(firstSlot, count);
        } catch (final TransportException e) {
            throw ended(e);
        }
    }

    @Override
    public boolean canRedirect() {
        return receive != null;
    }

    @Override
    public boolean redirect(final int slot, final @Nullable DeviceRegion memory, final long offset, final int bytes) {
        return receiving().redirect(slot, memory, offset, bytes);
    }

    @Override
    public int poll(final Completions completions) {
        final ReceiveSlots slots = receiving();
        try {
            final int count = slots.poll(completions);
            if (count == 0) {
                onIdle();
            }
            if (slots.isFailed()) {
                recoverFrom(slots.failure());
            }
            return count;
        } catch (final TransportException e) {
            throw ended(e);
        }
    }

    private void onIdle() {
        if (++idleLooks >= IDLE_LOOKS) {
            requireDevice();
        }
    }

    // Reads the device's events; called when a lane has no other work.
    private void requireDevice() {
        idleLooks = 0;
        final DeviceEvents events = link.events();
        link.registrations().look();
        events.look();
        final String fatal = events.fatal();
        if (fatal != null) {
            throw new TransportException(fatal);
        }
        final int returns = events.returns();
        if (returns != portReturns) {
            portReturns = returns;
            recovery.requireWide();
        }
    }

    // A queue pair that failed may come back; the lane pushes back until then.
    private void recoverFrom(final TransportException failure) {
        requireDevice();
        if (!recovery.onFailure()) {
            throw failure;
        }
        if (receive != null) {
            receive.hold();
        }
        isRecovered();
    }

    private boolean isRecovered() {
        if (!recovery.isDue()) {
            return false;
        }
        if (receive != null && receive.posted() > 0) {
            recovery.await(receive.posted());
            return false;
        }
        if (send != null && !hasRenewedHandles()) {
            return false;
        }
        recovery.restart();
        if (send != null) {
            send.restart();
        }
        if (receive != null) {
            receive.postAgain();
        }
        return true;
    }

    // A datagram that leaves by the former index of this end's address would fail again. The address may be gone by
    // now.
    private boolean hasRenewedHandles() {
        try {
            renewHandles();
            return true;
        } catch (final TransportException e) {
            if (port.hasGid()) {
                throw e;
            }
            return false;
        }
    }

    private void renewHandles() {
        final int index = port.gidIndex();
        peers.renew(index);
        final AddressHandle former =
                group == null || port.isInfiniBand() ? null : group.entry().handle();
        if (group != null && former != null && former.path().sourceGid() != index) {
            group.entry().replace(groupHandle());
            // The queue pair has failed, so nothing is sent by it; while it is, the kernel keeps its entry.
            resources.release(former);
            former.close();
        }
    }

    @Override
    public int readyDescriptor() {
        return closed || wakeup == null ? NO_DESCRIPTOR : wakeup.descriptor();
    }

    /// Takes back the descriptor's former signal, then arms it again: the caller's next poll finds a datagram
    /// that came in between.
    @Override
    public void armReady() {
        if (closed || wakeup == null || receive == null) {
            return;
        }
        try {
            requireDevice();
            wakeup.drain();
            receive.arm();
        } catch (final TransportException e) {
            throw ended(e);
        }
    }

    @Override
    public int receiveCapacity() {
        return receive == null ? 0 : UNLIMITED;
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        final SendSlots slots = sending(firstSlot, count);
        return group == null ? 0 : send(slots, group, firstSlot, count);
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        final SendSlots slots = sending(firstSlot, count);
        return send(slots, peers.peer(peer), firstSlot, count);
    }

    private int send(final SendSlots slots, final RdmaPeers.Peer to, final int firstSlot, final int count) {
        try {
            if (recovery.isFailed() && !isRecovered()) {
                return slots.pushBack(count);
            }
            final int accepted = slots.send(queuePair, to, firstSlot, count);
            if (slots.isFailed()) {
                recoverFrom(slots.failure());
            }
            return accepted;
        } catch (final TransportException e) {
            throw ended(e);
        }
    }

    @Override
    public long submitted() {
        return send == null ? 0 : send.submitted();
    }

    @Override
    public long completed() {
        if (failure != null) {
            throw new TransportException(failure);
        }
        if (send == null) {
            return 0;
        }
        if (!closed) {
            try {
                send.reap();
                if (receive == null && send.isIdle()) {
                    onIdle();
                }
                if (send.isFailed()) {
                    recoverFrom(send.failure());
                }
            } catch (final TransportException e) {
                throw ended(e);
            }
        }
        return send.completed();
    }

    @Override
    public int connect(final LaneAddress peer) {
        requireOpen();
        final RdmaAddress wanted = RdmaAddress.decode(peer);
        wanted.requireReachable(address);
        peers.settle(completed());
        return peers.add(wanted);
    }

    @Override
    public void disconnect(final int peer) {
        requireOpen();
        peers.remove(peer, submitted());
        peers.settle(completed());
    }

    @Override
    public long counter(final LaneCounter counter) {
        return (send == null ? 0 : send.counter(counter))
                + (receive == null ? 0 : receive.counter(counter))
                + (counter == LaneCounter.SYSTEM_ERRORS ? recovery.recoveries() : 0);
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
        if (failure != null) {
            throw new TransportException(failure);
        }
        if (closed) {
            throw new IllegalStateException("lane " + kind + " is closed");
        }
    }

    /// A queue pair that failed never comes back by itself: this lane is over, the other lanes go on.
    private TransportException ended(final TransportException cause) {
        if (closed) {
            return cause;
        }
        failure = "verbs: lane " + kind + " of " + queuePair + " ended: " + withoutName(cause) + "; " + standing();
        try {
            close();
        } catch (final RuntimeException e) {
            cause.addSuppressed(e);
        }
        return new TransportException(failure, cause);
    }

    private static String withoutName(final TransportException cause) {
        final String line = String.valueOf(cause.getMessage());
        return line.startsWith(NAME) ? line.substring(NAME.length()) : line;
    }

    // The state of queue pair and port, as far as the device still answers.
    private String standing() {
        try {
            return "the queue pair is " + queuePair.state() + ", " + port.context() + " port "
                    + port.gid().port() + " "
                    + port.context().port(port.gid().port()).state();
        } catch (final TransportException _) {
            return port.context() + " does not answer any more";
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        try {
            drain();
            release();
        } finally {
            onClose.accept(this);
        }
    }

    // The last sends announce the end of the session. Regions and address handles close next, and the device would
    // lose sends that still wait.
    private void drain() {
        final SendSlots posted = send;
        if (posted == null || failure != null || recovery.isFailed() || posted.isFailed()) {
            return;
        }
        final long endNs = System.nanoTime() + DRAIN_MAX_NS;
        try {
            posted.reap();
            while (!posted.isIdle() && !posted.isFailed() && System.nanoTime() < endNs) {
                Thread.onSpinWait();
                posted.reap();
            }
        } catch (final TransportException _) {
            // The device is gone, and with it the posted sends.
        }
    }

    private void release() {
        closed = true;
        resources.close();
    }
}
