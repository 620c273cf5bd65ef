package io.framecast.reliability.onesided;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Objects;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// The one-sided endpoints of one receiver: one to its source, whose window it reads and in whose memory it writes
/// its credit, and one to its co-root, anew with each assignment. Datagrams carry all that an endpoint cannot.
///
/// Threading: the session's thread, but for construction. Ownership: owns its endpoints and registrations.
public class RemoteWindows implements RemoteMemory, AutoCloseable {
    private static final byte[] NO_DESCRIPTOR = {};

    private final OneSidedPort port;
    private final StreamInfo stream;
    private final Consumer<String> notices;
    private final @Nullable ReadBuffers buffers;
    private final Counts<ReadCount> sourceReads = new Counts<>(ReadCount.class);
    private final Counts<ReadCount> coRootReads = new Counts<>(ReadCount.class);
    private final @Nullable PeerWindow source;
    private @Nullable PeerWindow coRoot;
    private @Nullable ReceiverMachine machine;
    private boolean closed;
    private long nowNs;

    /// Registers the slots and makes the endpoint to the source. Where the system refuses, the receiver goes by
    /// datagram, and a notice says why.
    ///
    /// @param slots receive slots of reads; null where the receiver only writes credit
    /// @param notices takes single lines for the operator
    public RemoteWindows(
            final OneSidedPort port,
            final StreamInfo stream,
            final @Nullable ReadSlots slots,
            final Consumer<String> notices) {
        this.port = port;
        this.stream = stream;
        this.notices = notices;
        ReadBuffers opened = slots == null ? null : openBuffers(slots);
        PeerWindow made = null;
        try {
            made = openSource(opened);
        } finally {
            if (made == null) {
                // Without an endpoint to the source there is none to a co-root.
                CloseHelper.close(opened);
                opened = null;
            }
        }
        buffers = opened;
        source = made;
    }

    private @Nullable ReadBuffers openBuffers(final ReadSlots slots) {
        try {
            return new ReadBuffers(port, slots);
        } catch (final RefusedException e) {
            notice("repair goes by datagram: " + e.getMessage());
            return null;
        }
    }

    private @Nullable PeerWindow openSource(final @Nullable ReadBuffers opened) {
        try {
            return new PeerWindow(
                    port.open(WindowReads.OPERATIONS_MAX, Access.PEERS_WRITE),
                    opened,
                    stream,
                    // Where the source does not wait for this receiver it reuses slots while they are read.
                    () -> !machine().isWaitedFor(),
                    new SourceListener(),
                    sourceReads);
        } catch (final RefusedException e) {
            notice("credit and repair go by datagram: " + e.getMessage());
            return null;
        }
    }

    private void notice(final String line) {
        notices.accept("subscriber of " + stream.channel() + ": " + line);
    }

    /// Once, before the first [#poll].
    ///
    /// @param receiver the machine of these operations
    public void attach(final ReceiverMachine receiver) {
        machine = receiver;
    }

    private ReceiverMachine machine() {
        return Objects.requireNonNull(machine);
    }

    /// The descriptor for JOIN; empty without an endpoint.
    public byte[] descriptor() {
        return source == null ? NO_DESCRIPTOR : source.descriptor();
    }

    /// Reads out of the source's window.
    public Counts<ReadCount> sourceReads() {
        return sourceReads;
    }

    /// Reads out of co-roots' replicas.
    public Counts<ReadCount> coRootReads() {
        return coRootReads;
    }

    @Override
    public boolean connectToSource(final EndpointOffer offer) {
        final PeerWindow current = source;
        if (current == null) {
            return false;
        }
        if (!current.connect(offer)) {
            notice("credit and repair go by datagram from now on: " + current.failure());
            return false;
        }
        return true;
    }

    @Override
    public boolean writeCredit(final long credit) {
        return source != null && source.write(credit);
    }

    @Override
    public int readFromSource(final long firstSequence, final int count) {
        return source == null ? NOT_READ : source.read(firstSequence, count, nowNs);
    }

    @Override
    public boolean openCoRootEndpoint() {
        if (closed || buffers == null) {
            return false;
        }
        closeCoRootEndpoint();
        coRoot = new PeerWindow(
                port.openLater(WindowReads.OPERATIONS_MAX),
                buffers,
                stream,
                () -> true,
                new CoRootListener(),
                coRootReads);
        return true;
    }

    @Override
    public byte @Nullable [] coRootDescriptor() {
        final byte[] descriptor = coRoot == null ? NO_DESCRIPTOR : coRoot.descriptor();
        return descriptor.length == 0 ? null : descriptor;
    }

    @Override
    public boolean connectCoRootEndpoint(final EndpointOffer offer) {
        final PeerWindow current = coRoot;
        if (current == null || coRootDescriptor() == null) {
            return false;
        }
        if (!current.connect(offer)) {
            notice("its co-root repairs by datagram: " + current.failure());
            return false;
        }
        return true;
    }

    @Override
    public void closeCoRootEndpoint() {
        final PeerWindow current = coRoot;
        if (current != null) {
            coRoot = null;
            current.close();
        }
    }

    @Override
    public int readFromCoRoot(final long firstSequence, final int count) {
        return coRoot == null ? NOT_READ : coRoot.read(firstSequence, count, nowNs);
    }

    /// Whether an operation is in flight, whose end no descriptor shows.
    public boolean isBusy() {
        return (source != null && source.isBusy()) || (coRoot != null && coRoot.isBusy());
    }

    /// Once in each cycle: notifies the machine of operations that ended.
    ///
    /// @return work done
    public int poll(final long now) {
        nowNs = now;
        int work = 0;
        if (source != null) {
            work += source.poll(machine().link().slowNs(), now);
        }
        final PeerWindow current = coRoot;
        if (current != null) {
            work += current.poll(machine().link().slowNs(), now);
        }
        return work;
    }

    @Override
    public void close() {
        closed = true;
        CloseHelper.closeAll(this::closeCoRootEndpoint, this::closeSource, buffers);
    }

    private void closeSource() {
        if (source != null) {
            source.close();
        }
    }

    private final class SourceListener implements PeerWindow.Listener {
        @Override
        public void onUp(final long now) {
            machine().link().onUp(now);
        }

        @Override
        public void onWritten(final long now) {
            machine().link().onWritten(now);
        }

        @Override
        public void onBroken(final String failure, final long now) {
            notice("credit and repair go by datagram from now on: " + failure);
            machine().link().onBroken(now);
        }

        @Override
        public void onStale(final long sequence, final long now) {
            machine().repairRequests().escalate(sequence, now);
        }
    }

    private final class CoRootListener implements PeerWindow.Listener {
        @Override
        public void onUp(final long now) {
            machine().coRootConnection().onUp();
        }

        @Override
        public void onWritten(final long now) {
            throw new IllegalStateException("a member writes no credit to its co-root");
        }

        @Override
        public void onBroken(final String failure, final long now) {
            notice("its co-root repairs by datagram: " + failure);
            closeCoRootEndpoint();
            machine().coRootConnection().onBroken();
        }

        @Override
        public void onStale(final long sequence, final long now) {
            machine().repairRequests().ask(sequence, now);
        }
    }
}
