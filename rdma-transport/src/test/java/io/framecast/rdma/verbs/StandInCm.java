package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The stand-in for librdmacm (`standin_cm.c`), compiled once, and what tests turn and read of it.
public final class StandInCm {
    private static @Nullable StandInCm loaded;

    private final Path path;
    private final SymbolLookup symbols;

    private StandInCm(final Path path) {
        this.path = path;
        symbols = SymbolLookup.libraryLookup(path, Arena.global());
    }

    /// Compiles and loads it, or skips the test where there is no compiler.
    public static StandInCm load() {
        CCompiler.assume();
        if (loaded == null) {
            loaded = new StandInCm(compile());
        }
        return loaded;
    }

    private static Path compile() {
        try {
            final Path directory = Files.createTempDirectory("framecast-standin-cm");
            CCompiler.extract(directory, "verbs_abi.h");
            final Path source = CCompiler.extract(directory, "standin_cm.c");
            final Path library = directory.resolve("libstandin_cm.so");
            CCompiler.compile(library, List.of("-Wall", "-Werror", "-shared", "-fPIC", source.toString()));
            for (final String file : List.of("verbs_abi.h", "standin_cm.c", "gcc.log", "libstandin_cm.so", "")) {
                directory.resolve(file).toFile().deleteOnExit();
            }
            return library;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path path() {
        return path;
    }

    CmLibrary library() {
        return CmLibrary.load(path.toString());
    }

    /// Sets one of its switches: refuses, silent, bind_fails.
    public void set(final String name, final int value) {
        try {
            Linker.nativeLinker()
                    .downcallHandle(symbols.findOrThrow("standin_" + name), FunctionDescriptor.ofVoid(JAVA_INT))
                    .invokeExact(value);
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }

    /// Has the next call of a function fail.
    void fail(final String function, final int errno) {
        try (Arena arena = Arena.ofConfined()) {
            Linker.nativeLinker()
                    .downcallHandle(symbols.findOrThrow("standin_fail"), FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT))
                    .invokeExact(arena.allocateFrom(function), errno);
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }

    /// Channels and identifiers not destroyed yet.
    public long live() {
        try {
            return (long) Linker.nativeLinker()
                    .downcallHandle(symbols.findOrThrow("standin_live"), FunctionDescriptor.of(JAVA_LONG))
                    .invokeExact();
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }
}
