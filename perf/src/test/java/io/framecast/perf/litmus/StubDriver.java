package io.framecast.perf.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.rules.Repository;
import io.framecast.testing.TestJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The stub libcuda of gpu-sink's tests, built into a folder of its own, and processes that run over it.
///
/// @param folder that holds `libcuda.so.1`
public record StubDriver(Path folder) {
    private static final long SECONDS_MAX = 180;
    private static final Path SOURCES = Repository.ROOT.resolve("gpu-sink/src/test/c");

    /// @return why it cannot be built here; empty when it was
    public Optional<String> build() throws IOException, InterruptedException {
        if (!System.getProperty("os.name").equals("Linux")
                || !System.getProperty("os.arch").equals("amd64")) {
            return Optional.of("the stub libcuda is for Linux on x86-64");
        }
        // JCuda refers to every name; what the stub does not define is refused.
        final Path weak = folder.resolve("weak.c");
        try (Stream<String> names = Files.lines(SOURCES.resolve("jcuda-symbols.txt"))) {
            Files.writeString(
                    weak,
                    names.filter(line -> !line.startsWith("#"))
                            .map(name -> "__attribute__((weak)) int " + name + "(void) { return 801; }\n")
                            .collect(Collectors.joining()));
        }
        return compile("libcuda.so.1", SOURCES.resolve("stub_cuda.c").toString(), weak.toString());
    }

    /// Beside it gdrcopy's library, so that the CPU reads and stores through mappings.
    ///
    /// @return why it cannot be built here; empty when it was
    Optional<String> buildGdrcopy() throws IOException, InterruptedException {
        return compile("libgdrapi.so.2", SOURCES.resolve("stub_gdrapi.c").toString());
    }

    private Optional<String> compile(final String name, final String... sources)
            throws IOException, InterruptedException {
        final List<String> command =
                new ArrayList<>(List.of("gcc", "-shared", "-fPIC", "-O1", "-pthread", "-Wl,-soname," + name, "-o"));
        command.add(folder.resolve(name).toString());
        command.addAll(List.of(sources));
        final Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (final IOException _) {
            return Optional.of("no gcc to build the stub libcuda with");
        }
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return Optional.empty();
    }

    /// A Java process of this class path whose driver is the stub.
    ProcessBuilder java(final Class<?> main, final String... arguments) {
        final ProcessBuilder builder = new ProcessBuilder(TestJvm.command(main, arguments));
        builder.environment().put("LD_LIBRARY_PATH", folder.toString());
        return builder;
    }

    /// Runs one to its end.
    ///
    /// @return what it reported: a line for each finding, `key<tab>value`
    Map<String, String> run(final Class<?> main, final Map<String, String> environment, final String... arguments)
            throws IOException, InterruptedException {
        final Path output = Files.createTempFile(folder, "child", ".out");
        final ProcessBuilder builder =
                java(main, arguments).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        final Process process = builder.start();
        final boolean ended = process.waitFor(SECONDS_MAX, TimeUnit.SECONDS);
        process.destroyForcibly();
        final String text = Files.readString(output);
        assertTrue(ended, () -> "hangs: " + text);
        assertEquals(0, process.exitValue(), text);
        final Map<String, String> said = new LinkedHashMap<>();
        text.lines().filter(line -> line.contains("\t")).forEach(line -> {
            final int tab = line.indexOf('\t');
            said.put(line.substring(0, tab), line.substring(tab + 1));
        });
        return said;
    }
}
