package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The libibverbs without devices of the module `rdma-transport`, compiled once for this process, as the one
/// that the product finds.
final class StandInVerbs {
    private static final String LIBRARY = "framecast.verbs.library";
    private static final Path SOURCES =
            Path.of("..", "rdma-transport", "src", "test", "resources", "io", "framecast", "rdma", "verbs");
    private static @Nullable StandInVerbs compiled;

    private final Path path;
    private final SymbolLookup symbols;

    private StandInVerbs(final Path path) {
        this.path = path;
        symbols = SymbolLookup.libraryLookup(path, Arena.global());
    }

    /// Skips the test where it cannot be compiled.
    static StandInVerbs install() {
        assumeTrue(Files.exists(SOURCES.resolve("standin.c")), "the stand-in's source is not beside this module");
        StandInVerbs made = compiled;
        if (made == null) {
            made = new StandInVerbs(compile());
            compiled = made;
        }
        System.setProperty(LIBRARY, made.path.toString());
        return made;
    }

    static void uninstall() {
        System.clearProperty(LIBRARY);
    }

    private static Path compile() {
        try {
            final Path directory = Files.createTempDirectory("framecast-standin");
            final Path library = directory.resolve("libstandin.so");
            directory.toFile().deleteOnExit();
            library.toFile().deleteOnExit();
            final Process compiler = new ProcessBuilder(List.of(
                            "gcc",
                            "-O2",
                            "-shared",
                            "-fPIC",
                            "-o",
                            library.toString(),
                            SOURCES.resolve("standin.c").toString()))
                    .inheritIO()
                    .start();
            assertEquals(0, compiler.waitFor());
            return library;
        } catch (final IOException e) {
            assumeTrue(false, "no gcc on this machine: " + e.getMessage());
            throw new UncheckedIOException(e);
        } catch (final InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /// Turns a switch of the library.
    void set(final String name, final int value) {
        try {
            Linker.nativeLinker()
                    .downcallHandle(
                            symbols.findOrThrow("standin_" + name), FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT))
                    .invokeExact(value);
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }

    /// Reads a count of the library.
    long count(final String name) {
        try {
            return (long) Linker.nativeLinker()
                    .downcallHandle(
                            symbols.findOrThrow("standin_" + name), FunctionDescriptor.of(ValueLayout.JAVA_LONG))
                    .invokeExact();
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }
}
