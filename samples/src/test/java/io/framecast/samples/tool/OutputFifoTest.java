package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.ExitStatus;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `subscribe --out` into a FIFO.
final class OutputFifoTest {
    private final ToolFixture tool = new ToolFixture();

    @TempDir
    private Path directory;

    private Path fifo = Path.of("");

    @BeforeEach
    void makeFifo() throws Exception {
        fifo = directory.resolve("fifo");
        Assumptions.assumeTrue(Files.exists(Path.of("/usr/bin/mkfifo")), "mkfifo is missing");
        assertEquals(
                0,
                new ProcessBuilder("mkfifo", fifo.toString())
                        .inheritIO()
                        .start()
                        .waitFor());
    }

    @AfterEach
    void endAll() throws InterruptedException {
        tool.endAll();
    }

    private ToolFixture.Background subscribe(final String seconds) {
        return tool.start(
                "subscribe", ToolFixture.URI, "--out", fifo.toString(), "--wait-timeout", seconds, "--json", "-");
    }

    private static void awaitEnd(final ToolFixture.Background background) {
        ToolFixture.awaitWhile(background::isAlive);
    }

    @Test
    void shouldGiveUpWhenNoProcessReadsInTime() throws InterruptedException {
        final ToolFixture.Background subscriber = subscribe("0.5");
        awaitEnd(subscriber);
        final ToolFixture.Run run = subscriber.join();
        run.assertFailed(ExitStatus.USAGE, "--out: no process reads " + fifo + " within 0.5 s (--wait-timeout)");
        assertEquals(
                "--out: no process reads " + fifo + ": waiting for one",
                run.err().lines().findFirst().orElse(""));
        assertEquals(2, run.err().lines().count(), run.err());
    }

    @Test
    void shouldEndWhenItIsInterruptedMeanwhile() throws InterruptedException {
        final ToolFixture.Background subscriber = subscribe("0");
        tool.stop.request();
        awaitEnd(subscriber);
        subscriber.join().assertFailed(ExitStatus.INTERRUPTED, "interrupted while waiting for a process that reads");
    }

    @Test
    void shouldGoOnWhenAProcessReads() throws Exception {
        final ToolFixture.Background subscriber = subscribe("0");
        try (InputStream reader = Files.newInputStream(fifo)) {
            ToolFixture.awaitWhile(() -> subscribers() == 0);
            tool.stop.request();
            awaitEnd(subscriber);
            assertEquals(-1, reader.read());
        }
        assertEquals(ExitStatus.INTERRUPTED, subscriber.join().status());
        assertTrue(
                subscriber.join().err().contains("interrupted after 0 frames"),
                subscriber.join().err());
    }

    private int subscribers() {
        synchronized (tool.network) {
            return tool.network.subscribers.size();
        }
    }
}
