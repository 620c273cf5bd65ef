package io.framecast.engine.publish;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Reads short frames out of device memory by the CPU, through mappings of the memory that they lie in (Shi
/// et al. 2014, fastcopy from device to host). To map costs milliseconds, so the mappings used last are kept.
///
/// Publisher's thread.
final class MappedReads implements AutoCloseable {
    private static final int MAPPINGS_MAX = 8;
    private static final float LOAD_FACTOR = 0.75f;

    private final DeviceBackend device;
    private final Consumer<String> notices;
    private final Map<DeviceRegion, DeviceMapping> mappings = new LinkedHashMap<>(MAPPINGS_MAX, LOAD_FACTOR, true);
    private boolean isRefused;

    MappedReads(final DeviceBackend device, final Consumer<String> notices) {
        this.device = device;
        this.notices = notices;
    }

    /// Reads a part of device memory; the work that writes it is complete.
    ///
    /// @param memory in which it lies, known to the device
    /// @return false where that memory cannot be mapped
    boolean read(
            final DeviceRegion memory,
            final long address,
            final MemorySegment target,
            final long targetOffset,
            final long bytes) {
        final DeviceMapping mapping = mapping(memory);
        if (mapping == null) {
            return false;
        }
        mapping.read(address - memory.address(), target, targetOffset, bytes);
        return true;
    }

    private @Nullable DeviceMapping mapping(final DeviceRegion memory) {
        final DeviceMapping known = mappings.get(memory);
        if (known != null || isRefused) {
            return known;
        }
        try {
            if (mappings.size() >= MAPPINGS_MAX) {
                final DeviceRegion oldest = mappings.keySet().iterator().next();
                CloseHelper.close(mappings.remove(oldest));
            }
            final DeviceMapping made = device.access().map(memory);
            mappings.put(memory, made);
            return made;
        } catch (final DeviceException e) {
            isRefused = true;
            notices.accept("source memory: short frames are copied: " + e.getMessage());
            return null;
        }
    }

    @Override
    public void close() {
        CloseHelper.closeAll(mappings.values());
        mappings.clear();
    }
}
