package io.framecast.perf.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.testing.TestPorts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Frames in a GPU's memory that the CPU reads through a mapping, and longer ones that are copied: over the stubs
/// of libcuda and of gdrcopy's library, in a process of its own.
class CudaSourceTest {
    private static final int UDP_PORT = TestPorts.triple();

    @TempDir
    static Path folder;

    @BeforeAll
    static void build() throws IOException, InterruptedException {
        final StubDriver stub = new StubDriver(folder);
        Optional<String> missing = stub.build();
        if (missing.isEmpty()) {
            missing = stub.buildGdrcopy();
        }
        missing.ifPresent(why -> System.err.println("CudaSourceTest skipped: " + why));
        Assumptions.assumeTrue(missing.isEmpty(), missing.orElse(""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "4096"})
    void shouldReadFramesUpToTheLimit(final String limit) throws Exception {
        readUpTo(limit);
    }

    @Tag("campaign")
    @ParameterizedTest
    @ValueSource(strings = {"512"})
    void shouldReadFramesUpToOtherLimits(final String limit) throws Exception {
        readUpTo(limit);
    }

    private static void readUpTo(final String limit) throws Exception {
        final Map<String, String> said = child("|fastcopy-read-max=" + limit, Map.of());
        assertEquals(limit, said.get("read-max"), said::toString);
        requireAll(said);
    }

    /// The stub's memory is the host's, so that reads of it are fast: up to which length is for the machine to say.
    @Test
    void shouldMeasureTheLimit() throws Exception {
        requireAll(child("", Map.of()));
    }

    @Test
    void shouldSayWhyNothingIsReadAndCopyAll() throws Exception {
        final Map<String, String> said = child("", Map.of("FRAMECAST_STUB_NO_GDRDRV", "1"));
        assertEquals("0", said.get("read-max"), said::toString);
        assertTrue(said.get("report").contains("no read: "), said::toString);
        requireAll(said);
    }

    private static void requireAll(final Map<String, String> said) {
        assertEquals("80", said.get("frames"), said::toString);
        for (final String way : new String[] {"read", "copied"}) {
            assertTrue(said.get(way).matches("(\\d+) of \\1"), said::toString);
        }
    }

    private static Map<String, String> child(final String keys, final Map<String, String> environment)
            throws Exception {
        final String counters =
                folder.resolve("source-" + System.nanoTime() + ".counters").toString();
        return new StubDriver(folder)
                .run(CudaSourceChild.class, environment, Integer.toString(UDP_PORT), keys, counters);
    }
}
