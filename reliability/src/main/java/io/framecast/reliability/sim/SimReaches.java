package io.framecast.reliability.sim;

import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.wire.LinkOffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// What one membership acts on: its source's memory, and its co-root's, by a connection that is another one in
/// each assignment. What is read comes as repairs do.
final class SimReaches {
    private static final long MAKING_MAX_NS = 5_000_000;

    private final SimReceiver process;
    private final SimWorld world;
    private final ReceiverMachine machine;
    private final SimInbox repairs;
    private final @Nullable SimCoRoot serving;
    private final SimReach source;
    private @Nullable SimReach coRoot;
    private byte[] descriptor = new byte[0];
    private long madeNs;
    private int made;

    /// @param serving what the process does for others; null for nothing
    SimReaches(
            final SimReceiver process,
            final SimWorld world,
            final ReceiverMachine machine,
            final SimInbox repairs,
            final @Nullable SimCoRoot serving) {
        this.serving = serving;
        this.process = process;
        this.world = world;
        this.machine = machine;
        this.repairs = repairs;
        final boolean guarded = !process.user().delivery().isWaitedFor();
        source = new SimReach(process, world, new Source(), guarded);
    }

    void cycle() {
        source.cycle();
        final SimReach set = coRoot;
        if (set != null) {
            set.cycle();
        }
    }

    boolean open(final LinkOffer offer) {
        return source.open(offer);
    }

    boolean write(final long word) {
        return source.write(word);
    }

    int pull(final long first, final int count) {
        return source.pull(first, count);
    }

    boolean makeSet() {
        if (coRoot != null) {
            throw new IllegalStateException("reads one co-root's copy and is to read another's");
        }
        coRoot = new SimReach(process, world, new Set(), true);
        made++;
        descriptor = new byte[] {(byte) (made >>> 8), (byte) made, 0};
        madeNs = world.events().nowNs() + process.random().nextLong(MAKING_MAX_NS);
        return true;
    }

    byte @Nullable [] setDescriptor() {
        return coRoot == null || world.events().nowNs() < madeNs ? null : descriptor;
    }

    boolean openSet(final LinkOffer offer) {
        final SimReach set = coRoot;
        return set != null && set.open(offer);
    }

    void cutSet() {
        final SimReach set = coRoot;
        if (set != null) {
            set.close();
            coRoot = null;
        }
    }

    int pullFromSet(final long first, final int count) {
        final SimReach set = coRoot;
        return set == null ? ReceiverOutput.NO_PULL : set.pull(first, count);
    }

    private final class Source implements SimReach.Machine {
        @Override
        public void onUp() {
            machine.link().onUp(process.nowNs());
        }

        @Override
        public void onWritten() {
            machine.link().onWritten(process.nowNs());
        }

        @Override
        public void onBroken() {
            if (serving != null) {
                serving.cutCopy();
            }
            machine.link().onBroken(process.nowNs());
        }

        @Override
        public void onPulled(final MemorySegment datagram) {
            world.tally().pulls++;
            repairs.add(datagram);
        }

        @Override
        public void onStale(final long sequence) {
            machine.repairRequests().insist(sequence, process.nowNs());
        }
    }

    private final class Set implements SimReach.Machine {
        @Override
        public void onUp() {
            machine.setLink().onUp();
        }

        @Override
        public void onWritten() {
            throw new IllegalStateException("nothing is written to a co-root");
        }

        @Override
        public void onBroken() {
            machine.setLink().onBroken();
        }

        @Override
        public void onPulled(final MemorySegment datagram) {
            world.tally().setPulls++;
            repairs.add(datagram);
        }

        @Override
        public void onStale(final long sequence) {
            machine.repairRequests().ask(sequence, process.nowNs());
        }
    }
}
