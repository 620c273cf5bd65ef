package io.framecast.perf.rules;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// The checkout that the tests run in, found by walking up to `mvnw`; needs no git.
public final class Repository {
    public static final Path ROOT = root();
    static final List<String> MODULES =
            List.of("api", "reliability", "engine", "rdma-transport", "gpu-sink", "samples", "perf");

    private Repository() {}

    /// Every Java source of every module, main and test, by path.
    static List<Path> javaSources() {
        return MODULES.stream()
                .map(module -> ROOT.resolve(module).resolve("src"))
                .flatMap(Repository::walk)
                .filter(path -> path.toString().endsWith(".java"))
                .sorted()
                .toList();
    }

    /// Compiled main classes of a module.
    static Path classes(final String module) {
        return ROOT.resolve(module).resolve("target").resolve("classes");
    }

    static String read(final Path path) {
        try {
            return Files.readString(path);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path root() {
        for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
            if (Files.exists(at.resolve("mvnw"))) {
                return at;
            }
        }
        throw new IllegalStateException("expected mvnw in " + Path.of("").toAbsolutePath() + " or above");
    }

    private static Stream<Path> walk(final Path folder) {
        if (!Files.isDirectory(folder)) {
            return Stream.empty();
        }
        try (Stream<Path> paths = Files.walk(folder)) {
            return paths.filter(Files::isRegularFile).toList().stream();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
