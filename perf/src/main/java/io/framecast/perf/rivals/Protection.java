package io.framecast.perf.rivals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/// How a measured stream of Framecast's is protected.
public enum Protection {
    /// Not at all.
    PLAIN,
    /// By `auth=psk:`.
    AUTH;

    // Every process makes a file of its own with the same key, which protects nothing.
    private static final String KEY = "bench " + "b5".repeat(32) + "\n";

    /// The options of a channel, and the key file that they name; it is deleted on close.
    record Options(String text, Path keyFile) implements AutoCloseable {
        private static final Path NONE = Path.of("");

        @Override
        public void close() {
            if (!keyFile.equals(NONE)) {
                try {
                    Files.deleteIfExists(keyFile);
                } catch (final IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    /// As users write it.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// For one end of one stream. The caller closes it.
    Options options() {
        return switch (this) {
            case PLAIN -> new Options("", Options.NONE);
            case AUTH -> {
                final Path keyFile = keyFile();
                yield new Options("|auth=psk:" + keyFile, keyFile);
            }
        };
    }

    // Temporary files are their owner's alone, as key files must be.
    private static Path keyFile() {
        try {
            final Path made = Files.createTempFile("framecast-bench", ".key");
            Files.writeString(made, KEY);
            return made;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
