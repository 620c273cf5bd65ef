package io.framecast.api.spi;

import java.util.UUID;

/// Names device memory that another process of this host may open ([DeviceSharing#open]).
///
/// @param device the physical device, alike in all processes
/// @param bytes length of the memory
/// @param text by which the kind of device finds it, 1 … [#TEXT_MAX] characters of ASCII
public record DeviceHandle(UUID device, long bytes, String text) {
    public static final int TEXT_MAX = 160;

    public DeviceHandle {
        if (bytes <= 0) {
            throw new IllegalArgumentException("device handle: expected bytes > 0, got " + bytes);
        }
        if (text.isEmpty() || text.length() > TEXT_MAX || !text.chars().allMatch(c -> c > ' ' && c < 127)) {
            throw new IllegalArgumentException(
                    "device handle: expected 1 … " + TEXT_MAX + " characters of ASCII, got " + text.length());
        }
    }
}
