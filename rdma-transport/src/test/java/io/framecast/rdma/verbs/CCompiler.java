package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/// Runs gcc on the test's C sources; tests that need it skip where there is none.
final class CCompiler {
    private CCompiler() {}

    /// Copies a resource of this package into a directory.
    static Path extract(final Path directory, final String resource) {
        try (InputStream source = CCompiler.class.getResourceAsStream(resource)) {
            final Path file = directory.resolve(resource);
            Files.write(file, source.readAllBytes());
            return file;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Compiles, or fails the test with what gcc says.
    static Path compile(final Path output, final List<String> arguments) {
        final List<String> command = new ArrayList<>(List.of("gcc", "-O2", "-o", output.toString()));
        command.addAll(arguments);
        run(output.resolveSibling("gcc.log"), command);
        return output;
    }

    /// Runs a program and gives its output, or fails the test with it.
    static String run(final Path log, final List<String> command) {
        try {
            final Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            final int status = process.waitFor();
            final String output = Files.readString(log);
            assertEquals(0, status, () -> String.join(" ", command) + "\n" + output);
            return output;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    static void assume() {
        Assumptions.assumeTrue(isPresent(), "no gcc on this machine");
    }

    // Asked once: it starts a process.
    static boolean isPresent() {
        return Holder.PRESENT;
    }

    private static final class Holder {
        static final boolean PRESENT = runs();
    }

    private static boolean runs() {
        try {
            return new ProcessBuilder("gcc", "--version")
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (final IOException _) {
            return false;
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
