package io.framecast.gpu.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.testing.TestJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The stub libcuda in a folder of its own, and processes that run over it.
///
/// @param folder that holds `libcuda.so.1`
public record StubLibrary(Path folder) {
    private static final String GCC = "gcc";
    private static final Path SOURCES =
            Path.of(System.getProperty("basedir", ".")).resolve("src/test/c");

    /// Whether one can be built here.
    public static boolean isPossible() {
        return System.getProperty("os.name").equals("Linux")
                && System.getProperty("os.arch").equals("amd64")
                && Stream.of(Objects.requireNonNullElse(System.getenv("PATH"), "")
                                .split(":", -1))
                        .anyMatch(one -> Files.isExecutable(Path.of(one, GCC)));
    }

    /// @param whole whether it has every name that JCuda refers to; else not even that of the launch
    public void build(final boolean whole) throws IOException, InterruptedException {
        final List<String> command =
                new ArrayList<>(List.of(GCC, "-shared", "-fPIC", "-O1", "-pthread", "-Wl,-soname,libcuda.so.1", "-o"));
        command.add(folder.resolve("libcuda.so.1").toString());
        command.add(SOURCES.resolve("stub_cuda.c").toString());
        if (whole) {
            final Path weak = folder.resolve("weak.c");
            writeWeak(weak);
            command.add(weak.toString());
        } else {
            command.add("-DcuLaunchKernel=framecast_stub_launch");
        }
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }

    /// Every name that JCuda refers to, in C: what the stub itself does not define is refused.
    public static void writeWeak(final Path file) throws IOException {
        try (Stream<String> names = Files.lines(SOURCES.resolve("jcuda-symbols.txt"))) {
            Files.writeString(
                    file,
                    names.filter(line -> !line.startsWith("#"))
                            .map(name -> "__attribute__((weak)) int " + name + "(void) { return 801; }\n")
                            .collect(Collectors.joining()));
        }
    }

    /// Runs a program to its end.
    ///
    /// @return what it wrote to stdout
    String run(final Class<?> main, final String... words) throws IOException, InterruptedException {
        final Path said = folder.resolve("said");
        final Path errors = folder.resolve("errors");
        final ProcessBuilder builder = new ProcessBuilder(TestJvm.command(main, words));
        builder.environment().put("LD_LIBRARY_PATH", folder.toString());
        final Process process = builder.redirectOutput(said.toFile())
                .redirectError(errors.toFile())
                .start();
        assertEquals(0, process.waitFor(), () -> read(errors));
        return Files.readString(said);
    }

    private static String read(final Path file) {
        try {
            return Files.readString(file);
        } catch (final IOException e) {
            return e.toString();
        }
    }
}
