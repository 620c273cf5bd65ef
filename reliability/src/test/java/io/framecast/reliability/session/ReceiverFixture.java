package io.framecast.reliability.session;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.lane.LanePort.Placement;
import io.framecast.reliability.onesided.RemoteWindows;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// One receiver of a [SessionWorld]: a receive session over lanes in memory, and its user.
final class ReceiverFixture implements ReceiverOutput {
    private static final int BATCH_MAX = 16;
    private static final int REPAIR_SLOTS = 64;

    /// @param buffers for reassembly
    /// @param mappedTwice whether frames that wrap the ring lie in one piece
    /// @param serves whether it may become a co-root
    /// @param repairAddress of its repair lane; 0: its number
    record Terms(
            Delivery delivery,
            Kind kind,
            int ringSlots,
            int buffers,
            boolean mappedTwice,
            boolean joinsAtKeyframe,
            boolean serves,
            byte repairAddress) {
        static final Terms PLAIN = new Terms(Delivery.RELIABLE, Kind.IN_RING, 128, 1, true, false, false, (byte) 0);

        static Terms of(final Delivery delivery) {
            return new Terms(delivery, Kind.IN_RING, 128, 1, true, false, false, (byte) 0);
        }

        Terms in(final Kind placement) {
            return new Terms(
                    delivery, placement, ringSlots, buffers, mappedTwice, joinsAtKeyframe, serves, repairAddress);
        }

        Terms buffers(final int count) {
            return new Terms(delivery, kind, ringSlots, count, mappedTwice, joinsAtKeyframe, serves, repairAddress);
        }

        Terms mappedOnce() {
            return new Terms(delivery, kind, ringSlots, buffers, false, joinsAtKeyframe, serves, repairAddress);
        }

        Terms atKeyframe() {
            return new Terms(delivery, kind, ringSlots, buffers, mappedTwice, true, serves, repairAddress);
        }

        Terms serving() {
            return new Terms(delivery, kind, ringSlots, buffers, mappedTwice, joinsAtKeyframe, true, repairAddress);
        }

        Terms repairAt(final byte address) {
            return new Terms(delivery, kind, ringSlots, buffers, mappedTwice, joinsAtKeyframe, serves, address);
        }
    }

    final int number;
    final TestFrameMemory memory;
    final TestReceiveLane data;
    final TestReceiveLane repair;
    final TestUserBuffers buffers;
    final TestConsumer consumer;
    final ReceiverMachine machine;
    final ReceiveSession session;
    final @Nullable RemoteWindows windows;
    final @Nullable TestCoRoot coRoot;
    /// Control datagrams to this receiver.
    final ArrayDeque<byte[]> controlInbox = new ArrayDeque<>();
    /// Its control datagrams never arrive.
    boolean mute;

    private final SessionWorld world;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private int reportsTo;

    ReceiverFixture(final SessionWorld world, final int number, final StreamInfo stream, final Terms terms) {
        this.world = world;
        this.number = number;
        final boolean oneSided = world.source.endpoints != null;
        final int spare = terms.delivery.isWaitedFor() ? 0 : BATCH_MAX;
        final MemoryShape shape = new MemoryShape(
                stream,
                terms.kind,
                terms.ringSlots,
                spare,
                BATCH_MAX,
                terms.kind == Kind.STAGED ? terms.ringSlots : 0,
                REPAIR_SLOTS,
                oneSided ? ReadSlots.SLOTS : 0,
                terms.buffers,
                terms.buffers);
        memory = new TestFrameMemory(shape, terms.mappedTwice);
        final Placement placement = terms.kind == Kind.BY_ARRIVAL ? Placement.BY_ARRIVAL : Placement.BY_SEQUENCE;
        data = new TestReceiveLane(memory.data(), placement, BATCH_MAX, memory::posted);
        repair = new TestReceiveLane(memory.repairs(), placement, RepairSlots.BATCH_MAX, memory::posted);
        buffers = new TestUserBuffers(memory);
        final Assembly assembly = Assembly.of(shape, memory, buffers);
        final RepairSlots repairs = new RepairSlots(shape, memory);
        windows = oneSided ? new RemoteWindows(world.port, stream, repairs.reads(), _ -> {}) : null;
        coRoot = terms.serves ? new TestCoRoot(world, stream, scratch, repairs.reads()) : null;
        final byte repairAddress = terms.repairAddress == 0 ? (byte) number : terms.repairAddress;
        machine = new ReceiverMachine(
                new ReceiverConfig(
                        stream,
                        10 + number,
                        100 + number,
                        terms.ringSlots - spare,
                        assembly.prepare(data),
                        2,
                        terms.delivery,
                        new LaneAddresses(
                                new byte[] {(byte) number},
                                new byte[] {repairAddress},
                                windows == null ? new byte[0] : windows.descriptor()),
                        0,
                        0),
                new SplittableRandom(2),
                this,
                coRoot);
        consumer = new TestConsumer(assembly, memory);
        session = new ReceiveSession(machine, assembly, repairs, data, repair, consumer, terms.delivery)
                .readBy(windows)
                .joinAtKeyframe(terms.joinsAtKeyframe);
    }

    /// Takes the control datagrams that arrived, and does a cycle.
    int cycle() {
        while (!controlInbox.isEmpty()) {
            final byte[] datagram = controlInbox.remove();
            machine.onControl(MemorySegment.ofArray(datagram), 0, datagram.length, world.nowNs);
        }
        return session.doWork(world.nowNs);
    }

    /// The frames and losses that the user finds.
    List<String> poll() {
        return consumer.poll();
    }

    long count(final ReceiverCount count) {
        return machine.counts().get(count);
    }

    long verdicts(final Verdict verdict) {
        return machine.verdicts().get(verdict);
    }

    @Override
    public MemorySegment control() {
        return scratch;
    }

    private byte[] datagram(final int bytes) {
        return scratch.asSlice(0, bytes).toArray(JAVA_BYTE);
    }

    @Override
    public void sendControl(final int bytes) {
        if (!mute) {
            world.source.inbox.add(datagram(bytes));
        }
    }

    @Override
    public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        reportsTo = controlAddress == null ? 0 : controlAddress[0];
        return true;
    }

    @Override
    public void sendToCoRoot(final int bytes) {
        world.receivers.get(reportsTo).controlInbox.add(datagram(bytes));
    }

    @Override
    public RemoteMemory remote() {
        return windows == null ? RemoteMemory.NONE : windows;
    }
}
