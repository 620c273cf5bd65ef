package io.framecast.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The checker of forbidden calls sees each kind of them.
final class ForbiddenApisTest {
    private static final Path CLASSES = Repository.MODULE.resolve("target/test-classes");

    @Test
    void shouldComplainOfEachKindOfCall() throws Exception {
        final List<String> complaints = ForbiddenApis.complaints(CLASSES, false, "everywhere", "libraries", "protocol");
        final String all = String.join("\n", complaints);
        for (final String banned :
                List.of("Arena#ofAuto()", "System#nanoTime()", "java.lang.Thread ", "Math#random()")) {
            assertTrue(
                    all.contains(banned), () -> banned + " is called by Offender below; the complaints are:\n" + all);
        }
        assertEquals(List.of(), ForbiddenApis.complaints(CLASSES, true, "none"));
    }

    /// Makes calls that are forbidden, to show that the checker sees them; never run.
    static final class Offender {
        Object offend() {
            final Thread thread = new Thread(() -> {});
            return List.of(java.lang.foreign.Arena.ofAuto(), System.nanoTime(), Math.random(), thread);
        }
    }
}
