package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.Pages;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.reliability.assembly.BufferQueue;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.assembly.PostedOffset;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Frames in host memory, where a copy is complete when its call returns. The ring is mapped twice where the
/// system supports it, so that a frame that wraps around the ring's end is contiguous. Datagrams land in the
/// ring, or, with [Kind#STAGED], before it.
public final class HostReceiveMemory implements ReceiveMemory {
    private final RollbackOnFailure memory = new RollbackOnFailure();
    private final MirroredMemory mapping;
    private final MemorySegment ring;
    private final MemorySegment repair;
    private final MemorySegment staging;
    private final MemorySegment scratch;
    private final @Nullable DeviceRegion reassembly;
    private final ReceiveRings rings;
    private final long ringBytes;
    // By number of the user's buffer.
    private final @Nullable DeviceRegion[] posted = new DeviceRegion[BufferQueue.TAKEN_MAX];
    private long copies;

    /// @param headerReserve bytes that the transport writes before each header
    /// @param mapping the ring, this object's from now on
    public HostReceiveMemory(
            final MemoryShape shape,
            final DeviceBackend device,
            final int headerReserve,
            final MirroredMemory mapping) {
        final int slotBytes = shape.slotBytes();
        ringBytes = shape.ringBytes();
        this.mapping = memory.add(mapping);
        try {
            final Arena arena = memory.add(Arena.ofShared());
            ring = mapping.segment();
            repair = Pages.allocate(arena, (long) shape.allRepairSlots() * slotBytes);
            final boolean inRing = shape.kind() == Kind.IN_RING;
            scratch = inRing ? Pages.allocate(arena, (long) shape.batchMax() * slotBytes) : MemorySegment.NULL;
            final boolean isStaged = shape.kind() == Kind.STAGED;
            staging = isStaged ? Pages.allocate(arena, (long) shape.stagingSlots() * slotBytes) : MemorySegment.NULL;
            rings = isStaged
                    ? ReceiveRings.inHost(arena, shape, headerReserve, staging, shape.stagingSlots(), repair)
                    : ReceiveRings.inHost(arena, shape, headerReserve, ring, shape.ringSlots(), repair);
            device.registerHost(ring);
            memory.add(() -> device.unregisterHost(ring));
            reassembly = shape.buffers() == 0 || (inRing && mapping.mirrored())
                    ? null
                    : device.allocate(shape.buffersBytes());
            if (reassembly != null) {
                memory.add(() -> device.free(reassembly));
            }
        } catch (final RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    @Override
    public ReceiveRings rings() {
        return rings;
    }

    @Override
    public boolean isRingInHost() {
        return true;
    }

    @Override
    public boolean isRingMappedTwice() {
        return mapping.mirrored();
    }

    /// The ring, which other processes of the host may map where [#isRingMappedTwice].
    public MirroredMemory ring() {
        return mapping;
    }

    /// Length of the ring, without its second mapping.
    public long ringBytes() {
        return ringBytes;
    }

    @Override
    public void copy(final Space from, final long fromOffset, final Space to, final long toOffset, final long bytes) {
        final MemorySegment source = of(from, fromOffset);
        final MemorySegment target = of(to, toOffset);
        final long at = within(to, toOffset);
        final long head = from == Space.RING && !mapping.mirrored() ? Math.min(bytes, ringBytes - fromOffset) : bytes;
        MemorySegment.copy(source, within(from, fromOffset), target, at, head);
        MemorySegment.copy(source, 0, target, at + head, bytes - head);
        copies++;
    }

    private static long within(final Space space, final long offset) {
        return space == Space.POSTED ? PostedOffset.within(offset) : offset;
    }

    private MemorySegment of(final Space space, final long offset) {
        return switch (space) {
            case RING -> ring;
            case REPAIR -> repair;
            case SCRATCH -> scratch;
            case REASSEMBLY -> Objects.requireNonNull(reassembly).host();
            case POSTED -> posted(PostedOffset.number(offset)).host();
            case STAGING -> staging;
        };
    }

    @Override
    public void flush() {
        // Nothing to do: every copy is complete when its call returns.
    }

    @Override
    public long submitted() {
        return copies;
    }

    @Override
    public long completed() {
        return copies;
    }

    @Override
    public MemorySegment read(final Space space, final long offset, final int bytes) {
        return of(space, offset).asSlice(within(space, offset), bytes);
    }

    @Override
    public void post(final int number, final DeviceRegion target) {
        posted[number] = target;
    }

    @Override
    public DeviceRegion posted(final int number) {
        return Objects.requireNonNull(posted[number]);
    }

    @Override
    public DeviceRegion region(final Space space, final long offset, final long bytes) {
        return DeviceRegion.ofHost(of(space, offset).asSlice(within(space, offset), bytes));
    }

    @Override
    public void record(final DeviceEvent ready) {
        // Nothing to do: an event is complete from its creation, and so is all work before it.
    }

    @Override
    public boolean isBusy() {
        return false;
    }

    @Override
    public void close() {
        memory.close();
    }
}
