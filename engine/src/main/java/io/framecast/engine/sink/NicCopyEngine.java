package io.framecast.engine.sink;

import io.framecast.api.error.DeviceException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.Range;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.reliability.assembly.MemoryShape;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;

/// Runs of payload that a NIC copies from where they landed in the host into a ring in device memory: reads,
/// over a connection of this process with itself. Not writes: the token of a read says that its bytes are
/// there, that of a write that they were sent; and nobody needs a key to the ring.
///
/// Nothing orders these copies against a device's streams. So they are carried out one behind the other, in
/// the order given, only while no copy on a stream touches the ring; and what is not done when the connection
/// breaks is given back whole, for the stream to copy behind it.
///
/// By one thread, but for construction.
public final class NicCopyEngine implements AutoCloseable {
    /// On the heap, for each run that may wait.
    public static final int RUN_BYTES = 3 * Long.BYTES + Integer.BYTES;

    // Reads under way at a time: a device carries out a few of them beside each other, the others must be
    // there.
    private static final int READS_MAX = 128;

    private final LoopbackQueuePair nic;
    private final String channel;
    private final DeviceAccess access;
    private final NicCounts counts = new NicCounts();
    private final DeviceRegion exported;
    private final RegisteredMemory source;
    private final RegisteredMemory ring;
    private final Range target;
    private final OneSidedEndpoint reader;
    private final OneSidedEndpoint served;
    private final long[] tokens = new long[READS_MAX];
    // By number of the run, modulo their length.
    private final long[] ringOffsets;
    private final long[] hostOffsets;
    private final int[] lengths;
    // What the caller calls it.
    private final long[] numbers;
    private final int runsMax;
    private State state = State.IDLE;
    private boolean closed;
    // Runs given, being read, and there.
    private long given;
    private long issued;
    private long done;
    // Something was written that was not flushed.
    private boolean unflushed;

    /// A run: where it belongs in the ring, where it lies in the host.
    interface Run {
        void copy(long ringOffset, long hostOffset, long bytes);
    }

    /// @param allocated the ring, an allocation of the device's; freed after this is closed
    /// @param host where payloads land, `[slots][slotBytes]`
    /// @throws DeviceException when the NIC cannot reach either of them
    NicCopyEngine(
            final MemoryShape shape,
            final DeviceBackend device,
            final LoopbackQueuePair nic,
            final DeviceRegion allocated,
            final MemorySegment host) {
        this.nic = nic;
        channel = shape.stream().channel();
        access = device.access();
        runsMax = runsMax(shape);
        ringOffsets = new long[runsMax];
        hostOffsets = new long[runsMax];
        lengths = new int[runsMax];
        numbers = new long[runsMax];
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            exported = access.export(allocated);
            opened.add(() -> access.unexport(exported));
            source = opened.add(nic.oneSided().register(host, Access.PEERS_READ));
            ring = opened.add(nic.oneSided().register(exported, Access.LOCAL));
            target = new Range(ring);
            reader = opened.add(nic.oneSided().open(READS_MAX));
            served = opened.add(nic.oneSided().accept(reader.descriptor()));
            opened.keep();
        } catch (final TransportException e) {
            throw new DeviceException(String.valueOf(e.getMessage()), e);
        }
    }

    NicCounts counts() {
        return counts;
    }

    /// Runs that may wait: one for each slot in the host.
    public static int runsMax(final MemoryShape shape) {
        return shape.landingSlots() + shape.allRepairSlots();
    }

    /// Takes a run; each lies in slots that no other lies in.
    ///
    /// @param number ascends from run to run
    /// @return false when the stream must copy it
    boolean copy(final long ringOffset, final long hostOffset, final long bytes, final long number) {
        if (state != State.UP) {
            counts.earlyRuns += state == State.BROKEN ? 0 : 1;
            counts.brokenRuns += state == State.BROKEN ? 1 : 0;
            return false;
        }
        if (given - done == runsMax) {
            throw new IllegalStateException("nic: " + runsMax + " runs wait, and there are not more slots");
        }
        final int index = index(given);
        ringOffsets[index] = ringOffset;
        hostOffsets[index] = hostOffset;
        lengths[index] = (int) bytes;
        numbers[index] = number;
        given++;
        return true;
    }

    private int index(final long run) {
        return (int) (run % runsMax);
    }

    /// Connects, takes tokens, begins reads.
    ///
    /// @param quiet whether no copy on a stream touches the ring
    /// @return false when the connection broke just now: [#giveBack] is due
    boolean work(final boolean quiet) {
        return switch (state) {
            case IDLE, CONNECTING -> connect();
            case UP -> {
                takeTokens();
                yield isWhole() && (!quiet || issue());
            }
            case BROKEN -> true;
        };
    }

    private boolean connect() {
        try {
            if (state == State.IDLE && served.state() == State.UP) {
                reader.connect(served.descriptor());
                state = State.CONNECTING;
            }
        } catch (final TransportException e) {
            return breakWith(String.valueOf(e.getMessage()));
        }
        if (state == State.CONNECTING && reader.state() == State.UP) {
            state = State.UP;
        }
        return isWhole();
    }

    private boolean isWhole() {
        if (reader.state() == State.BROKEN) {
            return breakWith(reader.failure());
        }
        return served.state() != State.BROKEN || breakWith(served.failure());
    }

    // Always false. Closed at once: nothing may land behind what the stream copies then.
    private boolean breakWith(final String reason) {
        state = State.BROKEN;
        CloseHelper.closeAll(reader, served);
        nic.notices().accept("placement of " + channel + ": the NIC copies no more, the copy engine does: " + reason);
        return false;
    }

    private void takeTokens() {
        if (done == issued) {
            return;
        }
        final int count = reader.poll(tokens);
        for (int i = 0; i < count; i++) {
            counts.copiedBytes += lengths[index(done)];
            done++;
        }
        unflushed |= count > 0;
    }

    // Who takes nothing while nothing is under way never will.
    private boolean issue() {
        while (issued < given) {
            final int index = index(issued);
            target.at(ringOffsets[index], lengths[index]);
            if (!reader.read(target, source.address() + hostOffsets[index], source.key(), issued)) {
                return isWhole() && (issued > done || breakWith("it takes no reads"));
            }
            issued++;
        }
        return true;
    }

    private boolean isPending() {
        return done < given;
    }

    /// Whether it must be asked to go on.
    boolean isBusy() {
        return isPending() || (state != State.UP && state != State.BROKEN);
    }

    /// The number below that of the first run that is not there.
    ///
    /// @param submitted where all are there
    long completed(final long submitted) {
        return isPending() ? numbers[index(done)] - 1 : submitted;
    }

    /// What was copied is visible to work that starts on the device from now on, and lands before it.
    void flush() {
        if (unflushed) {
            access.flushRemoteWrites();
            unflushed = false;
        }
    }

    /// Hands back what is not there, in order; nothing of it lands any more.
    void giveBack(final Run to) {
        // What a broken connection has written of runs without a token.
        access.flushRemoteWrites();
        unflushed = false;
        while (done < given) {
            final int index = index(done);
            to.copy(ringOffsets[index], hostOffsets[index], lengths[index]);
            counts.brokenRuns++;
            done++;
        }
        issued = given;
    }

    /// Lets go of the transport. Idempotent.
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            state = State.BROKEN;
            CloseHelper.closeAll(reader, served, ring, source, () -> access.unexport(exported));
        }
    }
}
