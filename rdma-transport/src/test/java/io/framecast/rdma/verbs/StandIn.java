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

/// The stand-in for libibverbs (`standin.c`), compiled once, and what tests turn and read of it.
final class StandIn {
    private static @Nullable StandIn loaded;

    private final Path path;
    private final SymbolLookup symbols;

    private StandIn(final Path path) {
        this.path = path;
        symbols = SymbolLookup.libraryLookup(path, Arena.global());
    }

    /// Compiles and loads it, or skips the test where there is no compiler.
    static StandIn load() {
        CCompiler.assume();
        if (loaded == null) {
            loaded = new StandIn(compile());
        }
        return loaded;
    }

    private static Path compile() {
        try {
            final Path directory = Files.createTempDirectory("framecast-standin");
            CCompiler.extract(directory, "verbs_abi.h");
            final Path source = CCompiler.extract(directory, "standin.c");
            final Path library = directory.resolve("libstandin.so");
            CCompiler.compile(library, List.of("-Wall", "-Werror", "-shared", "-fPIC", source.toString()));
            for (final String file : List.of("verbs_abi.h", "standin.c", "gcc.log", "libstandin.so", "")) {
                directory.resolve(file).toFile().deleteOnExit();
            }
            return library;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path path() {
        return path;
    }

    VerbsLibrary library() {
        return VerbsLibrary.load(path.toString());
    }

    /// Sets one of its switches.
    void set(final String name, final int value) {
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

    /// Has an event of port 1 come to the context of a queue pair.
    void portEvent(final QueuePair queuePair, final int type) {
        portEvent(queuePair.number(), type);
    }

    void portEvent(final int queuePair, final int type) {
        try {
            Linker.nativeLinker()
                    .downcallHandle(
                            symbols.findOrThrow("standin_device_event"), FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT))
                    .invokeExact(queuePair, type);
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }

    /// Reads one of its counts: live, overruns, swallowed, delivered, dropped.
    long count(final String name) {
        try {
            return (long) Linker.nativeLinker()
                    .downcallHandle(symbols.findOrThrow("standin_" + name), FunctionDescriptor.of(JAVA_LONG))
                    .invokeExact();
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }
}
