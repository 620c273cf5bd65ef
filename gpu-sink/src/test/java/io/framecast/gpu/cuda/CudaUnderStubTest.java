package io.framecast.gpu.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackendContract;
import io.framecast.testing.TestJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `cuda` over a stub libcuda, in child JVMs: proves how the driver is called, not that any GPU works.
class CudaUnderStubTest {
    private static final Path SOURCES =
            Path.of(System.getProperty("basedir", ".")).resolve("src/test/c");

    private static final Map<Map.Entry<String, Map<String, String>>, Map<String, String>> SAID = new HashMap<>();

    @TempDir
    static Path directory;

    @BeforeAll
    static void buildStub() throws IOException, InterruptedException {
        final String missing = compile();
        if (!missing.isEmpty()) {
            System.err.println("CudaUnderStubTest skipped: " + missing);
        }
        Assumptions.assumeTrue(missing.isEmpty(), missing);
    }

    // JCuda refers to every name; those that the stub does not define get a weak function that refuses.
    private static String compile() throws IOException, InterruptedException {
        if (!System.getProperty("os.name").equals("Linux")
                || !System.getProperty("os.arch").equals("amd64")) {
            return "the stub libcuda is for Linux on x86-64";
        }
        final Path weak = directory.resolve("weak.c");
        final String functions = symbols()
                .map(name -> "__attribute__((weak)) int " + name + "(void) { framecast_stub_count(\"" + name
                        + "\"); return 801; }\n")
                .collect(Collectors.joining());
        Files.writeString(weak, "void framecast_stub_count(const char *);\n" + functions);
        final String failure =
                library("libcuda.so.1", SOURCES.resolve("stub_cuda.c").toString(), weak.toString());
        return failure.isEmpty()
                ? library("libgdrapi.so.2", SOURCES.resolve("stub_gdrapi.c").toString())
                : failure;
    }

    private static String library(final String name, final String... sources) throws IOException, InterruptedException {
        final List<String> command =
                new ArrayList<>(List.of("gcc", "-shared", "-fPIC", "-O1", "-pthread", "-Wl,-soname," + name, "-o"));
        command.add(directory.resolve(name).toString());
        command.addAll(List.of(sources));
        final Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (final IOException _) {
            return "no gcc to build the stub libcuda with";
        }
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return "";
    }

    private static Stream<String> symbols() throws IOException {
        return Files.readAllLines(SOURCES.resolve("jcuda-symbols.txt")).stream().filter(line -> !line.startsWith("#"));
    }

    @TestFactory
    Stream<DynamicTest> shouldKeepTheContract() throws IOException, InterruptedException {
        final Map<String, String> verdicts = child("contract", Map.of());
        final List<String> expected = Arrays.stream(DeviceBackendContract.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Test.class))
                .map(java.lang.reflect.Method::getName)
                .sorted()
                .toList();
        assertFalse(expected.isEmpty());
        return expected.stream()
                .map(name -> DynamicTest.dynamicTest(name, () -> assertEquals("passed", verdicts.get(name))));
    }

    /// None, then one of another library's: after each call of the contract, on whichever thread.
    @ParameterizedTest
    @ValueSource(strings = {"contract", "other"})
    void shouldLeaveTheCallersContextAsItWas(final String mode) throws IOException, InterruptedException {
        final Map<String, String> said = child(mode, Map.of());
        assertEquals(mode.equals("other") ? "left" : null, said.get("probe"));
        final Map<String, String> changed = new LinkedHashMap<>(said);
        changed.entrySet().removeIf(line -> !line.getKey().endsWith("-contexts"));
        assertFalse(changed.isEmpty());
        changed.entrySet().removeIf(line -> line.getValue().equals("[]"));
        assertEquals(Map.of(), changed);
        assertEquals(
                Map.of(),
                said.entrySet().stream()
                        .filter(line -> line.getKey().startsWith("should")
                                && !line.getKey().endsWith("-contexts")
                                && !line.getValue().equals("passed"))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
    }

    @Test
    void shouldSetTheContextAndLeaveItSoOnThreadsOfTheEngine() throws IOException, InterruptedException {
        final Map<String, String> said = child("engine", Map.of());
        assertEquals("[]", said.get("failures"));
        // Five calls a turn, and one to wait.
        assertEquals("50001", said.get("set"));
        assertEquals("0", said.get("pushed"));
        assertEquals("0 of 0", said.get("left"), "nothing that is gone stays current");
        assertEquals("", said.get("leaks"));
    }

    @Test
    void shouldCopyAsynchronouslyWithoutAllocatingAndFreeEverything() throws IOException, InterruptedException {
        final Map<String, String> said = child("calls", Map.of());
        assertEquals("cuda:0", said.get("name"));
        assertEquals(
                "stub libcuda, no GPU, 1024 MiB, compute capability 7.5, driver for CUDA 12.6",
                said.get("description"));
        assertEquals("20000", said.get("cuMemcpyHtoDAsync_v2"));
        assertEquals("20000", said.get("cuMemcpyDtoHAsync_v2"));
        assertEquals("20000", said.get("cuMemcpyDtoDAsync_v2"));
        assertEquals("20000", said.get("cuEventRecord"));
        assertEquals("0", said.get("cuMemcpyHtoD_v2"));
        assertEquals("0", said.get("cuMemcpyDtoH_v2"));
        assertEquals("0", said.get("cuCtxSynchronize"));
        assertEquals("1", said.get("cuStreamSynchronize"), "only close waits for a stream");
        assertEquals("", said.get("leaks"));
        // 50 000 calls: one object each would be near a megabyte.
        assertTrue(Long.parseLong(said.get("allocated")) < 20_000, "allocated " + said.get("allocated"));
    }

    @Test
    void shouldNameCallCodeAndFix() throws IOException, InterruptedException {
        final Map<String, String> said = child("errors", Map.of());
        assertEquals(
                "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), lower window or frame-max, or end other users of the GPU",
                said.get("memory"));
        assertEquals("cuda:1: there is no such GPU; expected cuda:0 to cuda:0", said.get("ordinal"));
        assertTrue(said.get("ptx").startsWith("cuModuleLoadData of contract_add: CUDA_ERROR_INVALID_PTX (218), "));
        assertTrue(said.get("entry").startsWith("cuModuleGetFunction of absent: CUDA_ERROR_NOT_FOUND (500), "));
        assertTrue(said.get("address").startsWith("cuMemsetD8Async: CUDA_ERROR_INVALID_VALUE (1), "));
        assertTrue(said.get("register")
                .startsWith("cuMemHostRegister: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED (712), "));
        assertTrue(said.get("unregister")
                .startsWith("cuMemHostUnregister: CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED (713), "));
        assertEquals("registered", said.get("read-only"));
    }

    @Test
    void shouldExportFlushAndMapThroughCallsThatJcudaLacks() throws IOException, InterruptedException {
        final Map<String, String> said = child("access", Map.of());
        assertEquals("nothing", said.get("export-refusal"));
        assertEquals("true", said.get("descriptor"));
        assertEquals("false", said.get("descriptor-after"));
        assertEquals("1", said.get("cuFlushGPUDirectRDMAWrites"));
        assertEquals("nothing", said.get("mapping-refusal"));
        assertEquals("2", said.get("mapped"));
        assertEquals("0", said.get("unmapped"));
        assertEquals("", said.get("leaks"));
        final Map<String, String> noModule = child("access", Map.of("FRAMECAST_STUB_NO_GDRDRV", "1"));
        assertEquals("gdrcopy's kernel module is not loaded (gdrdrv)", noModule.get("mapping-refusal"));
        assertEquals("cuda:0: gdrcopy's kernel module is not loaded (gdrdrv)", noModule.get("map"));
        final Map<String, String> shortWindow = child("access", Map.of("FRAMECAST_STUB_BAR_BYTES", "65536"));
        assertTrue(
                shortWindow.get("map").startsWith("cuda:0: gdr_pin_buffer: errno 12, lower ring= or use another"),
                shortWindow.get("map"));
        assertEquals("0", shortWindow.get("unmapped"));
    }

    @Test
    void shouldSayInOneLineWhatBecameOfTheDeviceAndLeakNothing() throws IOException, InterruptedException {
        final Map<String, String> said = child("lost", Map.of());
        assertEquals(
                "cuModuleLoadData of contract_add: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222), the driver is older than"
                        + " the PTX: update it or lower the PTX's .version",
                said.get("old-driver"));
        assertEquals("1", said.get("old-driver-gather"), "without the kernel each piece is copied");
        assertTrue(said.get("stream").startsWith("cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY (2), "), said.get("stream"));
        for (final String code : List.of("709", "719", "214", "226", "999")) {
            for (final String call : List.of("copy", "query", "allocate", "free")) {
                final String line = said.get(code + "-" + call);
                assertTrue(line.contains("(" + code + "), "), code + " " + call + ": " + line);
                assertFalse(line.contains("manual"), line);
            }
            assertEquals("closed", said.get(code + "-close"));
            assertEquals("0", said.get(code + "-allocated"), "counted as gone");
            assertEquals("", said.get(code + "-left"));
            // No call may name an object of a destroyed context.
            assertEquals(code.equals("709") ? "0" : "1", said.get(code + "-destroyed"));
        }
    }

    @Test
    void shouldSayWhyCudaCannotBeUsed() throws IOException, InterruptedException {
        assertEquals("nothing", child("probe", Map.of()).get("unavailable"));
        final Map<String, String> noDevice = Map.of("FRAMECAST_STUB_INIT", "100");
        assertEquals("no CUDA device", child("probe", noDevice).get("unavailable"));
        final Map<String, String> broken = Map.of("FRAMECAST_STUB_INIT", "999");
        assertEquals(
                "CUDA driver does not start: CUDA_ERROR_UNKNOWN (999), the GPU is lost to this process: look at"
                        + " nvidia-smi and dmesg for an Xid, then start again",
                child("probe", broken).get("unavailable"));
        final Map<String, String> stubOnly = Map.of("FRAMECAST_STUB_INIT", "34");
        assertEquals(
                "no CUDA driver, only the toolkit's stub",
                child("probe", stubOnly).get("unavailable"));
    }

    /// The driver writes capitals, sysfs does not.
    @Test
    void shouldSayWhereAGpuIs() throws IOException, InterruptedException {
        final Map<String, String> said = child("probe", Map.of());
        assertEquals("0000:3b:00.0", said.get("place"));
        assertEquals("nowhere", said.get("none"));
        assertEquals(
                "nowhere", child("probe", Map.of("FRAMECAST_STUB_INIT", "100")).get("place"));
    }

    @Test
    void shouldLeaveNoLibraryBehind() throws IOException, InterruptedException {
        final Path temporary = Files.createDirectory(directory.resolve("tmp"));
        child("probe", Map.of("JDK_JAVA_OPTIONS", "-Djava.io.tmpdir=" + temporary));
        try (Stream<Path> left = Files.list(temporary)) {
            assertEquals(
                    List.of(),
                    left.filter(p -> !p.toString().contains("hsperf")).toList());
        }
    }

    /// The output of a child in that mode, which runs once for each environment.
    private static Map<String, String> child(final String mode, final Map<String, String> environment)
            throws IOException, InterruptedException {
        final Map.Entry<String, Map<String, String>> key = Map.entry(mode, environment);
        if (!SAID.containsKey(key)) {
            SAID.put(key, run(mode, environment));
        }
        return SAID.get(key);
    }

    private static Map<String, String> run(final String mode, final Map<String, String> environment)
            throws IOException, InterruptedException {
        final Path output = Files.createTempFile(directory, mode, ".out");
        final ProcessBuilder builder = new ProcessBuilder(TestJvm.command(StubChild.class, mode));
        builder.environment().put("LD_LIBRARY_PATH", directory.toString());
        builder.environment().putAll(environment);
        final Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        final int exit = process.waitFor();
        final String text = Files.readString(output);
        assertEquals(0, exit, text);
        final Map<String, String> said = new LinkedHashMap<>();
        text.lines().filter(line -> line.contains("\t")).forEach(line -> {
            final int tab = line.indexOf('\t');
            said.put(line.substring(0, tab), line.substring(tab + 1));
        });
        return said;
    }
}
