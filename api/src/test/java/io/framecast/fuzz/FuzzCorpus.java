package io.framecast.fuzz;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/// The inputs of one fuzz test: seeds that the product's own writers make, and the files of its folder
/// `src/test/fuzz/<name of the class>`, which hold the seeds again, for Jazzer, and inputs that it found.
public final class FuzzCorpus {
    /// Set to `true`, this system property writes the seeds into the folder.
    private static final boolean WRITES = Boolean.getBoolean("framecast.fuzz.write");

    private static final Duration INPUT_MAX = Duration.ofSeconds(20);

    private FuzzCorpus() {}

    /// A test for each input. It fails on any exception, and after 20 s.
    ///
    /// @param type the fuzz test
    /// @param seeds by name
    public static Stream<DynamicTest> of(
            final Class<?> type, final Map<String, byte[]> seeds, final Consumer<byte[]> target) {
        final Path folder = Path.of("src", "test", "fuzz", type.getSimpleName());
        try {
            if (WRITES) {
                write(folder, seeds);
            }
            final Map<String, byte[]> inputs = new TreeMap<>(Map.of("empty", new byte[0]));
            seeds.forEach((name, bytes) -> inputs.put("made " + name, bytes));
            final List<Path> files = files(folder);
            assertTrue(!files.isEmpty(), () -> "no corpus in " + folder.toAbsolutePath());
            for (final Path file : files) {
                inputs.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
            return inputs.entrySet().stream()
                    .map(input -> dynamicTest(
                            input.getKey(),
                            () -> assertTimeoutPreemptively(INPUT_MAX, () -> target.accept(input.getValue()))));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(final Path folder, final Map<String, byte[]> seeds) throws IOException {
        Files.createDirectories(folder);
        for (final Map.Entry<String, byte[]> seed : seeds.entrySet()) {
            Files.write(folder.resolve("seed-" + seed.getKey()), seed.getValue());
        }
    }

    private static List<Path> files(final Path folder) throws IOException {
        final List<Path> files = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> found = Files.list(folder)) {
                found.filter(Files::isRegularFile).sorted().forEach(files::add);
            }
        }
        return files;
    }
}
