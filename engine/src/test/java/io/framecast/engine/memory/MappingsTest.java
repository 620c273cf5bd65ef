package io.framecast.engine.memory;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.udp.CProgram;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MappingsTest {
    private static final Map<String, String> EXPRESSIONS =
            Map.of("PROT_READ_WRITE", "PROT_READ | PROT_WRITE", "MAP_FAILED", "(long) MAP_FAILED");

    @TempDir
    Path directory;

    @Test
    void shouldAgreeWithTheCompiler() throws Exception {
        assumeTrue(Mappings.isPresent(), "this system has no memfd_create");
        final Map<String, String> expressions = new TreeMap<>();
        for (final String name : CProgram.names(Mappings.class)) {
            expressions.put(name, EXPRESSIONS.getOrDefault(name, name));
        }
        CProgram.assertAgrees(CProgram.evaluate(directory, "#include <sys/mman.h>", expressions), Mappings.class);
    }
}
