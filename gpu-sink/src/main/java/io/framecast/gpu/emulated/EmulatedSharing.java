package io.framecast.gpu.emulated;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceHandle;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceSharing;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// Memory of an emulated device in several processes: a memory file, found by process, descriptor and the file's own
/// number. Every emulated device reaches every other. Memory stays readable when its process dies, which CUDA does not
/// promise.
final class EmulatedSharing implements DeviceSharing {
    private static final Pattern HANDLE = Pattern.compile("(\\d{1,10})/(\\d{1,10})/(\\d{1,18})");

    private final EmulatedDevice device;
    private final int ordinal;

    EmulatedSharing(final EmulatedDevice device, final int ordinal) {
        this.device = device;
        this.ordinal = ordinal;
    }

    @Override
    public Optional<String> refusal() {
        return Optional.empty();
    }

    @Override
    public UUID identity() {
        return identity(ordinal);
    }

    private static UUID identity(final int ordinal) {
        return UUID.nameUUIDFromBytes(("emulated:" + ordinal).getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public Optional<String> reachRefusal(final UUID other) {
        return IntStream.range(0, EmulatedProvider.DEVICES)
                        .anyMatch(i -> identity(i).equals(other))
                ? Optional.empty()
                : Optional.of("it is no emulated device");
    }

    @Override
    public DeviceRegion allocate(final long bytes) {
        return device.allocate(bytes, true);
    }

    @Override
    public DeviceHandle handle(final DeviceRegion region) {
        final SharedMemory memory = device.shared(region);
        final String text = ProcessHandle.current().pid() + "/" + memory.descriptor() + "/" + memory.inode();
        return new DeviceHandle(identity(), region.bytes(), text);
    }

    @Override
    public DeviceRegion open(final DeviceHandle handle) {
        device.checkUsable();
        final Matcher parts = HANDLE.matcher(handle.text());
        if (!parts.matches()) {
            throw new DeviceException(device.name() + ": cannot open memory of another kind of device");
        }
        final Path file = Path.of("/proc", parts.group(1), "fd", parts.group(2));
        final Arena arena = Arena.ofShared();
        try {
            return device.adopt(arena, SharedMemory.open(arena, file, Long.parseLong(parts.group(3)), handle.bytes()));
        } catch (final RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public void close(final DeviceRegion opened, final Runnable afterwards) {
        device.disown(opened, afterwards);
    }
}
