package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

final class ProcessesTest {
    @Test
    void shouldSeeThatAProcessLives() throws Exception {
        final Process process = new ProcessBuilder("cat").start();
        assertTrue(Processes.isAlive((int) process.pid()));
        process.destroyForcibly().waitFor();
        assertFalse(Processes.isAlive((int) process.pid()));
    }

    // The kernel cuts a name after 15 bytes, also inside a character.
    @Test
    void shouldSeeThatAProcessLivesWhoseNameIsNoText() throws IOException {
        final Process process =
                new ProcessBuilder("sh", "-c", "printf 'a)\\303' >/proc/$$/comm; echo named; read line").start();
        try {
            assertTrue(process.inputReader().readLine().equals("named"));
            assertTrue(Processes.isAlive((int) process.pid()));
        } finally {
            process.destroyForcibly();
        }
    }
}
