package io.framecast.engine.publish;

import io.framecast.api.PlacementOptions;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.session.SendMemory;
import io.framecast.engine.sink.CopySpeeds;
import io.framecast.reliability.window.SendWindow;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Consumer;
import org.agrona.CloseHelper;

/// Copies frames out of a device's memory straight into the send window, which is registered with the device. Some
/// chunks are being copied while the sender transmits those before them (Chu et al. 2019, §4.2, Algorithm 2, with
/// the window as the pinned buffer). Used by the publisher's thread.
///
/// Owns the device.
final class DeviceSource implements AutoCloseable {
    // Chunks in flight: one arrives, one is copied, and the copy engine already has the next.
    private static final int DEPTH = 3;

    private final DeviceBackend device;
    private final SendMemory memory;
    private final SendWindow window;
    private final int slotBytes;
    private final DeviceStream stream;
    private final DeviceEvent[] copied = new DeviceEvent[DEPTH];
    private final int[] chunkSlots = new int[DEPTH];
    private final int chunkSlotsMax;
    private final boolean registered;
    // Progress of the current frame, in slots.
    private long enqueued;
    private long committed;
    private int head;
    private int inFlight;

    /// @param notices takes a notice of the copy path that was found
    DeviceSource(
            final DeviceBackend device,
            final SourceSession session,
            final PlacementOptions options,
            final Consumer<String> notices) {
        this.device = device;
        memory = session.memory();
        window = session.window();
        slotBytes = session.stream().slotBytes();
        final long chunkBytes = chunkBytes(options);
        // A chunk that fills the window would leave nothing to overlap with.
        final int most = Math.max(1, (window.slots() - 1) / DEPTH);
        chunkSlotsMax = Math.clamp(chunkBytes / slotBytes, 1, most);
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            stream = opened.add(device.openStream());
            Arrays.setAll(copied, _ -> opened.add(device.openEvent()));
            registered = register(notices);
            opened.keep();
        }
        notices.accept("source memory: " + device.name() + ", " + device.description() + ", chunks of " + chunkBytes()
                + " bytes");
    }

    private long chunkBytes(final PlacementOptions options) {
        if (options.chunkBytes() != PlacementOptions.AUTO || device.hostAddressable()) {
            return Math.max(slotBytes, options.chunkBytes());
        }
        try (CopySpeeds speeds = new CopySpeeds(device)) {
            return speeds.chunkBytes();
        }
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

    /// Bytes in one copy.
    long chunkBytes() {
        return (long) chunkSlotsMax * slotBytes;
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
            window.commit(length, chunkSlots[head]);
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

    /// Copies a frame that shares its datagram, and waits for the copy.
    void copySmall(final DeviceRegion frame, final DeviceEvent written, final MemorySegment target, final long offset) {
        stream.await(written);
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
        final AutoCloseable unregister = () -> {
            if (registered) {
                device.unregisterHost(memory.payload());
            }
        };
        CloseHelper.closeAll(stream, unregister, () -> CloseHelper.closeAll(copied), device);
    }
}
