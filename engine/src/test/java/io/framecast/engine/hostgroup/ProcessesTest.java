package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ProcessesTest {
    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    @Test
    void shouldSeeThatAProcessHasItsMemory() throws Exception {
        final Process process = new ProcessBuilder("cat").start();
        assertTrue(Processes.isWhole(process.pid()));
        process.destroyForcibly().waitFor();
        assertFalse(Processes.isWhole(process.pid()));
    }

    @Test
    void shouldTrustNumbersOfThisNamespaceAlone() {
        assertTrue(Processes.namespace() > 0);
        assertTrue(Processes.isNeighbour(Processes.namespace()));
        assertFalse(Processes.isNeighbour(Processes.namespace() + 1));
        assertFalse(Processes.isNeighbour(0));
        assertEquals("process 7", UnixSocket.describe(7));
        assertEquals("a process of another PID namespace", UnixSocket.describe(0));
    }
}
