package io.framecast.gpu.emulated;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.ScopedLock;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The engine of one emulated device: takes the commands of all streams in turn, each stream's in order, a
/// chunk at a time. Parks when there is nothing to do.
///
/// A command that fails (a kernel out of bounds, host memory freed too early) breaks the device for good, as
/// on a GPU: the rest is skipped, and every later call says why.
final class DmaThread implements Runnable {
    static final int STREAMS_MAX = 1024;

    // Small commands one stream may run before the next stream's turn.
    private static final int COMMANDS_PER_TURN = 32;
    // Looking again is cheaper than a futex round trip while a producer is in full flow; a few microseconds
    // at most.
    private static final int LOOKS_BEFORE_PARKING = 64;
    private static final long NEVER_NS = Long.MAX_VALUE;
    private static final long KERNEL_END_MS = 1_000;

    private final String deviceName;
    private final KernelSource.DeviceMemory memory;
    private final PcieLink toDevice;
    private final PcieLink toHost;
    private final long delayMaxNs;
    private final SplittableRandom delays;
    private final Thread thread;

    private final ScopedLock lock = new ScopedLock();
    private final Condition progress = lock.newCondition();

    // [slot]; a closed stream's ring stays in its slot, complete, until a new stream takes the slot.
    private volatile CommandRing[] rings = {};
    private boolean[] slotTaken = {};

    // Persistent kernels; ended ones leave when new ones start.
    private final List<KernelThread> kernels = new CopyOnWriteArrayList<>();

    private volatile boolean parked;
    private volatile boolean closing;
    private volatile @Nullable String failure;

    DmaThread(
            final String deviceName,
            final int ordinal,
            final EmulatedConfig config,
            final KernelSource.DeviceMemory memory) {
        this.deviceName = deviceName;
        this.memory = memory;
        this.toDevice = new PcieLink(config.link().toDeviceBytesPerSecond());
        this.toHost = new PcieLink(config.link().toHostBytesPerSecond());
        this.delayMaxNs = config.disorder().delayMaxNs();
        this.delays = new SplittableRandom(config.disorder().seed());
        this.thread = new Thread(this, "framecast-emulated-" + ordinal);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /// Runs the enqueued commands, then ends the thread. A persistent kernel is interrupted; a kernel that does
    /// not listen keeps its thread, and the commands behind it are dropped.
    void close() {
        kernels.forEach(kernel -> kernel.end(KERNEL_END_MS));
        closing = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (final InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Why the device is broken, or null.
    @Nullable
    String failure() {
        return failure;
    }

    /// Whether a persistent kernel runs.
    boolean hasKernels() {
        for (final KernelThread kernel : kernels) {
            if (!kernel.isDone()) {
                return true;
            }
        }
        return false;
    }

    /// Whether a stream has commands that are not done.
    boolean isBusy() {
        for (final CommandRing ring : rings) {
            if (!ring.isEmpty()) {
                return failure == null;
            }
        }
        return false;
    }

    /// Blocks of persistent kernels that were enqueued and have not ended.
    long residentBlocks() {
        long total = 0;
        for (final CommandRing ring : rings) {
            total += ring.residentBlocks();
        }
        return total;
    }

    boolean canAccess(final MemorySegment segment) {
        return segment.isAccessibleBy(thread);
    }

    CommandRing openRing(final int commandsMax) {
        try (ScopedLock.Scope _ = lock.hold()) {
            int slot = 0;
            while (slot < slotTaken.length && slotTaken[slot]) {
                slot++;
            }
            if (slot == STREAMS_MAX) {
                throw new DeviceException(
                        deviceName + ": all " + STREAMS_MAX + " streams are open; close streams that are done");
            }
            final CommandRing[] before = rings;
            final CommandRing[] after = Arrays.copyOf(before, Math.max(before.length, slot + 1));
            final long firstPosition = slot < before.length ? before[slot].enqueued() : 0;
            after[slot] = new CommandRing(slot, commandsMax, firstPosition);
            slotTaken = Arrays.copyOf(slotTaken, after.length);
            slotTaken[slot] = true;
            rings = after;
            return after[slot];
        }
    }

    /// Gives a ring's slot back; the ring must be empty.
    void closeRing(final CommandRing ring) {
        try (ScopedLock.Scope _ = lock.hold()) {
            slotTaken[ring.slot()] = false;
        }
    }

    /// Lets the thread see published commands.
    void wake() {
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    boolean isReached(final long mark) {
        return mark == EmulatedEvent.NEVER
                || rings[EmulatedEvent.slotOf(mark)].done() >= EmulatedEvent.positionOf(mark);
    }

    void awaitMark(final long mark) {
        if (mark != EmulatedEvent.NEVER) {
            awaitDone(rings[EmulatedEvent.slotOf(mark)], EmulatedEvent.positionOf(mark));
        }
    }

    /// Waits until `position` commands of the ring are done.
    void awaitDone(final CommandRing ring, final long position) {
        if (ring.done() >= position) {
            return;
        }
        try (ScopedLock.Scope _ = lock.hold()) {
            while (true) {
                // Said before looking: the DMA thread, which completes before it reads this, cannot miss it.
                ring.awaited(Math.min(ring.awaited(), position));
                // A command enqueued while the device closed is never run: do not wait for it.
                if (ring.done() >= position || !thread.isAlive()) {
                    return;
                }
                progress.awaitUninterruptibly();
            }
        }
    }

    /// Waits until everything enqueued by now, on every stream, is done.
    void drain() {
        for (final CommandRing ring : rings) {
            awaitDone(ring, ring.enqueued());
        }
    }

    @Override
    public void run() {
        try {
            serve();
        } finally {
            for (final CommandRing ring : rings) {
                signal(ring);
            }
        }
    }

    private void serve() {
        int looks = 0;
        while (true) {
            final CommandRing[] current = rings;
            boolean worked = false;
            long wakeAtNs = NEVER_NS;
            for (final CommandRing ring : current) {
                if (!ring.isEmpty()) {
                    worked |= turn(ring);
                    wakeAtNs = Math.min(wakeAtNs, isBusy(ring) ? ring.busyUntilNs : NEVER_NS);
                }
            }
            if (worked) {
                looks = 0;
            } else if (wakeAtNs != NEVER_NS) {
                parkUntil(wakeAtNs);
            } else if (looks < LOOKS_BEFORE_PARKING) {
                looks++;
                Thread.onSpinWait();
            } else if (isIdle()) {
                if (closing) {
                    return;
                }
                park();
            }
        }
    }

    // Nothing to do but to wait: for commands, or for kernels that run on their own and wake this thread at
    // their end.
    private boolean isIdle() {
        for (final CommandRing ring : rings) {
            if (!ring.isEmpty() && !(failure == null && isWaiting(ring.oldest()))) {
                return false;
            }
        }
        return true;
    }

    private boolean isWaiting(final Command command) {
        final KernelThread running = command.running;
        return running == null ? command.kind == Command.Kind.AWAIT && !isReached(command.mark) : !running.isDone();
    }

    // A stream that publishes ends the wait, so streams that are not held up go on. A command published just before
    // the wait is delayed by at most that time.
    private void parkUntil(final long wakeAtNs) {
        parked = true;
        LockSupport.parkNanos(this, wakeAtNs - System.nanoTime());
        parked = false;
        Thread.interrupted();
    }

    private void park() {
        parked = true;
        // A producer that published before it could see `parked` is seen here; one after that unparks.
        if (isIdle() && !closing) {
            LockSupport.park(this);
        }
        parked = false;
        // A stray interrupt would turn every later park into a spin.
        Thread.interrupted();
    }

    // Runs commands of one stream until a chunk is moved, the link is busy or an event is not there yet.
    private boolean turn(final CommandRing ring) {
        if (isBusy(ring)) {
            return false;
        }
        boolean worked = false;
        for (int i = 0; i < COMMANDS_PER_TURN && !ring.isEmpty(); i++) {
            final Command command = ring.oldest();
            if (isDelayed(ring)) {
                return worked;
            }
            if (failure == null) {
                if (isWaiting(command)) {
                    return worked;
                }
                final boolean whole = runGuarded(command, ring);
                worked = true;
                if (!whole || isBusy(ring)) {
                    return true;
                }
            }
            worked = true;
            if (command.kernel != null && command.kernel.persistent()) {
                ring.addResident(-command.gridBlocks);
            }
            command.clear();
            ring.delayDrawn = false;
            ring.complete();
            if (ring.done() >= ring.awaited()) {
                signal(ring);
            }
        }
        return worked;
    }

    // Draws once for each command.
    private boolean isDelayed(final CommandRing ring) {
        if (delayMaxNs == 0 || ring.delayDrawn || failure != null) {
            return false;
        }
        ring.delayDrawn = true;
        if (delays.nextBoolean()) {
            return false;
        }
        // Most delays are short; some are longer than a time slice, so that a missed wait shows.
        final double share = delays.nextDouble();
        ring.busyUntilNs = System.nanoTime() + (long) (delayMaxNs * share * share * share * share);
        return true;
    }

    private static boolean isBusy(final CommandRing ring) {
        final long untilNs = ring.busyUntilNs;
        return untilNs != Long.MIN_VALUE && System.nanoTime() - untilNs < 0;
    }

    private void signal(final CommandRing ring) {
        try (ScopedLock.Scope _ = lock.hold()) {
            ring.awaited(CommandRing.NEVER);
            progress.signalAll();
        }
    }

    private boolean runGuarded(final Command command, final CommandRing ring) {
        try {
            return run(command, ring);
        } catch (final Throwable e) {
            // Any exception of a kernel ends here: the thread must go on, to complete commands that other threads
            // wait for.
            fail(command, e);
            return true;
        }
    }

    private void fail(final Command command, final Throwable e) {
        failure = deviceName + ": " + describe(command) + " failed: " + e + "; fix it and open the device again";
    }

    private static String describe(final Command command) {
        final EmulatedKernel kernel = command.kernel;
        return kernel == null ? "copy " + command.kind + " of " + command.bytes + " bytes" : "kernel " + kernel.name();
    }

    // Whether the command is done; a long copy is done a chunk at a time.
    private boolean run(final Command command, final CommandRing ring) {
        return switch (command.kind) {
            case TO_DEVICE -> moveChunk(command, ring, toDevice);
            case TO_HOST -> moveChunk(command, ring, toHost);
            case WITHIN -> {
                MemorySegment.copy(
                        command.source, command.sourceOffset, command.target, command.targetOffset, command.bytes);
                yield true;
            }
            case FILL -> {
                command.target.asSlice(command.targetOffset, command.bytes).fill(command.value);
                yield true;
            }
            case AWAIT -> true;
            case LAUNCH -> launch(command, Objects.requireNonNull(command.kernel));
        };
    }

    // Whether the kernel is done.
    private boolean launch(final Command command, final EmulatedKernel kernel) {
        if (!kernel.persistent()) {
            kernel.emulation().run(memory, command.gridBlocks, command.blockThreads, command.arguments);
            return true;
        }
        final KernelThread running = command.running;
        if (running == null) {
            kernels.removeIf(KernelThread::isDone);
            final KernelThread started = new KernelThread(command, kernel, memory, this::wake);
            command.running = started;
            kernels.add(started);
            return false;
        }
        final Throwable thrown = running.failure();
        if (thrown != null) {
            fail(command, thrown);
        }
        return true;
    }

    private static boolean moveChunk(final Command command, final CommandRing ring, final PcieLink link) {
        final long from = command.bytesDone;
        final long bytes = Math.min(link.chunkBytes(), command.bytes - from);
        if (bytes > 0) {
            MemorySegment.copy(
                    command.source, command.sourceOffset + from, command.target, command.targetOffset + from, bytes);
            command.bytesDone = from + bytes;
            if (!link.unlimited()) {
                final boolean backlog = from > 0 || ring.enqueued() - ring.done() > 1;
                ring.busyUntilNs = link.send(bytes, backlog, System.nanoTime());
            }
        }
        return command.bytesDone == command.bytes;
    }
}
