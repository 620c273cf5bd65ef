package io.framecast.engine.crypto;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.ConfigException;
import io.framecast.fuzz.FuzzCorpus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A key file: it is refused in one line, or read, and read again from what its keys are as the same keys.
public final class KeyFileFuzzTest {
    private static final long ALLOCATED_MAX = 4 << 20;
    private static final Path FILE = file();

    private static Path file() {
        try {
            final Path made = Files.createTempFile(
                    "framecast-fuzz",
                    ".keys",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            made.toFile().deleteOnExit();
            return made;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @TestFactory
    Stream<DynamicTest> shouldReadOrRefuse() {
        final String key = "ab".repeat(32);
        return FuzzCorpus.of(
                KeyFileFuzzTest.class,
                Map.of(
                        "two",
                                ("# keys\nnew " + key + "\n\nold-1 " + "CD".repeat(40) + '\n')
                                        .getBytes(StandardCharsets.US_ASCII),
                        "one", ("a " + key).getBytes(StandardCharsets.US_ASCII),
                        "short", ("a " + key.substring(2)).getBytes(StandardCharsets.US_ASCII)),
                KeyFileFuzzTest::fuzzerTestOneInput);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        requireAllocation(ALLOCATED_MAX, () -> {
            final String text = read(input);
            if (!text.isEmpty()) {
                requireEqual(text, read(text.getBytes(StandardCharsets.US_ASCII)));
            }
        });
    }

    // The keys as a file; empty where it is refused.
    private static String read(final byte[] content) {
        try {
            Files.write(FILE, content, StandardOpenOption.TRUNCATE_EXISTING);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        final List<KeyFile.NamedKey> keys;
        try {
            keys = KeyFile.read(FILE);
        } catch (final ConfigException e) {
            requireEqual(1L, String.valueOf(e.getMessage()).lines().count());
            return "";
        }
        require(!keys.isEmpty() && keys.size() <= KeyFile.KEYS_MAX, "1 … 64 keys");
        final String text = keys.stream()
                .map(key -> key.id()
                        + ' '
                        + HexFormat.of().formatHex(key.key().segment().toArray(ValueLayout.JAVA_BYTE))
                        + '\n')
                .collect(Collectors.joining());
        keys.forEach(key -> key.key().close());
        return text;
    }
}
