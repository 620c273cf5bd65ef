package io.framecast.gpu.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.framecast.gpu.cuda.StubLibrary;
import io.framecast.testing.TestJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// Arrival rings on `cuda` over the stub libcuda, whose persistent kernel is `framecast.cuh` compiled for the
/// host, a thread for each block: proves how the driver is called while a kernel runs, not that any GPU
/// works.
class ArrivalUnderStubTest {
    private static final Path BASE = Path.of(System.getProperty("basedir", "."));
    private static final Path SOURCES = BASE.resolve("src/test/c");
    private static final long CHILD_SECONDS_MAX = 120;

    @TempDir
    static Path directory;

    @TestFactory
    Stream<DynamicTest> shouldKeepTheContract() throws IOException, InterruptedException {
        final String missing = build();
        if (!missing.isEmpty()) {
            System.err.println("ArrivalUnderStubTest skipped: " + missing);
        }
        Assumptions.assumeTrue(missing.isEmpty(), missing);
        final Map<String, String> verdicts = child();
        final List<String> expected = Stream.of(ArrivalContract.class, StubArrivalChild.Contract.class)
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Test.class))
                .map(java.lang.reflect.Method::getName)
                .sorted()
                .toList();
        assertFalse(expected.isEmpty());
        return expected.stream()
                .map(name -> DynamicTest.dynamicTest(name, () -> assertEquals("passed", verdicts.get(name))));
    }

    private static String build() throws IOException, InterruptedException {
        if (!System.getProperty("os.name").equals("Linux")
                || !System.getProperty("os.arch").equals("amd64")) {
            return "the stub libcuda is for Linux on x86-64";
        }
        final Path weak = directory.resolve("weak.c");
        StubLibrary.writeWeak(weak);
        final String header =
                BASE.resolve("src/main/resources/io/framecast/gpu/arrival").toString();
        try {
            run("gcc", "-c", "-fPIC", "-O1", "-o", at("stub.o"), at(SOURCES, "stub_cuda.c"));
            run("gcc", "-c", "-fPIC", "-O1", "-o", at("weak.o"), weak.toString());
            run("g++", "-c", "-fPIC", "-O2", "-I", header, "-o", at("kernels.o"), at(SOURCES, "stub_kernels.cpp"));
        } catch (final IOException _) {
            return "no gcc and g++ to build the stub libcuda with";
        }
        run(
                "g++",
                "-shared",
                "-pthread",
                "-Wl,-soname,libcuda.so.1",
                "-o",
                at("libcuda.so.1"),
                at("stub.o"),
                at("weak.o"),
                at("kernels.o"));
        return "";
    }

    private static String at(final String name) {
        return at(directory, name);
    }

    private static String at(final Path folder, final String name) {
        return folder.resolve(name).toString();
    }

    private static void run(final String... command) throws IOException, InterruptedException {
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }

    private static Map<String, String> child() throws IOException, InterruptedException {
        final Path output = directory.resolve("out");
        final ProcessBuilder builder = new ProcessBuilder(TestJvm.command(StubArrivalChild.class));
        builder.environment().put("LD_LIBRARY_PATH", directory.toString());
        final Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        final boolean ended = process.waitFor(CHILD_SECONDS_MAX, TimeUnit.SECONDS);
        process.destroyForcibly();
        final String text = Files.readString(output);
        assertEquals(0, ended ? process.exitValue() : -1, text);
        final Map<String, String> verdicts = new HashMap<>();
        text.lines().filter(line -> line.contains("\t")).forEach(line -> {
            final int tab = line.indexOf('\t');
            verdicts.put(line.substring(0, tab), line.substring(tab + 1));
        });
        return verdicts;
    }
}
