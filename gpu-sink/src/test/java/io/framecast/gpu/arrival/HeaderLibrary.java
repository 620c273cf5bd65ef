package io.framecast.gpu.arrival;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/// `framecast.cuh` compiled by g++, so that its functions run here, without a GPU.
public final class HeaderLibrary implements AutoCloseable {
    private static final Path BASE = Path.of(System.getProperty("basedir", "."));

    private final Arena arena = Arena.ofShared();
    private final SymbolLookup symbols;

    private HeaderLibrary(final Path library) {
        symbols = SymbolLookup.libraryLookup(library, arena);
    }

    /// Skips the test, and says why, where there is no compiler.
    public static HeaderLibrary build(final Path directory) throws IOException, InterruptedException {
        final Path library = directory.resolve("header_kernel.so");
        final List<String> command = List.of(
                "g++",
                "-shared",
                "-fPIC",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Wno-unused-function",
                "-Werror",
                "-I",
                BASE.resolve("src/main/resources/io/framecast/gpu/arrival").toString(),
                "-o",
                library.toString(),
                BASE.resolve("src/test/c/header_kernel.cpp").toString());
        final Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (final IOException _) {
            System.err.println("tests of framecast.cuh skipped: no g++");
            Assumptions.abort("no g++ to compile framecast.cuh with");
            throw new AssertionError("aborted");
        }
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Assertions.assertEquals(0, process.waitFor(), output);
        return new HeaderLibrary(library);
    }

    public MethodHandle function(final String name, final MemoryLayout result, final MemoryLayout... parameters) {
        return Linker.nativeLinker()
                .downcallHandle(symbols.findOrThrow(name), FunctionDescriptor.of(result, parameters));
    }

    public MethodHandle procedure(final String name, final MemoryLayout... parameters) {
        return Linker.nativeLinker().downcallHandle(symbols.findOrThrow(name), FunctionDescriptor.ofVoid(parameters));
    }

    @Override
    public void close() {
        arena.close();
    }
}
