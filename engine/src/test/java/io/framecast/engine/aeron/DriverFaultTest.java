package io.framecast.engine.aeron;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverFaultTest {
    @TempDir
    private Path directory;

    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final Notices notices = new Notices(warnings::add);

    private static String refusal(final DriverFault fault) {
        return String.valueOf(
                assertThrows(TransportException.class, fault::requireNone).getMessage());
    }

    @Test
    void shouldEndTheTransportAfterAFaultInMemory() {
        final DriverFault fault = new DriverFault(directory);
        assertDoesNotThrow(fault::requireNone);
        fault.handler(notices).onError(new InternalError("a fault occurred in an unsafe memory access operation"));
        final String line = refusal(fault);
        assertTrue(line.startsWith("aeron: ") && line.contains(directory.toString()), line);
        assertEquals(1, line.lines().count(), line);
        assertEquals(List.of(), warnings);
        // The first reason stays.
        assertEquals(line, fault.ofMemory().getMessage());
    }

    @Test
    void shouldEndTheTransportWithAThreadOfAeron() throws InterruptedException {
        final DriverFault fault = new DriverFault(directory);
        final Thread thread = fault.threads("driver").newThread(() -> {
            throw new AssertionError("no more");
        });
        thread.start();
        thread.join();
        assertEquals("aeron: the thread driver ended (no more); open the transport anew", refusal(fault));
    }

    @Test
    void shouldPassOnWhatIsNoFault() {
        final DriverFault fault = new DriverFault(directory);
        fault.handler(notices).onError(new IllegalStateException("unknown channel"));
        assertEquals(List.of("aeron: media driver says: unknown channel"), warnings);
        assertDoesNotThrow(fault::requireNone);
    }

    @Test
    void shouldNameAFullDirectory() {
        // Nothing is free where nothing is.
        final String line = DriverFault.memoryLine(directory.resolve("absent"));
        assertTrue(line.startsWith("aeron: " + directory.resolve("absent") + " is full (0 bytes are free)"), line);
    }
}
