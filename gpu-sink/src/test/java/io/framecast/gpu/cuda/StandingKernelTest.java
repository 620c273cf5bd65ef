package io.framecast.gpu.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Calls that wait for a kernel that does not end, on the stub libcuda; and the message for a driver that does not
/// load.
@Tag("campaign")
class StandingKernelTest {
    @TempDir
    Path folder;

    private StubLibrary stub(final boolean whole) throws IOException, InterruptedException {
        Assumptions.assumeTrue(StubLibrary.isPossible(), "no gcc, or not Linux on x86-64");
        final StubLibrary stub = new StubLibrary(folder);
        stub.build(whole);
        return stub;
    }

    @Test
    void shouldNotWaitForEverForAKernelThatStandsStill() throws IOException, InterruptedException {
        final List<String> said =
                stub(true).run(StandingKernelChild.class).lines().toList();
        assertEquals(3, said.size(), said::toString);
        assertEquals("known", said.get(0));
        assertEquals(
                "cuda:0: kernel contract_add cannot be loaded while a persistent kernel runs: loading may wait for its"
                        + " end; load it before that one is launched",
                said.get(1));
        assertTrue(
                said.get(2)
                        .startsWith("cuda:0: a kernel still runs 10 s after the device was closed: its memory and"
                                + " streams stay until this process ends"),
                said::toString);
    }

    /// The stub waits for kernels where the driver of an H100 did (docs/gpu.md), and nowhere else.
    @Test
    void shouldSayWhichCallsWaitForAKernelThatRuns() throws IOException, InterruptedException {
        final String said = stub(true).run(CallsBesideKernel.class, "cuda:0", "2000");
        assertTrue(said.startsWith("{\"kernel_ms\": 2000, \"rows\": [{"), said);
        for (final String call :
                new String[] {"cuMemAlloc", "cuMemHostAlloc", "cuMemHostRegister", "cuStreamDestroy"}) {
            assertTrue(blockedMs(said, call) < 1000, said);
        }
        for (final String call :
                new String[] {"cuMemHostUnregister", "cuModuleLoadData", "cuMemFreeHost", "cuMemFree"}) {
            assertTrue(blockedMs(said, call) > 1000, said);
        }
        assertTrue(said.contains("\"cuMemsetD8Async\", \"blocked_ms\": "), said);
        assertTrue(said.contains("\"kernel_still_runs\": true"), said);
    }

    private static double blockedMs(final String said, final String call) {
        final Matcher matcher =
                Pattern.compile("\"" + call + "\", \"blocked_ms\": ([0-9.]+)").matcher(said);
        assertTrue(matcher.find(), said);
        return Double.parseDouble(matcher.group(1));
    }

    @Test
    void shouldSayWhatADriverLacks() throws IOException, InterruptedException {
        final String said = stub(false).run(StubChild.class, "probe");
        assertTrue(said.startsWith("unavailable\tCUDA driver too old, or no JCuda for this CPU: "), said);
        assertTrue(said.endsWith("cuLaunchKernel\nplace\tnowhere\nnone\tnowhere\n"), said);
        assertEquals(3, said.lines().count(), said);
    }
}
