package io.framecast.perf.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.Signal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/// Commands given to a tool that goes on, and signals to a process.
final class BatchToolTest {
    @Test
    void shouldAnswerEachCommandAndSayWhatFails() throws IOException {
        assumeTool("ip");
        try (BatchTool ip = new BatchTool("ip", "-o")) {
            final String look = "link show dev lo";
            assertTrue(ip.run("# nothing", look).contains("LOOPBACK"));
            assertTrue(ip.run("# nothing", look).contains("LOOPBACK"));
            assertTrue(ip.run("link set dev there-is-none up", look).contains("there-is-none"));
        }
    }

    @Test
    void shouldSayThatNothingAnswers() throws IOException {
        assumeTool("ip");
        final BatchTool ip = new BatchTool("ip", "-o");
        ip.close();
        final IOException failed = assertThrows(IOException.class, () -> ip.run("link set lo up", "link show dev lo"));
        assertTrue(String.valueOf(failed.getMessage()).contains("ip"), failed.getMessage());
    }

    @Test
    void shouldStopGoOnAndKill() throws IOException, InterruptedException {
        final Process sleeper = new ProcessBuilder("sleep", "600").start();
        try {
            Signal.STOP.send(sleeper.pid());
            awaitState(sleeper, "T");
            Signal.CONT.send(sleeper.pid());
            awaitState(sleeper, "S");
            Signal.KILL.send(sleeper.pid());
            assertTrue(sleeper.waitFor(10, TimeUnit.SECONDS));
            final IOException gone = assertThrows(IOException.class, () -> Signal.STOP.send(sleeper.pid()));
            assertEquals("process " + sleeper.pid() + " is gone: SIGSTOP did not reach it", gone.getMessage());
        } finally {
            sleeper.destroyForcibly();
        }
    }

    private static void assumeTool(final String name) {
        Assumptions.assumeTrue(
                Stream.of(Objects.requireNonNullElse(System.getenv("PATH"), "").split(":", -1))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name))),
                "no " + name + " on the PATH");
    }

    private static void awaitState(final Process process, final String state) throws IOException, InterruptedException {
        final Path stat = Path.of("/proc/" + process.pid() + "/stat");
        Assumptions.assumeTrue(Files.exists(stat), "no /proc here");
        for (int look = 0; look < 1_000; look++) {
            if (Files.readString(stat).contains(") " + state + " ")) {
                return;
            }
            Thread.sleep(10);
        }
        throw new AssertionError("not in state " + state);
    }
}
