package io.framecast.perf.harness;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import java.util.Optional;

/// Emulated devices whose link has a rate, in processes that measure streaming; behind the plain ones
/// everywhere else.
public final class EmulatedLinkProvider implements DeviceBackendProvider {
    private static final int RANK_BEFORE = 201;
    private static final int RANK_BEHIND = 199;
    private static final int DEVICES = 16;

    // Of the process: the engine finds providers by itself, and makes its own of each.
    private static volatile long linkBytesPerSecond;

    /// From now on devices opened in this process have such a link, each way.
    ///
    /// @param bytesPerSecond 0 for what the host can copy
    public static void set(final long bytesPerSecond) {
        linkBytesPerSecond = bytesPerSecond;
    }

    @Override
    public String kind() {
        return "emulated";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public int rank() {
        return linkBytesPerSecond > 0 ? RANK_BEFORE : RANK_BEHIND;
    }

    @Override
    public boolean isAutomatic() {
        return false;
    }

    @Override
    public int deviceCount() {
        return DEVICES;
    }

    @Override
    public DeviceBackend open(final int ordinal) {
        if (ordinal < 0 || ordinal >= DEVICES) {
            throw new DeviceException("emulated:" + ordinal + ": expected emulated:0 to emulated:" + (DEVICES - 1));
        }
        final long rate = linkBytesPerSecond > 0 ? linkBytesPerSecond : EmulatedConfig.UNLIMITED;
        return new EmulatedDevice(ordinal, EmulatedConfig.DEFAULT.withLink(rate, rate));
    }
}
