package io.framecast.perf.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.MeasurementFailedException.Reason;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The pool's side of the protocol, with shell scripts for processes.
final class PoolTest {
    private record Spec(int index) {}

    // Answers each line that begins a round by its number; a publisher only once its receivers are gone.
    private static final String RECEIVER =
            "n=0; while read -r word rest; do n=$((n+1)); echo noise; echo \"@report $n $word\"; done";
    private static final String SOURCE = "while read -r word rest; do read -r next; echo \"@report $word $next\"; done";

    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void assumeShell() {
        final boolean shell = new File("/bin/sh").canExecute();
        if (!shell) {
            System.out.println("skipped: no /bin/sh");
        }
        Assumptions.assumeTrue(shell, "no /bin/sh");
    }

    @AfterEach
    void end() {
        processes.forEach(Process::destroyForcibly);
    }

    @Test
    void shouldRunRoundsWithAsManyReceiversAsAskedFor() throws Exception {
        try (Pool pool = pool(SOURCE, RECEIVER, RECEIVER)) {
            assertEquals(new Pool.Reports("round gone", List.of("1 round", "1 round")), run(pool, 2));
            assertEquals(new Pool.Reports("round gone", List.of("2 round")), run(pool, 1));
            assertEquals(new Pool.Reports("round gone", List.of("3 round", "2 round")), run(pool, 2));
        }
        for (final Process process : processes) {
            assertTrue(process.waitFor(10, TimeUnit.SECONDS), "still alive");
        }
    }

    @Test
    void shouldTellTheReasonOfTheProcessThatFailed() {
        try (Pool pool = pool("read -r line; echo '@failure no way'; exit 3", RECEIVER)) {
            assertFailure(pool, "fake source: no way", false);
        }
        try (Pool pool = pool(SOURCE, "read -r line; echo '@difference torn'; exit 1")) {
            assertFailure(pool, "fake 0: torn", true);
        }
        try (Pool pool = pool(SOURCE, "read -r line; exit 7")) {
            assertFailure(pool, "fake 0: ended with status 7", false);
        }
    }

    @Test
    void shouldFailWhenAProcessDiedBetweenRounds() throws Exception {
        try (Pool pool = pool(SOURCE, RECEIVER, RECEIVER)) {
            run(pool, 1);
            processes.get(1).destroyForcibly().waitFor();
            // The process that died is among those waited for, and fails the round.
            final MeasurementFailedException failure =
                    assertThrows(MeasurementFailedException.class, () -> run(pool, 2));
            assertEquals("fake 1: ended with status 137", failure.getMessage());
        }
    }

    @Test
    void shouldGiveUpWhenAProcessDoesNotAnswerInTime() {
        try (Pool pool = pool(SOURCE, "while read -r line; do :; done")) {
            final MeasurementFailedException failure = assertThrows(
                    MeasurementFailedException.class,
                    () -> pool.run(new Spec(0), List.of(new Spec(1)), 0, System.nanoTime()));
            assertEquals("fake 0 did not end in time", failure.getMessage());
        }
    }

    private static void assertFailure(final Pool pool, final String why, final boolean framesDiffer) {
        final MeasurementFailedException failure = assertThrows(MeasurementFailedException.class, () -> run(pool, 1));
        assertEquals(why, failure.getMessage());
        assertEquals(framesDiffer ? Reason.FRAMES_DIFFER : Reason.FAILED, failure.reason());
    }

    private static Pool.Reports run(final Pool pool, final int receivers) throws Exception {
        final List<Spec> specs = new ArrayList<>();
        for (int i = 0; i < receivers; i++) {
            specs.add(new Spec(i));
        }
        return pool.run(new Spec(-1), specs, 0, System.nanoTime() + TimeUnit.MINUTES.toNanos(1));
    }

    private Pool pool(final String source, final String... receivers) {
        return new Pool(receivers.length, (index, answers) -> {
            final boolean isSource = index == Pool.SOURCE;
            try {
                final Process process =
                        new ProcessBuilder("/bin/sh", "-c", isSource ? source : receivers[index]).start();
                processes.add(process);
                return new Child("fake " + (isSource ? "source" : index), process, _ -> {}, answers, _ -> {});
            } catch (final IOException e) {
                throw new AssertionError(e);
            }
        });
    }
}
