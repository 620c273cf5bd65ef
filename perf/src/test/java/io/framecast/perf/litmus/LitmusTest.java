package io.framecast.perf.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.gpu.cuda.CudaProvider;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedProvider;
import io.framecast.testing.TestPorts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The visibility contract on an emulated device whose streams run late against each other, over real lanes
/// on loopback.
class LitmusTest {
    private static final long ROUNDS = 1500;
    private static final long FRAME_BYTES = 24 << 10;

    @AfterEach
    void runStreamsAtOnce() {
        EmulatedProvider.configure(EmulatedConfig.DEFAULT);
    }

    private static LitmusPlan plan(final String device, final String settings, final LitmusWay way, final long rounds) {
        EmulatedProvider.configure(EmulatedConfig.DEFAULT.withDisorder(way.disorder(7)));
        return new LitmusPlan(
                "framecast:udp?group=224.20.30.47:" + TestPorts.triple() + "|interface=127.0.0.1|mtu=1500",
                device,
                settings,
                way,
                rounds,
                FRAME_BYTES,
                50_000);
    }

    private static void assertMet(final LitmusRow row) {
        assertEquals(row.rounds(), row.checked(), row::toString);
        if (row.way().planted()) {
            assertTrue(row.wrongWords() > 0, () -> "planted and not seen: " + row);
        } else {
            assertEquals(0, row.wrongWords(), row::toString);
        }
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({
        "staged, READY_EVENT",
        "staged, FRAME_STREAM",
        "staged, AWAIT_READY",
        "staged, MISSING_WAIT",
        "staged, EARLY_RELEASE",
        "fastcopy|fastcopy-max=12k, READY_EVENT",
        "fastcopy|fastcopy-max=12k, FRAME_STREAM",
        "fastcopy|fastcopy-max=1m, AWAIT_READY",
        "fastcopy|fastcopy-max=1m, EARLY_RELEASE"
    })
    void shouldSeeEveryByteAndNoOtherWhenFramesComeIntoTheDevice(final String placement, final LitmusWay way) {
        assertMet(
                new ToDeviceLitmus(plan("emulated:0", "|placement=" + placement, way, way.rounds(ROUNDS, true))).run());
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"READY_EVENT", "MISSING_WAIT", "EARLY_RELEASE"})
    void shouldSendWhatWasWrittenWhenFramesComeOutOfTheDevice(final LitmusWay way) {
        assertMet(new ToHostLitmus(plan("emulated:0", "", way, way.rounds(ROUNDS, true))).run());
    }

    @Test
    void shouldKeepTheContractBothWaysForAFewRounds() {
        assertMet(new ToDeviceLitmus(plan("emulated:0", "|placement=staged", LitmusWay.READY_EVENT, 100)).run());
        assertMet(new ToHostLitmus(plan("emulated:0", "", LitmusWay.READY_EVENT, 100)).run());
    }

    @Test
    void shouldTellAWordOfAnotherRoundOrPlace() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment frame = arena.allocate(800);
            LitmusKernels.write(frame, 5);
            assertEquals(0, LitmusKernels.wrongWords(frame, 5));
            assertEquals(100, LitmusKernels.wrongWords(frame, 6));
            assertEquals(99, LitmusKernels.wrongWords(frame.asSlice(8), 5));
        }
    }

    @Test
    void shouldHoldPtxOfEveryKernel() {
        final String ptx = new String(LitmusKernels.ptx(), StandardCharsets.UTF_8);
        for (final String name : new String[] {"litmus_fill", "litmus_check", "litmus_late"}) {
            assertTrue(ptx.contains(".entry " + name + "("), name);
        }
    }

    @ParameterizedTest
    @Tag("gpu")
    @CsvSource({"READY_EVENT", "FRAME_STREAM", "AWAIT_READY"})
    void shouldKeepTheContractOnARealGpu(final LitmusWay way) {
        final String missing = new CudaProvider().unavailable().orElse("");
        if (!missing.isEmpty()) {
            System.err.println("LitmusTest skipped on cuda: " + missing);
        }
        Assumptions.assumeTrue(missing.isEmpty(), missing);
        assertMet(new ToDeviceLitmus(plan("cuda:0", "", way, 10 * ROUNDS)).run());
        if (way == LitmusWay.READY_EVENT) {
            assertMet(new ToHostLitmus(plan("cuda:0", "", way, 10 * ROUNDS)).run());
        }
    }
}
