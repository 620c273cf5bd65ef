package io.framecast.reliability.sim;

import io.framecast.reliability.assembly.FrameMemory;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.assembly.PostedOffset;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.SlotMemory;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.net.SimReceiveLane;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A receiver's memory as arrays of bytes. Copies end at once, as in host memory; or later, one after another, as
/// on a device. The frames of a device are handed over when their copies have ended, or with an event behind
/// them.
final class SimFrameMemory implements FrameMemory {
    /// The end of copies, and the time at which a frame may be handed over.
    private enum Copies {
        /// They end as they begin.
        AT_ONCE,
        /// They end later, and nothing orders the user's work behind them.
        LATER,
        /// They end later, and the user's work comes behind them.
        ORDERED
    }

    private static final long LATE_MIN_NS = 5_000;

    /// Where it passes the end of `from`, or of `to`, it goes on at the start.
    private record Copy(byte[] from, long fromOffset, byte[] to, long toOffset, long bytes) {
        void carryOut() {
            for (long done = 0; done < bytes; ) {
                final int source = (int) ((fromOffset + done) % from.length);
                final int target = (int) ((toOffset + done) % to.length);
                final int run = (int) Math.min(bytes - done, Math.min(from.length - source, to.length - target));
                System.arraycopy(from, source, to, target, run);
                done += run;
            }
        }
    }

    private record Waiting(long copies, Runnable action) {}

    private final SimReceiver process;
    private final SimEvents events;
    private final RandomGenerator random;
    private final Plant plant;
    private final Copies mode;
    private final boolean shared;
    private final boolean mappedTwice;
    private final boolean tailed;
    private final long lateNs;
    private final Map<Space, Long> lengths = new EnumMap<>(Space.class);
    // Only buffers that were used: most receivers never reassemble a frame.
    private final Map<Space, byte[]> spaces = new EnumMap<>(Space.class);
    // By number.
    private final Map<Integer, byte[]> posted = new HashMap<>();
    // Of an injected bug: while this is true, misplaced payloads do not come to the user's buffers.
    private BooleanSupplier forgetting = () -> false;
    private final SlotMemory data;
    private final SlotMemory repairs;
    private final ArrayDeque<Copy> pending = new ArrayDeque<>();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private long submitted;
    private long completed;
    private long lastNs;

    /// @param shared whether other processes map the ring, and map it twice
    SimFrameMemory(
            final SimReceiver process, final MemoryShape shape, final boolean shared, final RandomGenerator random) {
        this.process = process;
        this.shared = shared;
        this.random = random;
        events = process.events();
        plant = process.world().plant();
        final int slotBytes = shape.slotBytes();
        lengths.put(Space.RING, shape.ringBytes() + (shared ? 0 : shape.tailBytes()));
        lengths.put(Space.STAGING, (long) shape.stagingSlots() * slotBytes);
        lengths.put(Space.REPAIR, (long) shape.allRepairSlots() * slotBytes);
        lengths.put(Space.SCRATCH, (long) shape.batchMax() * slotBytes);
        lengths.put(Space.REASSEMBLY, shape.buffersBytes());
        final boolean staged = shape.kind() == Kind.STAGED;
        tailed = staged && !shared;
        data = SimReceiveLane.slots(
                MemorySegment.ofArray(of(staged ? Space.STAGING : Space.RING)),
                slotBytes,
                staged ? shape.stagingSlots() : shape.ringSlots(),
                shape.stream().headerBytes());
        repairs = SimReceiveLane.slots(
                MemorySegment.ofArray(of(Space.REPAIR)),
                slotBytes,
                shape.allRepairSlots(),
                shape.stream().headerBytes());
        mappedTwice =
                shared || (shape.kind() == Kind.IN_RING ? random.nextInt(4) != 0 : random.nextBoolean() && !staged);
        final boolean quiet = process.world().options().faults().isNone();
        lateNs = LATE_MIN_NS << (quiet ? 0 : random.nextInt(7));
        mode = switch (shape.kind()) {
            case IN_RING -> Copies.AT_ONCE;
            // Members share the host's memory.
            case STAGED -> shared ? Copies.AT_ONCE : random.nextBoolean() ? Copies.LATER : Copies.ORDERED;
            case BY_ARRIVAL -> random.nextBoolean() ? Copies.AT_ONCE : Copies.ORDERED;
        };
    }

    private static byte[] rubbish(final long length) {
        final byte[] bytes = new byte[Math.toIntExact(length)];
        java.util.Arrays.fill(bytes, (byte) 0xa7);
        return bytes;
    }

    @Override
    public SlotMemory data() {
        return data;
    }

    @Override
    public SlotMemory repairs() {
        return repairs;
    }

    @Override
    public boolean isRingInHost() {
        return shared;
    }

    @Override
    public boolean isRingMappedTwice() {
        return mappedTwice;
    }

    @Override
    public void copy(final Space from, final long fromOffset, final Space to, final long toOffset, final long bytes) {
        submitted++;
        final long copied = isForgotten(from, to) ? 0 : bytes;
        requireWithin(from, fromOffset, bytes);
        requireWithin(to, toOffset, bytes);
        final Copy copy = new Copy(
                of(from, fromOffset),
                PostedOffset.within(fromOffset),
                of(to, toOffset),
                PostedOffset.within(toOffset),
                copied);
        if (mode == Copies.LATER && from == Space.RING) {
            // On a stream of its own, in front of the user's work.
            copy.carryOut();
            pending.add(new Copy(copy.from, 0, copy.to, 0, 0));
        } else {
            pending.add(copy);
        }
        if (mode == Copies.AT_ONCE) {
            finish(1);
        } else {
            lastNs = Math.max(lastNs, events.nowNs() + random.nextLong(lateNs));
            events.at(lastNs, () -> {
                finish(1);
                process.wakeAfter(0);
            });
        }
    }

    // By the injected bug.
    private boolean isForgotten(final Space from, final Space to) {
        return plant == Plant.SKIP_REASSEMBLY
                ? isWithin(from, to)
                : from == Space.SCRATCH && to == Space.POSTED && forgetting.getAsBoolean();
    }

    // Copies within the ring, which put misplaced payloads in place.
    private static boolean isWithin(final Space from, final Space to) {
        return from == Space.SCRATCH || (from == Space.RING && to == Space.REASSEMBLY);
    }

    /// An injected bug: while this is true, misplaced payloads do not come to the user's buffers.
    void forgetWhile(final BooleanSupplier condition) {
        forgetting = condition;
    }

    // Some may have been carried out already, for a read that could not wait.
    private void finish(final int count) {
        for (int i = 0; i < count && !pending.isEmpty(); i++) {
            pending.remove().carryOut();
            completed++;
        }
        while (!waiting.isEmpty() && waiting.element().copies <= completed) {
            waiting.remove().action.run();
        }
    }

    // Only the ring goes on at its start, and not where it has a tail.
    private void requireWithin(final Space space, final long offset, final long bytes) {
        final long length = of(space, offset).length;
        final long end = PostedOffset.within(offset) + bytes;
        if (end > (space == Space.RING && !tailed ? 2 * length : length)) {
            throw new IllegalStateException("a copy ends at " + end + " of " + length + " bytes of " + space);
        }
    }

    @Override
    public void flush() {
        // Each copy has its own end.
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long completed() {
        return plant == Plant.REUSE_COPIED_SLOT ? submitted : completed;
    }

    @Override
    public boolean isVisible(final long copies) {
        return mode != Copies.LATER || completed >= copies || plant == Plant.DELIVER_UNCOPIED;
    }

    /// Runs an action when everything copied so far is in place, as a user does that waits for a frame's event.
    void whenReady(final Runnable action) {
        if (mode != Copies.ORDERED || completed == submitted) {
            action.run();
        } else {
            waiting.add(new Waiting(submitted, action));
        }
    }

    @Override
    public MemorySegment read(final Space space, final long offset, final int bytes) {
        finish(pending.size());
        return MemorySegment.ofArray(of(space)).asSlice(offset, bytes);
    }

    /// The user posted a buffer.
    void post(final int number, final long bytes) {
        posted.put(number, rubbish(bytes));
    }

    /// Whether a buffer has this number.
    boolean isPosted(final int number) {
        return posted.containsKey(number);
    }

    /// No frame takes that buffer; copies into it may be under way.
    void unpost(final int number) {
        posted.remove(number);
    }

    MemorySegment posted(final int buffer) {
        return MemorySegment.ofArray(Objects.requireNonNull(posted.get(buffer)));
    }

    /// The memory in which an offset of a space lies.
    byte[] of(final Space space, final long offset) {
        return space == Space.POSTED ? Objects.requireNonNull(posted.get(PostedOffset.number(offset))) : of(space);
    }

    byte[] of(final Space space) {
        return spaces.computeIfAbsent(space, key -> rubbish(Objects.requireNonNull(lengths.get(key))));
    }

    /// Draws the memory of a receiver.
    static final class Shapes {
        private static final int REPAIR_SLOTS = 128;

        private Shapes() {}

        /// The placement is drawn by the run's share of each; the memory is long enough for the user's frames.
        ///
        /// @param member the process, where it is of a host group
        static MemoryShape draw(final SimReceiver process, final StreamInfo stream, final @Nullable SimMember member) {
            final SimOptions options = process.world().options();
            final RandomGenerator random = process.random();
            final boolean byArrival =
                    member == null && random.nextDouble() < options.flow().byArrival();
            final boolean staged = random.nextInt(3) == 0;
            final Kind kind = byArrival ? Kind.BY_ARRIVAL : staged ? Kind.STAGED : Kind.IN_RING;
            final int batchMax = options.flow().batchMax();
            // A leader's policy is the strongest of its members', and changes.
            final boolean isWaitedFor =
                    member == null && process.user().delivery().isWaitedFor();
            final int spareSlots = isWaitedFor ? 0 : batchMax;
            final int ringSlots =
                    (int) ReceiverConfig.ringSlotsMin(stream, options.flow().framesHeld())
                            + (member == null
                                    ? random.nextInt(2) * random.nextInt(64)
                                    : member.group().spareSlots())
                            + spareSlots;
            final int buffers = byArrival ? 1 + random.nextInt(SimOptions.BUFFERS_MAX) : 1;
            return new MemoryShape(
                    stream,
                    kind,
                    ringSlots,
                    spareSlots,
                    batchMax,
                    kind == Kind.STAGED ? stagingSlots(options, ringSlots, random) : 0,
                    REPAIR_SLOTS,
                    process.links() ? ReadSlots.SLOTS : 0,
                    buffers,
                    buffers - 1);
        }

        // Few, so that slots are used again while copies read them; in quiet runs enough that copies slow nothing down.
        private static int stagingSlots(final SimOptions options, final int ringSlots, final RandomGenerator random) {
            final int batchMax = options.flow().batchMax();
            return options.faults().isNone() ? Math.max(batchMax, ringSlots) : batchMax + random.nextInt(2 * batchMax);
        }

        /// How its lanes place payloads.
        static LanePort.Placement placement(final Kind kind, final RandomGenerator random) {
            return kind == Kind.BY_ARRIVAL || (kind == Kind.STAGED && random.nextBoolean())
                    ? LanePort.Placement.BY_ARRIVAL
                    : LanePort.Placement.BY_SEQUENCE;
        }
    }
}
