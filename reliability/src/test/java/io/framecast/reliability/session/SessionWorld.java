package io.framecast.reliability.session;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.onesided.ScriptedPort;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/// One source and its receivers, joined by lanes in memory. Nothing happens by itself: a test moves the time and
/// lets each session do its cycles.
final class SessionWorld {
    static final long SESSION = 0x5eed_0000_5e55_0001L;
    static final int SLOT_BYTES = 256;
    static final int WINDOW = 64;
    static final int FRAME_MAX_SLOTS = 8;
    static final int ALIVE_MS = 1_000;
    static final long MS = 1_000_000;

    /// @param rateBytes per second; 0 for no limit
    /// @param oneSided whether receivers may act on the source's memory
    record Setup(int slotBytes, int windowSlots, long rateBytes, CoRootConfig coRoots, boolean oneSided) {
        static final Setup PLAIN = new Setup(SLOT_BYTES, WINDOW, 0, CoRootConfig.NONE, false);

        Setup slots(final int bytes, final int count) {
            return new Setup(bytes, count, rateBytes, coRoots, oneSided);
        }

        Setup rate(final long bytes) {
            return new Setup(slotBytes, windowSlots, bytes, coRoots, oneSided);
        }

        Setup coRoots(final CoRootConfig config) {
            return new Setup(slotBytes, windowSlots, rateBytes, config, oneSided);
        }

        Setup withOneSided() {
            return new Setup(slotBytes, windowSlots, rateBytes, coRoots, true);
        }
    }

    final StreamInfo stream;
    final ScriptedPort port = new ScriptedPort();
    final SourceFixture source;
    final List<ReceiverFixture> receivers = new ArrayList<>();
    /// Datagrams of the data lane that never arrive, by receiver and sequence.
    BiPredicate<Integer, Long> dataLost = (_, _) -> false;
    /// Repairs that never arrive, by sequence.
    BiPredicate<Integer, Long> repairsLost = (_, _) -> false;
    /// Sees each datagram of the data lane on its way, and may change it.
    Consumer<byte[]> onData = _ -> {};
    /// The source's control datagrams, as they were sent.
    final List<byte[]> controls = new ArrayList<>();
    boolean controlsLost;
    long nowNs = 1_000 * MS;

    SessionWorld() {
        this(Setup.PLAIN);
    }

    SessionWorld(final Setup setup) {
        stream = new StreamInfo(
                SESSION,
                "test",
                setup.slotBytes(),
                setup.windowSlots(),
                (long) FRAME_MAX_SLOTS * setup.slotBytes(),
                ALIVE_MS,
                new byte[] {1},
                new byte[] {2});
        source = new SourceFixture(this, stream, setup);
    }

    /// A receiver that has not begun to join.
    ReceiverFixture receiver(final ReceiverFixture.Terms terms) {
        final ReceiverFixture made = new ReceiverFixture(this, receivers.size(), stream, terms);
        receivers.add(made);
        return made;
    }

    /// A receiver that is a member.
    ReceiverFixture member(final ReceiverFixture.Terms terms) {
        final ReceiverFixture made = receiver(terms);
        made.machine.start(nowNs);
        settle();
        assertTrue(made.machine.state() == ReceiverMachine.State.RECEIVING, "not a member");
        return made;
    }

    ReceiverFixture member() {
        return member(ReceiverFixture.Terms.PLAIN);
    }

    /// Lets all sessions work at this moment, until nothing is left to do.
    void settle() {
        for (int quiet = 0, round = 0; quiet < 2; round++) {
            assertTrue(round < 200, "no end");
            int work = source.inbox.size() + source.cycle();
            for (final ReceiverFixture receiver : receivers) {
                work += receiver.controlInbox.size() + receiver.cycle();
            }
            quiet = work == 0 && source.inbox.isEmpty() ? quiet + 1 : 0;
        }
    }

    /// Lets time pass, from deadline to deadline.
    void run(final long forNs) {
        final long endNs = nowNs + forNs;
        while (nowNs < endNs) {
            long deadlineNs = source.session.nextDeadlineNs();
            for (final ReceiverFixture receiver : receivers) {
                deadlineNs = Math.min(deadlineNs, receiver.session.nextDeadlineNs());
            }
            nowNs = Math.min(endNs, Math.max(nowNs + 10_000, deadlineNs));
            settle();
        }
    }

    /// Publishes a frame of each of these lengths in slots, and lets it arrive.
    void publish(final int... slots) {
        for (final int count : slots) {
            source.publish(count);
        }
        settle();
    }

    /// Connects both ends of every endpoint, and carries out what was begun on them.
    void connect() {
        for (final ScriptedPort.Endpoint endpoint : port.endpoints) {
            if (endpoint.state == State.IDLE || endpoint.state == State.CONNECTING) {
                endpoint.state = State.UP;
            }
            endpoint.stepAll();
        }
    }

    /// How many of the source's control datagrams were of that type.
    long sentControls(final int type) {
        return controls.stream()
                .filter(datagram -> ControlLayout.type(MemorySegment.ofArray(datagram), 0) == type)
                .count();
    }

    /// The last of the source's control datagrams of that type.
    MemorySegment lastControl(final int type) {
        return MemorySegment.ofArray(controls.stream()
                .filter(datagram -> ControlLayout.type(MemorySegment.ofArray(datagram), 0) == type)
                .reduce((_, last) -> last)
                .orElseThrow());
    }

    void carryControl(final int peer, final byte[] datagram) {
        controls.add(datagram);
        for (final ReceiverFixture receiver : receivers) {
            if (!controlsLost && (peer == TestSendLane.GROUP || peer == receiver.number)) {
                receiver.controlInbox.add(datagram);
            }
        }
    }

    void carryData(final int peer, final byte[] datagram) {
        onData.accept(datagram);
        for (final ReceiverFixture receiver : receivers) {
            if (!isLost(dataLost, receiver.number, datagram)) {
                receiver.data.inbox.add(datagram);
            }
        }
    }

    void carryRepair(final int peer, final byte[] datagram) {
        for (final ReceiverFixture receiver : receivers) {
            if ((peer == TestSendLane.GROUP || peer == receiver.number)
                    && !isLost(repairsLost, receiver.number, datagram)) {
                receiver.repair.inbox.add(datagram);
            }
        }
    }

    private static boolean isLost(final BiPredicate<Integer, Long> lost, final int receiver, final byte[] datagram) {
        final MemorySegment header = MemorySegment.ofArray(datagram);
        return DataLayout.type(header, 0) == DataLayout.TYPE_DATA
                && lost.test(receiver, DataLayout.SEQUENCE.get(header, 0));
    }

    /// A datagram of the window, header and payload.
    byte[] datagram(final long sequence) {
        final int slot = source.window.slot(sequence);
        final byte[] bytes = new byte[DataLayout.LENGTH + source.memory.lengths()[slot]];
        MemorySegment.copy(source.memory.headers(), JAVA_BYTE, slot * 40L, bytes, 0, DataLayout.LENGTH);
        MemorySegment.copy(
                source.memory.payload(),
                JAVA_BYTE,
                source.memory.payloadOffset(slot),
                bytes,
                DataLayout.LENGTH,
                bytes.length - DataLayout.LENGTH);
        return bytes;
    }
}
