package io.framecast.perf.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Commands given to a shell that goes on.
final class SteadyShellTest {
    @Test
    void shouldRunLinesOneAfterTheOther(@TempDir final Path directory) throws IOException {
        final Path file = directory.resolve("said");
        try (SteadyShell shell = new SteadyShell()) {
            shell.run("echo one >" + file);
            assertEquals("one\n", Files.readString(file));
            shell.run("echo two >>" + file + " && echo three");
            assertEquals("one\ntwo\n", Files.readString(file));
        }
    }

    @Test
    void shouldSayWhatACommandSaidThatFailedAndGoOn() throws IOException {
        try (SteadyShell shell = new SteadyShell()) {
            final IOException failed =
                    assertThrows(IOException.class, () -> shell.run("true && { echo no such thing >&2; false; }"));
            assertTrue(String.valueOf(failed.getMessage()).endsWith(": no such thing"), failed.getMessage());
            final IOException silent = assertThrows(IOException.class, () -> shell.run("(exit 7)"));
            assertEquals("(exit 7): status 7", silent.getMessage());
            // It reads nothing of what is to be done next.
            shell.run("cat");
        }
    }

    @Test
    void shouldSayThatItEnded() throws IOException {
        try (SteadyShell shell = new SteadyShell()) {
            assertThrows(IOException.class, () -> shell.run("exit 3"));
        }
    }
}
