package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The work of two lanes in C (`floor.c`), on the same stand-in as Java's.
public final class Floor {
    private final MemorySegment lanes;
    private final MethodHandle rounds;

    /// Compiles and opens it; it stays until the process ends.
    public Floor(final int slots, final int headerBytes, final int payloadBytes) {
        final StandIn standIn = StandIn.load();
        final SymbolLookup symbols = SymbolLookup.libraryLookup(compile(standIn.path()), Arena.global());
        final Linker linker = Linker.nativeLinker();
        rounds = linker.downcallHandle(
                symbols.findOrThrow("floor_rounds"), FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_INT, JAVA_INT));
        try {
            lanes = (MemorySegment) linker.downcallHandle(
                            symbols.findOrThrow("floor_open"),
                            FunctionDescriptor.of(ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT))
                    .invokeExact(slots, headerBytes, payloadBytes);
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static Path compile(final Path standIn) {
        try {
            final Path directory = Files.createTempDirectory("framecast-floor");
            CCompiler.extract(directory, "verbs_abi.h");
            final Path source = CCompiler.extract(directory, "floor.c");
            final Path library = directory.resolve("libfloor.so");
            // By its path, so that it is the one that is loaded already.
            CCompiler.compile(
                    library, List.of("-Wall", "-Werror", "-shared", "-fPIC", source.toString(), standIn.toString()));
            for (final String file : List.of("verbs_abi.h", "floor.c", "gcc.log", "libfloor.so", "")) {
                directory.resolve(file).toFile().deleteOnExit();
            }
            return library;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Sends and receives `rounds` batches.
    ///
    /// @return datagrams that came as they should
    public long rounds(final int count, final int batch) {
        try {
            return (long) rounds.invokeExact(lanes, count, batch);
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }
}
