package io.framecast.reliability.session;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.lane.ControlPort;
import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.lane.SendPorts;
import io.framecast.reliability.onesided.MemberEndpoints;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.SmallFrames;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// The source of a [SessionWorld]: a publisher, its window, and a send session over lanes in memory.
final class SourceFixture implements ControlPort {
    static final int MEMBERS_MAX = 4;

    final WindowMemory memory;
    final SendWindow window;
    final SmallFrames small;
    final SendPacer pacer;
    final TestSendLane data;
    final TestSendLane repair;
    final @Nullable MemberEndpoints endpoints;
    final SendSession session;
    final SenderMachine machine;
    /// Control datagrams from receivers.
    final ArrayDeque<byte[]> inbox = new ArrayDeque<>();
    /// Peers of the control lane.
    final TreeSet<Integer> controlPeers = new TreeSet<>();

    private final SessionWorld world;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private long nextId;

    SourceFixture(final SessionWorld world, final StreamInfo stream, final SessionWorld.Setup setup) {
        this.world = world;
        final int slots = stream.windowSlots();
        final int[] lengths = new int[slots + 1];
        lengths[slots] = stream.slotBytes();
        memory = new WindowMemory(
                Arena.ofAuto().allocate((slots + 1L) * DataLayout.LENGTH, 64),
                Arena.ofAuto().allocate((slots + 1L) * stream.slotBytes(), 64),
                lengths,
                slots,
                stream.slotBytes());
        window = new SendWindow(memory, stream.session());
        small = window.bundle();
        pacer = new SendPacer(setup.rateBytes());
        data = new TestSendLane(memory, world::carryData);
        repair = new TestSendLane(memory, world::carryRepair);
        final CoRootConfig coRoots = setup.coRoots();
        endpoints = setup.oneSided() ? MemberEndpoints.open(world.port, memory, MEMBERS_MAX, "test", _ -> {}) : null;
        session = new SendSession(
                new SenderConfig(stream, MEMBERS_MAX, 0, coRoots),
                window,
                pacer,
                new SendPorts(this, data, repair),
                endpoints,
                new SplittableRandom(1));
        machine = session.machine();
    }

    /// Publishes a frame of whole slots.
    void publish(final int slots) {
        publish(slots * memory.slotBytes(), 0);
    }

    void publish(final int bytes, final int flags) {
        publish(bytes, flags, new byte[0]);
    }

    void publish(final int bytes, final int flags, final byte[] metadata) {
        small.close();
        final int slots = (int) StreamInfo.slots(bytes, memory.slotBytes());
        begin(bytes, flags, metadata);
        commit(bytes, slots);
    }

    /// Begins a frame, to be committed in parts.
    void begin(final int bytes, final int flags, final byte[] metadata) {
        final int slots = (int) StreamInfo.slots(bytes, memory.slotBytes());
        assertTrue(window.freeSlots() >= slots, "no room in the window");
        final byte[] content = TestConsumer.content(nextId, bytes);
        for (int i = 0; i < slots; i++) {
            final int at = i * memory.slotBytes();
            final int length = Math.min(memory.slotBytes(), bytes - at);
            final long to = memory.payloadOffset(window.slot(window.cursor() + i));
            MemorySegment.copy(content, at, memory.payload(), JAVA_BYTE, to, length);
        }
        window.beginFrame(bytes, flags, world.nowNs, metadata);
        nextId++;
    }

    void commit(final int bytes, final int slots) {
        window.commit(bytes, slots);
    }

    /// Publishes a small frame into the open bundle.
    void publishSmall(final int bytes, final int flags) {
        final long at = small.claim(bytes);
        assertNotEquals(SmallFrames.NO_ROOM, at);
        MemorySegment.copy(TestConsumer.content(nextId++, bytes), 0, memory.payload(), JAVA_BYTE, at, bytes);
        small.commit(flags, world.nowNs);
    }

    /// Takes the control datagrams that arrived, and does a cycle.
    int cycle() {
        while (!inbox.isEmpty()) {
            final byte[] datagram = inbox.remove();
            machine.onControl(MemorySegment.ofArray(datagram), 0, datagram.length, world.nowNs);
        }
        return session.doWork(world.nowNs);
    }

    long count(final SenderCount count) {
        return machine.counts().get(count);
    }

    @Override
    public MemorySegment slot() {
        return scratch;
    }

    private byte[] datagram(final int bytes) {
        return scratch.asSlice(0, bytes).toArray(JAVA_BYTE);
    }

    @Override
    public void multicast(final int bytes) {
        world.carryControl(TestSendLane.GROUP, datagram(bytes));
    }

    @Override
    public void unicast(final int peer, final int bytes) {
        assertTrue(controlPeers.contains(peer), "unicast to a stranger");
        world.carryControl(peer, datagram(bytes));
    }

    @Override
    public boolean isOneHost(final LaneAddresses addresses) {
        return true;
    }

    @Override
    public int connect(final byte[] address) {
        if (address[0] == TestSendLane.STRANGE) {
            return SendLanePort.NO_PEER;
        }
        controlPeers.add((int) address[0]);
        return address[0];
    }

    @Override
    public void disconnect(final int peer) {
        assertTrue(controlPeers.remove(peer), "a stranger is disconnected");
    }
}
