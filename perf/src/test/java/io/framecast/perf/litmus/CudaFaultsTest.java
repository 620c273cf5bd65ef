package io.framecast.perf.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.testing.TestPorts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Faults of a GPU as its driver reports them, met by a whole node: a stub libcuda in a process of its own.
/// The driver reports the resources that are left.
@Tag("campaign")
class CudaFaultsTest {
    private static final int UDP_PORT = TestPorts.triple();

    @TempDir
    static Path folder;

    @BeforeAll
    static void build() throws IOException, InterruptedException {
        final Optional<String> missing = new StubDriver(folder).build();
        missing.ifPresent(why -> System.err.println("CudaFaultsTest skipped: " + why));
        Assumptions.assumeTrue(missing.isEmpty(), missing.orElse(""));
    }

    // The context was destroyed; a kernel left its memory; an uncorrectable error of its memory; the GPU fell
    // off the bus.
    @ParameterizedTest
    @ValueSource(ints = {709, 719, 214, 999})
    void shouldFailInOneLineAndServeOthersWhenTheDeviceIsLost(final int code) throws Exception {
        final Map<String, String> said = child("lost", Integer.toString(code));
        assertTrue(said.get("failure").contains("(" + code + "), "), said::toString);
        assertFalse(said.get("failure").contains("manual"), said::toString);
        assertEquals("READY", said.get("other"));
        assertEquals("", said.get("left-of-backend"));
        // The driver frees what a context had when it is retained no more.
        assertEquals("0", said.get("contexts"));
        assertEquals("READY", said.get("again"), "a device that works again is opened again");
        assertEquals("", said.get("left"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuMemAlloc_v2", "cuMemHostAlloc", "cuStreamCreate", "cuEventCreate"})
    void shouldDeclineInOneLineAndLeaveNothingWhenTheDeviceHasNoMore(final String function) throws Exception {
        final Map<String, String> said = child("scarce", function);
        assertTrue(
                said.get("failure")
                        .contains("CUDA_ERROR_OUT_OF_MEMORY (2), lower window or frame-max, or end other users of"),
                said::toString);
        assertEquals("READY", said.get("other"));
        assertEquals("", said.get("left"));
    }

    @Test
    void shouldRefuseAKernelThatIsNewerThanTheDriverAndGoOn() throws Exception {
        final Map<String, String> said = child("old", "");
        assertTrue(said.get("failure").contains("CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222), "), said::toString);
        assertTrue(said.get("failure").contains("the driver is older than the PTX: update it"), said::toString);
        assertEquals("READY", said.get("other"));
        assertEquals("", said.get("left"));
    }

    @Test
    void shouldLeaveTheContextOfAUsersThreadAsItWas() throws Exception {
        final Map<String, String> said = child("other", "");
        assertEquals("", said.get("changed"));
        assertEquals("READY", said.get("other"));
        assertEquals("", said.get("left"));
    }

    private static Map<String, String> child(final String fault, final String argument) throws Exception {
        return new StubDriver(folder).run(CudaFaultsChild.class, Map.of(), fault, argument, Integer.toString(UDP_PORT));
    }
}
