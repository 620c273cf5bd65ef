package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources;
import io.framecast.gpu.device.HostBounds;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/// GPU memory mapped through the bus by gdrcopy. Its copies end with a store fence: the stores are on their
/// way to the GPU before any later write of the CPU, a kernel's launch among them.
final class GdrMapping implements DeviceMapping {
    // The GPU's pages, by which memory is pinned.
    private static final long PAGE_BYTES = 64 << 10;
    private static final int INFO_BYTES = 48;

    private final GdrCalls calls;
    private final String device;
    private final DeviceResources resources;
    private final long handle;
    private final long pinnedBytes;
    private final long mapped;
    // Where the region begins in the mapping.
    private final long base;
    private final long bytes;
    private boolean closed;

    /// @throws DeviceException with one line that says how to fix it
    GdrMapping(final String device, final DeviceRegion region, final DeviceResources resources) {
        final GdrCalls found = GdrCalls.found();
        final Optional<String> refusal = refusal();
        if (found == null || refusal.isPresent()) {
            throw new DeviceException(device + ": " + refusal.orElse(""));
        }
        this.device = device;
        this.resources = resources;
        calls = found;
        bytes = region.bytes();
        final long first = region.address() & -PAGE_BYTES;
        pinnedBytes = (region.address() + bytes - first + PAGE_BYTES - 1) & -PAGE_BYTES;
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(INFO_BYTES, Long.BYTES);
            check("gdr_pin_buffer", calls.pin(first, pinnedBytes, out));
            handle = out.get(ValueLayout.JAVA_LONG, 0);
            mapped = mapPinned(out);
            resources.take(DeviceResources.Kind.MAPPINGS, 1);
            final int infoCode = calls.info(handle, out);
            if (infoCode != 0) {
                close();
                check("gdr_get_info", infoCode);
            }
            base = mapped + region.address() - out.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    private long mapPinned(final MemorySegment out) {
        final int code = calls.map(handle, out, pinnedBytes);
        if (code != 0) {
            calls.unpin(handle);
            check("gdr_map", code);
        }
        return out.get(ValueLayout.JAVA_LONG, 0);
    }

    /// Why memory cannot be mapped here, in a few words.
    static Optional<String> refusal() {
        final GdrCalls found = GdrCalls.found();
        if (found == null) {
            return Optional.of("no gdrcopy (" + GdrCalls.LIBRARY + ")");
        }
        return !found.isOpen() ? Optional.of("gdrcopy's kernel module is not loaded (gdrdrv)") : Optional.empty();
    }

    @Override
    public void write(final long offset, final MemorySegment source, final long sourceOffset, final long length) {
        HostBounds.checkMapped(device, closed, bytes, offset, length);
        HostBounds.check(device, source, sourceOffset, length);
        check("gdr_copy_to_mapping", calls.copyTo(handle, base + offset, source.address() + sourceOffset, length));
    }

    @Override
    public void read(final long offset, final MemorySegment target, final long targetOffset, final long length) {
        HostBounds.checkMapped(device, closed, bytes, offset, length);
        HostBounds.check(device, target, targetOffset, length);
        check("gdr_copy_from_mapping", calls.copyFrom(handle, target.address() + targetOffset, base + offset, length));
    }

    private void check(final String call, final int errno) {
        if (errno != 0) {
            throw new DeviceException(
                    device + ": " + call + ": errno " + errno
                            + ", lower ring= or use another placement: the window into the GPU's memory (BAR1) may be too small");
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            resources.give(DeviceResources.Kind.MAPPINGS, 1);
            calls.unmap(handle, mapped, pinnedBytes);
            calls.unpin(handle);
        }
    }
}
