package io.framecast.reliability.receive;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.send.SenderOutput;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.HeartbeatValues;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A sender and a receiver machine joined by two queues of control datagrams that a test carries, or loses,
/// by hand. Payload is headers only: 40 bytes are read wherever a datagram is given.
public final class MachinePair {
    public static final long SESSION = 0x5eed_0000_cafe_0001L;
    public static final long SECRET = 0x5ec2e7;
    static final int SLOT_BYTES = 64;
    public static final int WINDOW = 64;
    public static final long ALIVE_NS = 1_000_000_000;
    public static final LaneAddresses ADDRESSES = new LaneAddresses(new byte[] {1}, new byte[] {2});

    final StreamInfo stream = new StreamInfo(
            SESSION,
            "pair",
            SLOT_BYTES,
            WINDOW,
            SLOT_BYTES * 16L,
            (int) (ALIVE_NS / 1_000_000),
            new byte[] {7},
            new byte[] {8});
    final MemorySegment headers = MemorySegment.ofArray(new byte[WINDOW * DataLayout.LENGTH]);
    final int[] lengths = new int[WINDOW];
    public final SendWindow window =
            new SendWindow(new WindowMemory(headers, MemorySegment.NULL, lengths, WINDOW, SLOT_BYTES), SESSION);
    public final ArrayDeque<MemorySegment> toReceiver = new ArrayDeque<>();
    public final ArrayDeque<MemorySegment> toSender = new ArrayDeque<>();
    final ArrayDeque<Integer> probes = new ArrayDeque<>();
    public final ArrayDeque<Long> repairs = new ArrayDeque<>();
    public final SenderMachine sender;
    public ReceiverMachine receiver;
    final FakeSourceConnection link = new FakeSourceConnection();
    final FakeCoRootConnection coRootConnection = new FakeCoRootConnection();
    private final RemoteMemory remote = new FakeRemoteMemory();
    boolean reachable = true;
    public boolean oneHost = true;
    public Consumer<MemorySegment> onUnicast = _ -> {};
    public boolean probesLost;
    int disconnects;
    public long nowNs;
    // How old nowNs is, as a duty cycle's time is behind the datagrams that it reads.
    long staleNs;

    public MachinePair() {
        this(256, 32, 4);
    }

    public MachinePair(final int ringSlots, final int capacity, final int membersMax) {
        sender = new SenderMachine(
                new SenderConfig(stream, membersMax, 0, CoRootConfig.NONE),
                window,
                new SplittableRandom(1),
                new Source());
        receiver = newReceiver(5, ringSlots, capacity);
    }

    public ReceiverMachine newReceiver(final long id, final int ringSlots, final int capacity) {
        return newReceiver(id, ringSlots, capacity, Delivery.RELIABLE);
    }

    public ReceiverMachine newReceiver(
            final long id, final int ringSlots, final int capacity, final Delivery delivery) {
        return newReceiver(id, SECRET, ringSlots, capacity, delivery);
    }

    /// A receiver that is to go on with another one's membership.
    ReceiverMachine newSuccessor(final long id, final Checkpoint from) {
        return newReceiver(id, ResumeLayout.next(from.secret), 256, 32, Delivery.RELIABLE);
    }

    private ReceiverMachine newReceiver(
            final long id, final long secret, final int ringSlots, final int capacity, final Delivery delivery) {
        final ReceiverConfig config =
                new ReceiverConfig(stream, id, secret, ringSlots, capacity, 2, delivery, ADDRESSES, 0, 0);
        return new ReceiverMachine(config, new SplittableRandom(2), new Sink(), null);
    }

    /// A receiver that can act on its source's memory.
    ReceiverMachine newLinkedReceiver(final long id, final Delivery delivery) {
        final LaneAddresses addresses =
                new LaneAddresses(new byte[] {1}, new byte[] {2}, FakeSourceConnection.RECEIVER);
        return new ReceiverMachine(
                new ReceiverConfig(stream, id, SECRET, 256, 32, 2, delivery, addresses, 0, 0),
                new SplittableRandom(2),
                new Sink(),
                null);
    }

    /// Carries all control datagrams and probes until both are silent.
    public void exchange() {
        while (!toReceiver.isEmpty() || !toSender.isEmpty() || !probes.isEmpty()) {
            if (!toSender.isEmpty()) {
                final MemorySegment datagram = toSender.remove();
                sender.onControl(datagram, 0, (int) datagram.byteSize(), nowNs);
            }
            if (!toReceiver.isEmpty()) {
                final MemorySegment datagram = toReceiver.remove();
                receiver.onControl(datagram, 0, (int) datagram.byteSize(), nowNs);
            }
            if (!probes.isEmpty()) {
                final int token = probes.remove();
                if (!probesLost) {
                    probe(token);
                }
            }
        }
    }

    /// A heartbeat of the source, or of an attacker that knows its session.
    public void heartbeat(final long nextSequence, final int flags) {
        heartbeat(nextSequence, 0, flags);
    }

    public void heartbeat(final long nextSequence, final long nextFrameId, final int flags) {
        heartbeat(nextSequence, nextFrameId, flags, Math.min(nextSequence, WINDOW));
    }

    /// @param repairable datagrams below the next that can still be sent again
    void heartbeat(final long nextSequence, final long nextFrameId, final int flags, final long repairable) {
        final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final byte[] channel = stream.channel().getBytes(StandardCharsets.US_ASCII);
        final HeartbeatValues values = new HeartbeatValues();
        values.progress(nextSequence, nextFrameId).repairable(repairable).timing(nowNs, 1_000, 1);
        receiver.onControl(
                datagram,
                0,
                HeartbeatLayout.write(new ControlWriter(SESSION).in(datagram), flags, stream, channel, values),
                nowNs);
    }

    void probe(final int token) {
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        DataLayout.write(header, 0, new DataHeader().session(DataLayout.TYPE_PROBE, SESSION), 0, token);
        new HeaderChecksum().seal(header, 0, SESSION);
        receiver.onData(header, 0, DataLayout.LENGTH + SLOT_BYTES, nowNs);
    }

    public void join() {
        receiver.start(nowNs);
        exchange();
        tick();
        exchange();
    }

    /// Publishes a frame of whole slots.
    public void publish(final int slots) {
        publish(slots, new byte[0]);
    }

    public void publish(final int slots, final byte[] metadata) {
        final long bytes = (long) slots * SLOT_BYTES;
        window.beginFrame(bytes, 0, nowNs, metadata);
        window.commit(bytes, slots);
    }

    /// Sends the permitted datagrams; the first `lost` of them never arrive.
    public long send(final int lost) {
        final int count = sender.sendable();
        final long first = sender.nextSequence();
        sender.announceMetadata(count);
        sender.onSent(count, nowNs);
        for (long sequence = first + lost; sequence < first + count; sequence++) {
            data(sequence);
        }
        return count;
    }

    void data(final long sequence) {
        final int slot = window.slot(sequence);
        receiver.onData(headers, (long) slot * DataLayout.LENGTH, DataLayout.LENGTH + lengths[slot], nowNs);
    }

    void carryRepairs() {
        while (!repairs.isEmpty()) {
            final int slot = window.slot(repairs.remove());
            receiver.onRepair(headers, (long) slot * DataLayout.LENGTH, DataLayout.LENGTH + lengths[slot], nowNs);
        }
    }

    void tick() {
        if (sender.nextDeadlineNs() <= nowNs) {
            sender.onTick(nowNs);
        }
        drop();
        if (receiver.nextDeadlineNs() <= nowNs) {
            receiver.onTick(nowNs);
        }
    }

    /// As if the ring were endless: frames that are dropped free nothing.
    ///
    /// @return whether any were
    boolean drop() {
        boolean any = false;
        while (receiver.pollUnfinished(nowNs) != null || receiver.pollOutdated(nowNs) != null) {
            any = true;
        }
        return any;
    }

    /// Lets time pass without loss.
    void run(final long forNs) {
        final long end = nowNs + forNs;
        while (nowNs < end) {
            nowNs = Math.min(end, Math.max(nowNs + 1, Math.min(sender.nextDeadlineNs(), receiver.nextDeadlineNs())));
            tick();
            exchange();
            carryRepairs();
            window.free(sender.releasable());
        }
    }

    private static MemorySegment copy(final MemorySegment scratch, final int bytes) {
        return MemorySegment.ofArray(scratch.asSlice(0, bytes).toArray(JAVA_BYTE));
    }

    private final class Source implements SenderOutput {
        private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

        @Override
        public long timeNs(final long nowNs) {
            return nowNs + staleNs;
        }

        @Override
        public MemorySegment control() {
            return scratch;
        }

        @Override
        public void multicastControl(final int bytes) {
            toReceiver.add(copy(scratch, bytes));
        }

        @Override
        public void sendControl(final int member, final int bytes) {
            onUnicast.accept(copy(scratch, bytes));
            toReceiver.add(copy(scratch, bytes));
        }

        @Override
        public void probe(final int token) {
            probes.add(token);
        }

        @Override
        public boolean isOneHost(final LaneAddresses addresses) {
            return oneHost;
        }

        @Override
        public boolean connect(final int member, final byte[] controlAddress, final byte[] repairAddress) {
            return reachable;
        }

        @Override
        public void disconnect(final int member) {
            disconnects++;
        }

        @Override
        public boolean link(final int member, final byte[] descriptor, final boolean feeds) {
            return link.accept(member, descriptor);
        }

        @Override
        public @Nullable EndpointOffer endpointOffer(final int member) {
            return link.offer(member);
        }

        @Override
        public boolean isEndpointBroken(final int member) {
            return link.broken;
        }

        @Override
        public void unlink(final int member) {
            link.cut(member);
        }

        @Override
        public int repair(final int member, final long firstSequence, final int count) {
            if (member < RetransmitScheduler.EVERYBODY) {
                throw new IllegalStateException("repair to member " + member);
            }
            for (int i = 0; i < count; i++) {
                repairs.add(firstSequence + i);
            }
            return count;
        }
    }

    private final class Sink implements ReceiverOutput {
        private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

        @Override
        public long timeNs(final long nowNs) {
            return nowNs + staleNs;
        }

        @Override
        public MemorySegment control() {
            return scratch;
        }

        @Override
        public void sendControl(final int bytes) {
            coRootConnection.said(scratch);
            toSender.add(copy(scratch, bytes));
        }

        @Override
        public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
            return true;
        }

        @Override
        public void sendToCoRoot(final int bytes) {
            coRootConnection.toCoRoot.add(copy(scratch, bytes));
        }

        @Override
        public RemoteMemory remote() {
            return remote;
        }
    }

    private final class FakeRemoteMemory implements RemoteMemory {
        @Override
        public boolean openCoRootEndpoint() {
            return coRootConnection.make();
        }

        @Override
        public byte @Nullable [] coRootDescriptor() {
            return coRootConnection.descriptor;
        }

        @Override
        public boolean connectCoRootEndpoint(final EndpointOffer offer) {
            return coRootConnection.open(offer);
        }

        @Override
        public void closeCoRootEndpoint() {
            coRootConnection.cut();
        }

        @Override
        public int readFromCoRoot(final long firstSequence, final int count) {
            return coRootConnection.pull(firstSequence, count);
        }

        @Override
        public boolean connectToSource(final EndpointOffer offer) {
            return link.open(offer);
        }

        @Override
        public boolean writeCredit(final long word) {
            return link.write(word);
        }

        @Override
        public int readFromSource(final long firstSequence, final int count) {
            return link.pull(firstSequence, count);
        }
    }
}
