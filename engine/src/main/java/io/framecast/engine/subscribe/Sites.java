package io.framecast.engine.subscribe;

import io.framecast.api.provider.PseudoFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/// Numbers of sites, for subscribers that want to share a co-root.
final class Sites {
    // Equal in all containers of a host, and different on any other host.
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private Sites() {}

    /// The number of a site; never 0.
    ///
    /// @param name empty for this host
    static int number(final String name) {
        final CRC32C hash = new CRC32C();
        hash.update((name.isEmpty() ? host() : name).getBytes(StandardCharsets.UTF_8));
        return (int) hash.getValue() | 1;
    }

    private static String host() {
        try {
            return PseudoFiles.read(BOOT_ID).strip();
        } catch (final IOException e) {
            return "localhost";
        }
    }
}
