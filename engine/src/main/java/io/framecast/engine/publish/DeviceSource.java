package io.framecast.engine.publish;

import io.framecast.api.DeviceSourceReport;
import io.framecast.api.PlacementOptions;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.session.SendMemory;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.window.SendWindow;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Brings frames out of a device's memory onto the network, by their length ([DeviceSourceReport]): the CPU
/// reads short ones into the send window, the NIC sends longer ones from where they lie, and all others are
/// copied straight into the send window, which is registered with the device. Some chunks are being copied
/// while the sender transmits those before them (Chu et al. 2019, §4.2, Algorithm 2, with the window as the
/// pinned buffer). Used by the publisher's thread.
///
/// Owns the device. Closed when no lane sends any more, and before the window is freed.
final class DeviceSource implements AutoCloseable {
    // Chunks in flight: one arrives, one is copied, and the copy engine already has the next.
    private static final int DEPTH = 3;

    private final DeviceBackend device;
    private final DeviceSourceReport report;
    private final GatheredFrames gathered;
    // Held by the publisher's thread while it reads or sends from the device's memory, and by the thread that closes.
    private final ReentrantLock use = new ReentrantLock();
    private boolean closed;
    // Of the memory that frames are claimed in, made for the first short one.
    private @Nullable DeviceMapping mapping;
    private boolean isUnmapped;
    private final SendMemory memory;
    private final SendWindow window;
    private final FrameWriter writer;
    private final int slotBytes;
    private final DeviceStream stream;
    private final DeviceEvent[] copied = new DeviceEvent[DEPTH];
    private final int[] chunkSlots = new int[DEPTH];
    private final int chunkSlotsMax;
    private final boolean registered;
    private final Consumer<String> notices;
    // Progress of the current frame, in slots.
    private long enqueued;
    private long committed;
    private int head;
    private int inFlight;
    private long loadedBytes;
    private long gatheredBytes;
    private long copiedBytes;

    /// How a frame is sent.
    enum Way {
        READ,
        GATHER,
        COPY
    }

    /// @param notices takes a notice of the copy path that was found
    DeviceSource(
            final DeviceBackend device,
            final SourceParts parts,
            final PlacementOptions options,
            final Consumer<String> notices) {
        this.device = device;
        memory = parts.memory();
        window = parts.window();
        writer = parts.writer();
        slotBytes = parts.stream().slotBytes();
        gathered = new GatheredFrames(device, parts, notices);
        this.notices = notices;
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final DeviceLimits limits = DeviceLimits.of(device, parts, options);
            // A chunk that fills the window would leave nothing to overlap with.
            final int most = Math.max(1, (window.slots() - 1) / DEPTH);
            chunkSlotsMax = Math.clamp(limits.chunkBytes() / slotBytes, 1, most);
            report = new DeviceSourceReport(
                    limits.readMaxBytes(), limits.gatherMaxBytes(), (long) chunkSlotsMax * slotBytes, limits.refused());
            stream = opened.add(device.openStream());
            Arrays.setAll(copied, _ -> opened.add(device.openEvent()));
            registered = register(notices);
            opened.keep();
        }
        notices.accept("source memory: " + device.name() + ", " + device.description() + "; " + report);
    }

    private boolean register(final Consumer<String> notices) {
        try {
            device.registerHost(memory.payload());
            return true;
        } catch (final DeviceException e) {
            // Copies without the registration are correct, and slower.
            notices.accept("send window: " + e.getMessage());
            return false;
        }
    }

    DeviceBackend device() {
        return device;
    }

    DeviceSourceReport report() {
        return report;
    }

    long loadedBytes() {
        return loadedBytes;
    }

    long gatheredBytes() {
        return gatheredBytes;
    }

    long copiedBytes() {
        return copiedBytes;
    }

    private <T> T using(final Supplier<T> work) {
        use.lock();
        try {
            if (closed) {
                throw new IllegalStateException("publisher: closed; make another");
            }
            return work.get();
        } finally {
            use.unlock();
        }
    }

    /// Claims memory for a frame.
    ///
    /// @return empty without room
    Optional<DeviceRegion> claim(final long bytes) {
        return using(() -> Optional.ofNullable(gathered.claim(bytes)));
    }

    /// Sequences below hold the memory that is given back next; -1 where none is held.
    long claimableBehind() {
        return using(gathered::oldestUntil);
    }

    /// Gives back a claim whose frame was copied, or is not offered.
    ///
    /// @return false when it is no open claim
    boolean release(final DeviceRegion frame) {
        return using(() -> gathered.release(frame));
    }

    boolean isSent(final DeviceRegion region) {
        return using(() -> gathered.isSent(region));
    }

    /// How a frame is sent that fits the window.
    ///
    /// @param lent whether its memory stays as it is until all subscribers have it
    Way way(final DeviceRegion frame, final boolean lent) {
        return using(() -> {
            gathered.reap();
            final boolean claimed = gathered.isClaimed(frame);
            if (claimed && frame.bytes() <= report.readMaxBytes()) {
                return Way.READ;
            }
            return frame.bytes() <= report.gatherMaxBytes() && (lent || claimed) ? Way.GATHER : Way.COPY;
        });
    }

    /// Has the window's next slots take a frame, by the CPU or as a gather. Waits for the work that writes it.
    ///
    /// @return false where that cannot be: the frame has to be copied
    boolean take(final DeviceRegion frame, final DeviceEvent written, final long slots, final Way way) {
        if (way == Way.COPY) {
            return false;
        }
        await(written);
        return using(() -> {
            if (way == Way.READ) {
                return readIntoWindow(frame);
            }
            final boolean placed = gathered.place(
                    gathered.isClaimed(frame) ? frame : device.access().identify(frame), slots);
            gatheredBytes += placed ? frame.bytes() : 0;
            return placed;
        });
    }

    private static void await(final DeviceEvent written) {
        if (!written.isComplete()) {
            written.synchronize();
        }
    }

    private boolean readIntoWindow(final DeviceRegion frame) {
        final long offset = (long) window.slot(window.cursor()) * slotBytes;
        final long top = Math.min(frame.bytes(), (long) window.slots() * slotBytes - offset);
        return read(frame, 0, memory.payload(), offset, top)
                && (top == frame.bytes() || read(frame, top, memory.payload(), 0, frame.bytes() - top));
    }

    // Of a frame in a claim.
    private boolean read(
            final DeviceRegion frame,
            final long from,
            final MemorySegment target,
            final long targetOffset,
            final long bytes) {
        final DeviceRegion claims = Objects.requireNonNull(gathered.claimed());
        final DeviceMapping mapped = mapping == null && !isUnmapped ? map(claims) : mapping;
        if (mapped == null) {
            return false;
        }
        mapped.read(frame.address() + from - claims.address(), target, targetOffset, bytes);
        loadedBytes += bytes;
        return true;
    }

    private @Nullable DeviceMapping map(final DeviceRegion claims) {
        try {
            mapping = device.access().map(claims);
        } catch (final DeviceException e) {
            isUnmapped = true;
            notices.accept("source memory: short frames are copied: " + e.getMessage());
        }
        return mapping;
    }

    /// Begins a frame: no copy reads it before the work that writes it is complete.
    void begin(final DeviceEvent written) {
        stream.await(written);
        enqueued = 0;
        committed = 0;
        head = 0;
        inFlight = 0;
    }

    /// Whether a part of the frame was committed: the frame can then no longer be abandoned.
    boolean hasCommitted() {
        return committed > 0;
    }

    /// Enqueues copies as far as the window has room, and commits the chunks that have arrived.
    ///
    /// @param length of the frame
    /// @param sender runs after each committed chunk
    /// @return whether the whole frame was committed
    /// @throws DeviceException when the device fails; none of the frame's copies is in flight any more
    boolean run(final DeviceRegion frame, final long length, final Runnable sender) {
        try {
            return copyOn(frame, length, sender);
        } catch (final DeviceException e) {
            settle(e);
            throw e;
        }
    }

    // An earlier chunk must not land in slots that belong to the next frame.
    private void settle(final DeviceException cause) {
        try {
            stream.synchronize();
        } catch (final DeviceException e) {
            // A lost device copies nothing more.
            cause.addSuppressed(e);
        }
    }

    private boolean copyOn(final DeviceRegion frame, final long length, final Runnable sender) {
        final long slots = (length + slotBytes - 1) / slotBytes;
        while (true) {
            while (inFlight < DEPTH && enqueueChunk(frame, length, slots)) {
                inFlight++;
            }
            if (inFlight == 0) {
                return committed == slots;
            }
            copied[head].synchronize();
            writer.commitPart(chunkSlots[head]);
            committed += chunkSlots[head];
            head = (head + 1) % DEPTH;
            inFlight--;
            sender.run();
        }
    }

    private boolean enqueueChunk(final DeviceRegion frame, final long length, final long slots) {
        final long ahead = enqueued - committed;
        final int count = (int) Math.min(Math.min(chunkSlotsMax, slots - enqueued), window.freeSlots() - ahead);
        if (count <= 0) {
            return false;
        }
        final long offset = enqueued * slotBytes;
        final long bytes = Math.min((long) count * slotBytes, length - offset);
        copiedBytes += bytes;
        copyOut(frame.address() + offset, window.slot(window.cursor() + ahead), bytes);
        final int index = (head + inFlight) % DEPTH;
        stream.record(copied[index]);
        chunkSlots[index] = count;
        enqueued += count;
        return true;
    }

    private void copyOut(final long address, final int slot, final long bytes) {
        final long offset = (long) slot * slotBytes;
        final long top = Math.min(bytes, (long) window.slots() * slotBytes - offset);
        stream.copyToHost(memory.payload(), offset, address, top);
        if (top < bytes) {
            stream.copyToHost(memory.payload(), 0, address + top, bytes - top);
        }
    }

    /// Copies a frame that shares its datagram, by the CPU where that is faster, and waits for the copy.
    void copySmall(final DeviceRegion frame, final DeviceEvent written, final MemorySegment target, final long offset) {
        if (way(frame, false) == Way.READ) {
            await(written);
            if (using(() -> read(frame, 0, target, offset, frame.bytes()))) {
                return;
            }
        }
        stream.await(written);
        copiedBytes += frame.bytes();
        try {
            stream.copyToHost(target, offset, frame.address(), frame.bytes());
            stream.record(copied[0]);
            copied[0].synchronize();
        } catch (final DeviceException e) {
            settle(e);
            throw e;
        }
    }

    @Override
    public void close() {
        use.lock();
        try {
            closed = true;
            CloseHelper.closeAll(gathered, mapping);
        } finally {
            use.unlock();
        }
        final AutoCloseable unregister = () -> {
            if (registered) {
                device.unregisterHost(memory.payload());
            }
        };
        CloseHelper.closeAll(stream, unregister, () -> CloseHelper.closeAll(copied), device);
    }
}
