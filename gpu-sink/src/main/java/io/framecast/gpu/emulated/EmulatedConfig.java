package io.framecast.gpu.emulated;

/// What an emulated GPU is like.
///
/// @param memoryBytes device memory; host memory is taken only for what is allocated and written
/// @param toDeviceBytesPerSecond bandwidth of the modelled PCIe link towards the device, shared by all streams;
///     [#UNLIMITED] copies as fast as the host can
/// @param toHostBytesPerSecond the same, towards the host
/// @param streamCommandsMax commands a stream holds before its enqueuer has to wait; a power of two
public record EmulatedConfig(
        long memoryBytes, long toDeviceBytesPerSecond, long toHostBytesPerSecond, int streamCommandsMax) {
    public static final long UNLIMITED = Long.MAX_VALUE;
    public static final EmulatedConfig DEFAULT = new EmulatedConfig(16L << 30, UNLIMITED, UNLIMITED, 1024);

    public EmulatedConfig {
        if (memoryBytes <= 0) {
            throw new IllegalArgumentException("emulated memory: expected bytes > 0, got " + memoryBytes);
        }
        if (toDeviceBytesPerSecond <= 0 || toHostBytesPerSecond <= 0) {
            throw new IllegalArgumentException("emulated link: expected bytes per second > 0, got "
                    + toDeviceBytesPerSecond + " and " + toHostBytesPerSecond);
        }
        if (streamCommandsMax < 2 || Integer.bitCount(streamCommandsMax) != 1) {
            throw new IllegalArgumentException(
                    "emulated stream: expected a power of two of commands, got " + streamCommandsMax);
        }
    }

    public EmulatedConfig withMemory(final long bytes) {
        return new EmulatedConfig(bytes, toDeviceBytesPerSecond, toHostBytesPerSecond, streamCommandsMax);
    }

    public EmulatedConfig withLink(final long toDevice, final long toHost) {
        return new EmulatedConfig(memoryBytes, toDevice, toHost, streamCommandsMax);
    }

    public EmulatedConfig withStreamCommands(final int commandsMax) {
        return new EmulatedConfig(memoryBytes, toDeviceBytesPerSecond, toHostBytesPerSecond, commandsMax);
    }
}
