package io.framecast.engine.hostgroup;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.SharedWords;
import io.framecast.engine.session.EpochClock;
import io.framecast.fuzz.FuzzCorpus;
import io.framecast.fuzz.FuzzInput;
import io.framecast.reliability.group.DeviceWords;
import io.framecast.reliability.group.DropChoice;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.LeaderTable;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.TableLayout;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A follower of a leader that writes what it wants into the words that they share, and a leader whose followers
/// do. An input is a script: its first byte chooses the follower's delivery, then each step writes a word of the
/// segment, or uses the segment. Nothing throws but where the table is broken, every frame lies in the ring, and
/// no count in a word makes a loop or an array of its own length.
public final class HostSegmentFuzzTest {
    private static final long ALLOCATED_MAX = 8 << 20;
    private static final long RING_BYTES = 1 << 16;
    private static final int STEPS_MAX = 64;
    private static final int ENTRIES = 16;
    private static final StreamInfo STREAM =
            new StreamInfo(77, "fuzz", 1024, 64, 10_000, 1000, new byte[] {1, 2}, new byte[] {3});
    private static final long[] TELLING = {
        0,
        1,
        -1,
        2,
        63,
        64,
        4095,
        4096,
        RING_BYTES - 1,
        RING_BYTES,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        1L << 32,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        Wire.SEQUENCE_MAX
    };

    @TestFactory
    Stream<DynamicTest> shouldStayWithinTheSegmentWhateverItsWordsHold() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        final Map<String, byte[]> seeds = new HashMap<>(Map.of(
                "reads", new byte[] {0, 2, 3, 0, 2, 3, 0, 2, 3, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                "drops", new byte[] {2, 12, 2, 3, 0, 12, 2, 12, 7, 8},
                "writes", new byte[] {0, 0, 0, 16, 9, 2, 3, 0, 0, 2, 4, 9, 2, 3, 1, 0, 4, 2, 3, 5},
                "succeeds", new byte[] {0, 6, 6, 0, 0, 1, 5, 6, 0, 0, 5, 4, 6},
                "device", new byte[] {0, 10, 0, 10, 1, 0, 3, 4, 4, 10, 0, 11, 0},
                "leads", new byte[] {(byte) 128, 0, 1, 16, 13, 1, 2, 3, 4, 5, 6, 7, 0, 1, 17, 3, 2, 4}));
        // Jazzer makes inputs about as long as the longest of the corpus.
        final SplittableRandom random = new SplittableRandom(5);
        for (int i = 0; i < 4; i++) {
            final byte[] script = new byte[300];
            random.nextBytes(script);
            script[0] = (byte) i;
            seeds.put("long-" + i, script);
        }
        return FuzzCorpus.of(HostSegmentFuzzTest.class, seeds, HostSegmentFuzzTest::fuzzerTestOneInput);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        final FuzzInput in = new FuzzInput(input);
        final int mode = in.unsignedByte();
        if (mode >= 128) {
            requireAllocation(ALLOCATED_MAX, () -> lead(new FuzzInput(input)));
        } else {
            requireAllocation(ALLOCATED_MAX, () -> new Reader(new FuzzInput(input)).play());
        }
    }

    private static Delivery delivery(final int choice) {
        return switch (choice & 3) {
            case 0 -> Delivery.RELIABLE;
            case 1 -> Delivery.deadline(40);
            case 2 -> Delivery.LATEST;
            default -> Delivery.evict(100);
        };
    }

    private static long value(final FuzzInput in) {
        final int kind = in.unsignedByte();
        return (kind & 1) == 0 ? TELLING[(kind >>> 1) % TELLING.length] : in.wide();
    }

    /// The words that followers write, as the leader sees them.
    private static void lead(final FuzzInput in) {
        in.unsignedByte();
        try (LeaderSegment leader = leader();
                SharedWords words = Shared.map(leader)) {
            final LeaderTable table = leader.table();
            for (int i = 0; i < STEPS_MAX && !in.isEmpty(); i++) {
                switch (in.below(5)) {
                    case 0 -> {
                        // A member's own words, and its record about device memory.
                        final int member = in.below(4);
                        final int at = in.isSet()
                                ? SegmentLayout.member(member) + in.below(16) * Long.BYTES
                                : TableLayout.FULL.device(member) + in.below(128) * Long.BYTES;
                        words.putLong(at, value(in));
                    }
                    case 1 -> words.putLong(in.below(64) * Long.BYTES, value(in));
                    case 2 -> table.publishLoss(in.unsignedByte(), 1, LossReason.EXPIRED, 0);
                    case 3 -> leader.admit(1, 0, in.isSet() ? delivery(in.unsignedByte()) : null);
                    default -> leader.dismiss(in.below(4));
                }
                check(table);
            }
            leader.freeRing();
        }
    }

    private static void check(final LeaderTable leader) {
        require(leader.released() <= leader.published(), "no more released than published");
        require(leader.shortAt() <= leader.published(), "no more released than published");
        for (int i = 0; i < 4; i++) {
            final long released = leader.releasedBy(i);
            require(released >= -1 && released <= leader.published(), "no more released than published");
            require(leader.deliveryOf(i).patienceMs() >= 0, "a policy");
        }
        leader.isClaimed();
        leader.beat();
        leader.free(leader.released());
    }

    private static LeaderSegment leader() {
        return new LeaderSegment(Shared.RING.descriptor(), RING_BYTES, STREAM, 1, 0, () -> true, Delivery.RELIABLE);
    }

    /// A segment with all that it can hold, made once. A script's writes are undone behind it.
    private static final class Shared {
        static final MirroredMemory RING = MirroredMemory.allocateShared(RING_BYTES);
        static final LeaderSegment LEADER = leader();
        static final DeviceBackend DEVICE = new HostProvider().open(0);
        static final LeaderConnection CONNECTION = SegmentTest.connection();
        static final SharedWords WORDS = map(LEADER);
        static final int MEMBER;
        // Region by region: where it begins, and how long it is.
        static final int[] AT = {
            0,
            SegmentLayout.CHECKPOINTS_AT,
            SegmentLayout.member(0),
            TableLayout.FULL.entry(0),
            TableLayout.FULL.device(0),
            TableLayout.FULL.format(1),
            TableLayout.FULL.metadata(0)
        };
        static final int[] BYTES = {
            512,
            2 * SegmentLayout.CHECKPOINT_BYTES,
            4 * SegmentLayout.MEMBER_BYTES,
            ENTRIES * SegmentLayout.ENTRY_BYTES,
            4 * SegmentLayout.DEVICE_BYTES,
            4 * SegmentLayout.FORMAT_STRIDE,
            ENTRIES * SegmentLayout.METADATA_BYTES_MAX
        };
        static final byte[][] BEFORE = new byte[AT.length][];

        static {
            LEADER.admit(1, 0, Delivery.RELIABLE);
            MEMBER = LEADER.admit(1, 0, Delivery.RELIABLE);
            final LeaderTable table = LEADER.table();
            table.onHandoverComplete();
            table.onWaitedFor();
            table.start(0);
            for (int i = 0; i < ENTRIES / 2; i++) {
                final StreamFormat format = new StreamFormat(1 + i / 3, 1 + i / 3, i, new byte[] {1, 2, 3, (byte) i});
                table.publish(i, i * 4096L, 1000 + i, i & 1, i, true, new byte[] {7, (byte) i}, format, 0);
            }
            table.publishLoss(ENTRIES / 2, 3, LossReason.EXPIRED, 20);
            final Checkpoint promised = new Checkpoint();
            promised.secret = 4711;
            promised.firstSequence = 21;
            promised.frameId = 11;
            promised.acknowledged = 23;
            promised.granted = 60;
            promised.frameBytes = 5_000;
            promised.metadata = new byte[] {7, 8, 9};
            table.checkpoint(promised, 2048);
            table.checkpoint(promised, 2048);
            final DeviceWords offerer = new DeviceWords(WORDS, TableLayout.FULL, 0, _ -> true);
            offerer.want(new UUID(1, 2));
            offerer.offer(new DeviceWords.Offer(
                    0,
                    99,
                    (int) ProcessHandle.current().pid(),
                    Processes.namespace(),
                    new DeviceWords.Handle(new UUID(1, 2), 1 << 20, "x"),
                    4,
                    1 << 14,
                    0));
            offerer.fill(1, 5);
            for (int i = 0; i < AT.length; i++) {
                BEFORE[i] = new byte[BYTES[i]];
                WORDS.getBytes(AT[i], BEFORE[i]);
            }
        }

        private Shared() {}

        static SharedWords map(final LeaderSegment leader) {
            return SharedWords.attach(SegmentTest.copy(leader.wordsDescriptor()), TableLayout.FULL.wordsBytes());
        }

        static void restore() {
            for (int i = 0; i < AT.length; i++) {
                WORDS.putBytes(AT[i], BEFORE[i], BYTES[i]);
            }
        }
    }

    private static final class Reader implements ReceiverOutput {
        private final FuzzInput in;
        private final Delivery delivery;
        private final DropChoice choice;
        private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        private @Nullable FollowerSegment segment;

        Reader(final FuzzInput in) {
            this.in = in;
            delivery = delivery(in.unsignedByte());
            choice = new DropChoice(delivery);
        }

        void play() {
            Shared.restore();
            attach();
            for (int i = 0; i < STEPS_MAX && !in.isEmpty(); i++) {
                step(in.below(15));
            }
            if (segment != null) {
                segment.close();
            }
        }

        // Maps the segment, with the words as they are now.
        private void attach() {
            if (segment != null) {
                segment.close();
            }
            final int[] descriptors = {
                Libc.fcntl(Shared.LEADER.ringDescriptor(), 0, 0),
                SegmentTest.copy(Shared.LEADER.wordsDescriptor()),
                EventCount.open(),
                EventCount.open()
            };
            segment = FollowerSegment.of(
                    Shared.CONNECTION, Shared.DEVICE, !delivery.isWaitedFor(), descriptors, Shared.MEMBER);
            if (segment != null) {
                choice.begin(segment.table());
            }
        }

        private void step(final int kind) {
            if (kind <= 1) {
                final int region = in.below(Shared.AT.length);
                final int word = (in.unsignedByte() | in.below(8) << 8) % (Shared.BYTES[region] / Integer.BYTES);
                final int at = Shared.AT[region] + word * Integer.BYTES;
                if (kind == 0 && (at & 7) == 0) {
                    Shared.WORDS.putLong(at, value(in));
                } else {
                    Shared.WORDS.putInt(at, (int) value(in));
                }
                return;
            }
            final FollowerSegment shared = segment;
            if (kind == 14) {
                attach();
            } else if (shared != null && shared.enter()) {
                try {
                    use(shared, kind);
                } finally {
                    shared.exit();
                }
            }
        }

        private void use(final FollowerSegment shared, final int kind) {
            switch (kind) {
                case 2 -> take(shared);
                case 3 -> read(shared, shared.table().upcoming() - 1 - in.below(4));
                case 4 -> {
                    shared.status();
                    shared.lookForEnd();
                    shared.isOpen();
                    shared.clockOffsetNs();
                }
                case 5 -> {
                    final StreamInfo stream = shared.table().stream("fuzz");
                    require(stream == null || isSound(stream), "a stream that a heartbeat could announce");
                }
                case 6 -> takeover(shared);
                case 7 -> shared.release(shared.table().upcoming() - 1 - in.below(8));
                case 8 -> {
                    shared.holdFrom(shared.hold());
                    shared.moveBack(shared.table().upcoming() - in.below(3));
                }
                case 9 -> {
                    shared.sleeps(shared.state());
                    shared.wakes();
                }
                case 10 -> device(shared.deviceWords());
                case 11 -> shared.heartbeat();
                case 12 -> drop(shared);
                default -> shared.generation();
            }
        }

        private static boolean isSound(final StreamInfo stream) {
            return stream.frameMaxBytes() > 0
                    && stream.slotBytes() > 0
                    && stream.aliveTimeoutMs() > 0
                    && stream.controlAddress().length > 0
                    && stream.controlAddress().length <= Wire.ADDRESS_BYTES_MAX
                    && stream.dataAddress().length > 0;
        }

        private void take(final FollowerSegment shared) {
            final long number;
            try {
                number = shared.take();
            } catch (final IllegalStateException e) {
                return;
            }
            if (number >= 0) {
                read(shared, number);
            }
        }

        private static void read(final FollowerSegment shared, final long number) {
            final FollowerTable table = shared.table();
            table.lastFrameId(number);
            table.timestampNs(number);
            table.isKeyframe(number);
            require(table.metadata(number).length <= SegmentLayout.METADATA_BYTES_MAX, "metadata");
            final byte[] format = table.format(number);
            require(format == null || format.length <= SegmentLayout.FORMAT_BYTES_MAX, "a format");
            if (!table.isLoss(number)) {
                try {
                    final MemorySegment frame = shared.frame(number);
                    require(frame.byteSize() <= RING_BYTES, "a frame within the ring");
                    require(frame.byteSize() <= table.frameMaxBytes(), "a frame within its place");
                    frame.get(ValueLayout.JAVA_BYTE, 0);
                    frame.get(ValueLayout.JAVA_BYTE, frame.byteSize() - 1);
                } catch (final IllegalStateException e) {
                    require(String.valueOf(e.getMessage()).contains("does not lie in the ring"), "the reason");
                }
            }
        }

        private void drop(final FollowerSegment shared) {
            try {
                final FollowerTable table = shared.table();
                final long number = shared.peek();
                if (number >= 0
                        && !table.isLoss(number)
                        && choice.outdated(table, number, EpochClock.hostNs()) != null) {
                    shared.release(shared.take());
                }
            } catch (final IllegalStateException e) {
                require(String.valueOf(e.getMessage()).contains("torn"), "the reason");
            }
        }

        private void device(final DeviceWords device) {
            for (int i = 0; i < 4; i++) {
                device.takes(i);
                final DeviceWords.Offer offer = device.offered(i);
                if (offer != null) {
                    require(offer.slots() * offer.slotBytes() <= offer.handle().bytes(), "slots within the memory");
                    require(offer.slots() * offer.slotBytes() > 0, "slots");
                    device.use(offer);
                    final int slot = device.hold(offer, in.below(ENTRIES));
                    require(slot < offer.slots(), "a slot");
                    if (slot >= 0) {
                        device.leave(slot);
                    }
                    device.isDecided(offer, 3);
                    device.held(offer.id());
                    device.isOpen(offer.id());
                    device.unuse();
                }
            }
            device.passed();
        }

        private void takeover(final FollowerSegment shared) {
            final Takeover found = shared.takeover("fuzz", new RefCount());
            if (found == null) {
                return;
            }
            found.followersToAwait().close();
            try (found) {
                final long bytes = found.payload().byteSize();
                require(bytes <= RING_BYTES, "a part of a frame within the ring");
                if (bytes > 0) {
                    found.payload().get(ValueLayout.JAVA_BYTE, bytes - 1);
                }
                require(found.isNewest().getAsBoolean(), "the newest claim");
                resume(found);
            }
        }

        private void resume(final Takeover found) {
            final StreamInfo stream = found.stream();
            final int ringSlots = (int) Math.min(1 << 14, (ReceiverConfig.ringSlotsMin(stream, 2) + 63) & -64);
            if (ringSlots < ReceiverConfig.ringSlotsMin(stream, 2)) {
                return;
            }
            final ReceiverMachine machine = new ReceiverMachine(
                    new ReceiverConfig(
                            stream,
                            5,
                            found.checkpoint().secret + 1,
                            ringSlots,
                            32,
                            2,
                            delivery,
                            new LaneAddresses(new byte[] {1}, new byte[] {2}),
                            0,
                            0),
                    new SplittableRandom(2),
                    this,
                    null);
            machine.resume(found.checkpoint(), 1_000);
            for (int i = 0; i < 4; i++) {
                machine.onTick(1_000 + i * 400_000_000L);
                machine.pollFrame();
                machine.onCycle(1_000 + i * 400_000_000L);
            }
            require(
                    machine.state() == ReceiverMachine.State.LOST
                            || machine.acknowledgedSequence() <= machine.grantedSequence(),
                    "an acknowledgement within the grant");
        }

        @Override
        public MemorySegment control() {
            return scratch;
        }

        @Override
        public void sendControl(final int bytes) {
            require(bytes > 0 && bytes <= Wire.CONTROL_BYTES_MAX, "a datagram");
        }

        @Override
        public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
            return true;
        }

        @Override
        public void sendToCoRoot(final int bytes) {
            require(bytes > 0 && bytes <= Wire.CONTROL_BYTES_MAX, "a datagram");
        }

        @Override
        public RemoteMemory remote() {
            return RemoteMemory.NONE;
        }
    }
}
