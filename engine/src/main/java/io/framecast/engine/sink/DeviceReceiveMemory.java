package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.reliability.assembly.BufferQueue;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.PostedOffset;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Frames in a device's memory, pinned host memory for the datagrams that do not land there, and copies on one
/// stream of the device. A subclass says which bytes land where.
abstract class DeviceReceiveMemory implements ReceiveMemory {
    // The page size in which GPUs export their memory.
    private static final long EXPORT_ALIGN_BYTES = 2L << 20;

    final DeviceBackend device;
    final Arena arena = Arena.ofShared();
    final DeviceRegion ring;
    final MemorySegment host;
    final StreamCopies copies;
    final DeviceStream stream;
    private final @Nullable DeviceRegion reassembly;
    // Closed behind the stream, which waits for copies that access this memory.
    private final RollbackOnFailure memory = new RollbackOnFailure();
    // By number of the user's buffer.
    private final @Nullable DeviceRegion[] posted = new DeviceRegion[BufferQueue.TAKEN_MAX];
    private long submitted;

    /// @param ringBytes device memory for the ring
    /// @param isExported whether the NIC writes the ring
    /// @param hostBytes pinned host memory
    DeviceReceiveMemory(
            final MemoryShape shape,
            final DeviceBackend device,
            final long ringBytes,
            final boolean isExported,
            final long hostBytes) {
        this.device = device;
        memory.add(arena);
        try {
            final DeviceRegion allocated = allocate(ringBytes);
            ring = isExported ? export(allocated) : allocated;
            reassembly = shape.buffers() == 0 ? null : allocate(shape.buffersBytes());
            host = pin(hostBytes);
            copies = new StreamCopies(device);
            stream = copies.stream();
        } catch (final RuntimeException | Error e) {
            memory.close();
            throw e;
        }
    }

    /// Device memory that an exported ring takes, in whole pages.
    public static long exportBytes(final long ringBytes) {
        return (ringBytes + EXPORT_ALIGN_BYTES - 1) / EXPORT_ALIGN_BYTES * EXPORT_ALIGN_BYTES;
    }

    private DeviceRegion allocate(final long bytes) {
        final DeviceRegion region = device.allocate(bytes);
        memory.add(() -> device.free(region));
        return region;
    }

    private DeviceRegion export(final DeviceRegion allocated) {
        final DeviceRegion exported = device.access().export(allocated);
        memory.add(() -> device.access().unexport(exported));
        return exported;
    }

    /// Pinned memory, freed by [#close].
    final MemorySegment pin(final long bytes) {
        final MemorySegment pinned = device.allocatePinned(bytes);
        memory.add(() -> device.freePinned(pinned));
        return pinned;
    }

    /// The memory of frames in which an offset of a space lies.
    private DeviceRegion of(final Space space, final long offset) {
        final DeviceRegion region = switch (space) {
            case RING -> ring;
            case REASSEMBLY -> reassembly;
            case POSTED -> posted[PostedOffset.number(offset)];
            case STAGING, REPAIR, SCRATCH -> null;
        };
        if (region == null) {
            throw new IllegalStateException("no memory for " + space);
        }
        return region;
    }

    /// The device address of a range of a space.
    final long address(final Space space, final long offset, final long bytes) {
        final DeviceRegion region = of(space, offset);
        final long within = within(space, offset);
        if (within > region.bytes() - bytes) {
            throw new IndexOutOfBoundsException(
                    space + " of " + region.bytes() + " bytes: range " + within + " + " + bytes);
        }
        return region.address() + within;
    }

    private static long within(final Space space, final long offset) {
        return space == Space.POSTED ? PostedOffset.within(offset) : offset;
    }

    /// Counts a copy that begins.
    final void onSubmitted() {
        submitted++;
    }

    @Override
    public final boolean isRingMappedTwice() {
        return false;
    }

    @Override
    public final long submitted() {
        return submitted;
    }

    @Override
    public final void post(final int number, final DeviceRegion target) {
        posted[number] = target;
    }

    @Override
    public final DeviceRegion posted(final int number) {
        return Objects.requireNonNull(posted[number]);
    }

    @Override
    public final DeviceRegion region(final Space space, final long offset, final long bytes) {
        return of(space, offset).slice(within(space, offset), bytes);
    }

    @Override
    public boolean isBusy() {
        return !copies.isIdle();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(copies, memory);
    }
}
