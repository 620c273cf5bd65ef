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

/// Copies runs of payload by NIC from their receive buffers in the host into a ring in device memory. The copies
/// are RDMA reads over a connection of this process with itself. Writes would not do: the completion of a read
/// proves that its bytes arrived, that of a write only that they were sent. With reads, no key to the ring leaves
/// this class.
///
/// No order exists between these copies and a device's streams. The NIC therefore copies runs one after the other,
/// in the order given, and only while no copy on a stream touches the ring. When the connection breaks, all
/// unfinished runs are returned, and the stream copies them after the break.
///
/// Used by one thread after construction.
public final class NicCopyEngine implements AutoCloseable {
    /// Bytes on the heap for each run in the queue.
    public static final int RUN_BYTES = 3 * Long.BYTES + Integer.BYTES;

    // Reads in flight. A NIC carries out a few of them at a time; the rest keeps its queue filled.
    private static final int READS_MAX = 128;

    private final LoopbackQueuePair nic;
    private final String channel;
    private final DeviceAccess access;
    private final DeviceRegion exported;
    private final RegisteredMemory source;
    private final RegisteredMemory ring;
    private final Range target;
    private final OneSidedEndpoint reader;
    private final OneSidedEndpoint served;
    private final long[] tokens = new long[READS_MAX];
    // Index: number of the run, modulo the length of the arrays.
    private final long[] ringOffsets;
    private final long[] hostOffsets;
    private final int[] lengths;
    // Numbers of the runs as the caller gave them.
    private final long[] numbers;
    private final int runsMax;
    private State state = State.IDLE;
    private boolean closed;
    // Runs given, issued as reads, and completed.
    private long given;
    private long issued;
    private long done;
    // Whether a read completed after the last flush.
    private boolean unflushed;
    private long copiedBytes;
    private long earlyRuns;
    private long brokenRuns;

    /// One run, by its offsets in the ring and in the host.
    interface Run {
        void copy(long ringOffset, long hostOffset, long bytes);
    }

    /// @param allocated the ring, an allocation of the device; freed after this object is closed
    /// @param host receive buffers of the payloads, `[slots][slotBytes]`
    /// @throws DeviceException when the NIC cannot access either of them
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

    /// Bytes that the NIC copied.
    public long copiedBytes() {
        return copiedBytes;
    }

    /// Runs that the copy engine copied because the connection was not up yet.
    public long earlyRuns() {
        return earlyRuns;
    }

    /// Runs that the copy engine copied because the connection was broken.
    public long brokenRuns() {
        return brokenRuns;
    }

    /// Capacity of the queue: one run for each slot in the host.
    public static int runsMax(final MemoryShape shape) {
        return shape.stagingSlots() + shape.allRepairSlots();
    }

    /// Takes a run; no two runs share a slot.
    ///
    /// @param number ascends from run to run
    /// @return false when the stream must copy the run
    boolean copy(final long ringOffset, final long hostOffset, final long bytes, final long number) {
        if (state != State.UP) {
            earlyRuns += state == State.BROKEN ? 0 : 1;
            brokenRuns += state == State.BROKEN ? 1 : 0;
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

    /// Connects, takes completions, issues reads.
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

    // Always returns false. Closes both ends at once, because no read may land after the stream's copies.
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
            copiedBytes += lengths[index(done)];
            done++;
        }
        unflushed |= count > 0;
    }

    // A reader that refuses a read while no read is in flight will never take one.
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

    /// Whether the caller must call [#work] again.
    boolean isBusy() {
        return isPending() || (state != State.UP && state != State.BROKEN);
    }

    /// One below the number of the first unfinished run.
    ///
    /// @param submitted the result where no run is unfinished
    long completed(final long submitted) {
        return isPending() ? numbers[index(done)] - 1 : submitted;
    }

    /// Makes completed copies visible to work that starts on the device from now on.
    void flush() {
        if (unflushed) {
            access.flushRemoteWrites();
            unflushed = false;
        }
    }

    /// Returns the unfinished runs in order; no read of them lands any more.
    void giveBack(final Run to) {
        // The broken connection may have written parts of runs without a completion.
        access.flushRemoteWrites();
        unflushed = false;
        while (done < given) {
            final int index = index(done);
            to.copy(ringOffsets[index], hostOffsets[index], lengths[index]);
            brokenRuns++;
            done++;
        }
        issued = given;
    }

    /// Closes the connection and frees the registrations. Idempotent.
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            state = State.BROKEN;
            CloseHelper.closeAll(reader, served, ring, source, () -> access.unexport(exported));
        }
    }
}
