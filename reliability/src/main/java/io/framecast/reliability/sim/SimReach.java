package io.framecast.reliability.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.window.PayloadChecksum;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.SlotWord;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// What one membership does to its source's memory, or reads of its co-root's: words and reads take their
/// time, one after another, a read one part of its payload after the other and its header last, between two
/// looks at what vouches for them; and all of it may be slow or end for good.
final class SimReach {
    private static final int READS_MAX = 8;
    private static final long SLOW_NS = 20_000_000;
    private static final long BREAK_NS = 80_000_000;

    private final SimReceiver process;
    private final SimWorld world;
    private final RandomGenerator random;
    private final Machine machine;
    private final boolean guarded;
    private final boolean restless;
    // What the process finds when it looks.
    private final ArrayDeque<Runnable> done = new ArrayDeque<>();
    private final ArrayDeque<Long> beganNs = new ArrayDeque<>();
    private @Nullable SimConnection connection;
    private long lastNs;
    private boolean broken;
    private boolean closed;

    /// Who is told what became of it.
    interface Machine {
        void onUp();

        void onWritten();

        void onBroken();

        void onPulled(MemorySegment datagram);

        void onStale(long sequence);
    }

    /// @param guarded whether what it reads may be used again meanwhile
    SimReach(final SimReceiver process, final SimWorld world, final Machine machine, final boolean guarded) {
        this.process = process;
        this.world = world;
        this.machine = machine;
        this.guarded = guarded && world.options().plant() != Plant.TRUST_HEADERS;
        random = process.random();
        restless = world.options().faults().unrest() > 0;
    }

    /// What became of earlier operations; in the process's duty cycle.
    void cycle() {
        while (!done.isEmpty() && !closed) {
            done.remove().run();
        }
    }

    /// Nothing is told any more.
    void close() {
        closed = true;
    }

    private void later(final long atNs, final Runnable told) {
        world.events().at(atNs, () -> {
            if (!process.isStopped()) {
                done.add(told);
                process.wakeAfter(0);
            }
        });
    }

    // When an operation that begins now is carried out.
    private long nextNs() {
        final long delayNs = world.options().link().delayNs();
        final boolean slow = restless && random.nextInt(100) == 0;
        final long takesNs = delayNs + random.nextLong(delayNs + 1) + (slow ? random.nextLong(3 * SLOW_NS) : 0);
        lastNs = Math.max(lastNs, world.events().nowNs() + takesNs);
        return lastNs;
    }

    private boolean isBreaking() {
        return restless && random.nextInt(250) == 0;
    }

    boolean open(final LinkOffer offer) {
        connection = world.connection(SimConnection.number(offer.descriptor()));
        if (connection == null) {
            // What a member tells its co-root, replayed to it.
            return false;
        }
        later(nextNs(), machine::onUp);
        return true;
    }

    private void breakDown() {
        if (!broken) {
            broken = true;
            world.tally().brokenLinks++;
            later(world.events().nowNs() + random.nextLong(BREAK_NS), machine::onBroken);
        }
    }

    boolean write(final long word) {
        final SimConnection to = connection;
        if (to == null || broken) {
            return to != null;
        }
        world.events().at(nextNs(), () -> {
            if (broken || isBreaking() || !to.write(word)) {
                breakDown();
            } else {
                later(nextNs(), machine::onWritten);
            }
        });
        return true;
    }

    int pull(final long first, final int count) {
        final SimConnection from = connection;
        final long nowNs = world.events().nowNs();
        if (from == null || (!beganNs.isEmpty() && nowNs - beganNs.peek() > SLOW_NS)) {
            return ReceiverOutput.NO_PULL;
        }
        int taken = 0;
        while (taken < count && beganNs.size() < READS_MAX) {
            beganNs.add(nowNs);
            new Read(from, first + taken).next();
            taken++;
        }
        return taken;
    }

    // Its parts are carried out one after the other, and others' between them.
    private final class Read {
        private static final int GUARD_BEFORE = 0;
        private static final int FIRST_HALF = 1;
        private static final int SECOND_HALF = 2;
        private static final int HEADER = 3;
        private static final int GUARD_AFTER = 4;
        private static final int END = 5;

        private final SimConnection from;
        private final long sequence;
        private final int slotBytes = world.options().stream().slotBytes();
        private final MemorySegment landed = MemorySegment.ofArray(new byte[DataLayout.LENGTH + slotBytes]);
        private long guardBefore;
        private long guardAfter;
        private int part;

        Read(final SimConnection from, final long sequence) {
            this.from = from;
            this.sequence = sequence;
        }

        private void next() {
            if (part == END) {
                later(nextNs(), this::end);
            } else {
                world.events().at(nextNs(), this::carryOut);
            }
        }

        private void carryOut() {
            final MemorySegment slot = broken || (part == GUARD_BEFORE && isBreaking()) ? null : from.slot(sequence);
            if (slot == null) {
                breakDown();
                return;
            }
            final int half = DataLayout.LENGTH + slotBytes / 2;
            switch (part++) {
                case GUARD_BEFORE -> guardBefore = from.guard(sequence);
                case FIRST_HALF -> copy(slot, DataLayout.LENGTH, half);
                case SECOND_HALF -> copy(slot, half, DataLayout.LENGTH + slotBytes);
                case HEADER -> copy(slot, 0, DataLayout.LENGTH);
                case GUARD_AFTER -> guardAfter = from.guard(sequence);
                default -> throw new IllegalStateException("no part of a read: " + part);
            }
            next();
        }

        private void copy(final MemorySegment slot, final int begin, final int end) {
            MemorySegment.copy(slot, begin, landed, begin, end - begin);
        }

        private void end() {
            beganNs.remove();
            final int bytes =
                    DataLayout.sequence(landed, 0) == sequence ? DataLayout.datagramBytes(landed, 0, slotBytes) : 0;
            if (bytes > 0 && isVouchedFor(bytes)) {
                machine.onPulled(MemorySegment.ofArray(landed.asSlice(0, bytes).toArray(JAVA_BYTE)));
            } else {
                world.tally().stalePulls++;
                machine.onStale(sequence);
            }
        }

        private boolean isVouchedFor(final int bytes) {
            final MemorySegment payload = landed.asSlice(DataLayout.LENGTH);
            return !guarded
                    || (guardBefore == guardAfter
                            && SlotWord.isOf(guardAfter, sequence)
                            && SlotWord.payloadCrc(guardAfter)
                                    == new PayloadChecksum(payload, 1, slotBytes).of(0, bytes - DataLayout.LENGTH));
        }
    }
}
