package io.framecast.rules;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// The checkout that the tests run in, found by walking up to `mvnw`; needs no git.
public final class Repository {
    public static final Path ROOT = root();

    /// The module whose tests run: Maven runs them in its folder.
    static final Path MODULE = Path.of("").toAbsolutePath();

    private Repository() {}

    /// Every Java source of the module, main and test, by path.
    static List<Path> javaSources() {
        try (Stream<Path> paths = Files.walk(MODULE.resolve("src"))) {
            return paths.filter(path -> path.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Compiled main classes of the module.
    static Path classes() {
        return MODULE.resolve("target").resolve("classes");
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
}
