package io.framecast.perf.rivals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/// How a measured stream of Framecast's is protected.
public enum Protection {
    /// Not at all.
    PLAIN(""),
    /// By `auth=psk:` with `payloads=unprotected`: headers and control datagrams alone.
    AUTH("|payloads=unprotected"),
    /// By `auth=psk:` with `cipher=aes-gcm`.
    AES_GCM("|cipher=aes-gcm"),
    /// By `auth=psk:` with `cipher=chacha20-poly1305`.
    CHACHA20_POLY1305("|cipher=chacha20-poly1305");

    // Every process makes a file of its own with the same key, which protects nothing.
    private static final String KEY = "bench " + "b5".repeat(32) + "\n";

    private final String payloads;

    Protection(final String payloads) {
        this.payloads = payloads;
    }

    /// The options of a channel, and the key file that they name; it is deleted on close.
    record Options(String text, Path keyFile) implements AutoCloseable {
        private static final Path NONE = Path.of("");

        @Override
        public void close() throws IOException {
            if (!keyFile.equals(NONE)) {
                Files.deleteIfExists(keyFile);
            }
        }
    }

    /// As users write it.
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// The one with this label.
    ///
    /// @throws IllegalArgumentException where there is none
    public static Protection of(final String label) {
        return valueOf(label.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /// For one end of one stream. The caller closes it.
    Options options() throws IOException {
        return switch (this) {
            case PLAIN -> new Options("", Options.NONE);
            case AUTH, AES_GCM, CHACHA20_POLY1305 -> {
                final Path keyFile = keyFile();
                yield new Options(payloads + "|auth=psk:" + keyFile, keyFile);
            }
        };
    }

    // Temporary files are their owner's alone, as key files must be.
    private static Path keyFile() throws IOException {
        return Files.writeString(Files.createTempFile("framecast-bench", ".key"), KEY);
    }
}
