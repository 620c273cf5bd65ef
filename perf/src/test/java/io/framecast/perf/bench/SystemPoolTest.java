package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.rivals.StreamSpec;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The pool's side of the protocol, with shell scripts for processes.
final class SystemPoolTest {
    private static final StreamSpec SPEC = new StreamSpec(
            new StreamSpec.Load(1_000, 2, 0, 100, 200),
            new StreamSpec.Link("224.0.0.1", 20_000, "127.0.0.1", "127.0.0.1", "", 1500, 0, true, 0),
            0);
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
        try (SystemPool pool = pool(SOURCE, RECEIVER, RECEIVER)) {
            assertEquals(new SystemPool.Reports("round gone", List.of("1 round", "1 round")), run(pool, 2));
            assertEquals(new SystemPool.Reports("round gone", List.of("2 round")), run(pool, 1));
            assertEquals(new SystemPool.Reports("round gone", List.of("3 round", "2 round")), run(pool, 2));
        }
        for (final Process process : processes) {
            assertTrue(process.waitFor(10, TimeUnit.SECONDS), "still alive");
        }
    }

    @Test
    void shouldTellTheReasonOfTheProcessThatFailed() {
        try (SystemPool pool = pool("read -r line; echo '@failure no way'; exit 3", RECEIVER)) {
            assertFailure(pool, "fake source: no way", false);
        }
        try (SystemPool pool = pool(SOURCE, "read -r line; echo '@difference torn'; exit 1")) {
            assertFailure(pool, "fake 0: torn", true);
        }
        try (SystemPool pool = pool(SOURCE, "read -r line; exit 7")) {
            assertFailure(pool, "fake 0: ended with status 7", false);
        }
    }

    @Test
    void shouldFailWhenAProcessDiedBetweenRounds() throws Exception {
        try (SystemPool pool = pool(SOURCE, RECEIVER, RECEIVER)) {
            run(pool, 1);
            processes.get(1).destroyForcibly().waitFor();
            // Whichever answers first, the one that died is among those waited for.
            final MeasurementFailedException failure =
                    assertThrows(MeasurementFailedException.class, () -> run(pool, 2));
            assertEquals("fake 1: ended with status 137", failure.getMessage());
        }
    }

    @Test
    void shouldGiveUpWhenAProcessDoesNotAnswerInTime() {
        try (SystemPool pool = pool(SOURCE, "while read -r line; do :; done")) {
            final MeasurementFailedException failure = assertThrows(
                    MeasurementFailedException.class, () -> pool.run(SPEC, List.of(SPEC), System.nanoTime()));
            assertEquals("fake 0 did not end in time", failure.getMessage());
        }
    }

    private static void assertFailure(final SystemPool pool, final String why, final boolean framesDiffer) {
        final MeasurementFailedException failure = assertThrows(MeasurementFailedException.class, () -> run(pool, 1));
        assertEquals(why, failure.getMessage());
        assertEquals(framesDiffer, failure.framesDiffer());
    }

    private static SystemPool.Reports run(final SystemPool pool, final int receivers) throws Exception {
        final List<StreamSpec> specs = new ArrayList<>();
        for (int i = 0; i < receivers; i++) {
            specs.add(SPEC.of("127.0.0.1", i));
        }
        return pool.run(SPEC, specs, System.nanoTime() + TimeUnit.MINUTES.toNanos(1));
    }

    private SystemPool pool(final String source, final String... receivers) {
        return new SystemPool(
                new SystemPool.Starting() {
                    @Override
                    public ChildProcess source(final Consumer<ChildProcess.Answer> answers) {
                        return start("source", source, answers);
                    }

                    @Override
                    public ChildProcess receiver(final int index, final Consumer<ChildProcess.Answer> answers) {
                        return start(Integer.toString(index), receivers[index], answers);
                    }
                },
                receivers.length);
    }

    private ChildProcess start(final String name, final String script, final Consumer<ChildProcess.Answer> answers) {
        try {
            final Process process = new ProcessBuilder("/bin/sh", "-c", script).start();
            processes.add(process);
            return new ChildProcess("fake " + name, process, _ -> {}, answers);
        } catch (final IOException e) {
            throw new AssertionError(e);
        }
    }
}
