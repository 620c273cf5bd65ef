package io.framecast.perf.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import de.thetaphi.forbiddenapis.Checker;
import de.thetaphi.forbiddenapis.ForbiddenApiException;
import de.thetaphi.forbiddenapis.Logger;
import de.thetaphi.forbiddenapis.ParseException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Calls that main code may not make, each with its reason, from the signature files in `forbidden-apis`.
///
/// The checker's Maven plugin resolves signatures against Maven's own JVM: on 17 it knows no `Arena`, and would have to
/// pass over what it does not know. In a test it runs on the JDK that the classes are built for.
final class ForbiddenApisTest {
    @ParameterizedTest
    @CsvSource({
        "api, everywhere libraries",
        "reliability, everywhere libraries protocol",
        "engine, everywhere libraries",
        "rdma-transport, everywhere libraries",
        "gpu-sink, everywhere libraries",
        "samples, everywhere",
        "perf, everywhere",
    })
    void shouldCallNothingForbidden(final String module, final String signatures) throws Exception {
        final List<String> complaints = complaints(Repository.classes(module), signatures.split(" "));
        assertTrue(complaints.isEmpty(), () -> "\n" + String.join("\n", complaints) + "\n");
    }

    @Test
    void shouldComplainOfEachKindOfCall() throws Exception {
        final List<String> complaints =
                complaints(Repository.ROOT.resolve("perf/target/test-classes"), "everywhere", "libraries", "protocol");
        final String all = String.join("\n", complaints);
        for (final String banned :
                List.of("Arena#ofAuto()", "System#nanoTime()", "java.lang.Thread ", "Math#random()")) {
            assertTrue(all.contains(banned), () -> banned + " is called by Offender below; told was:\n" + all);
        }
        assertEquals(List.of(), complaints(Repository.ROOT.resolve("perf/target/test-classes"), "none"));
    }

    private static List<String> complaints(final Path classes, final String... signatures)
            throws IOException, ParseException, ForbiddenApiException {
        final List<String> complaints = new ArrayList<>();
        final Checker checker = new Checker(
                new Complaints(complaints),
                ForbiddenApisTest.class.getClassLoader(),
                EnumSet.of(Checker.Option.FAIL_ON_MISSING_CLASSES, Checker.Option.FAIL_ON_UNRESOLVABLE_SIGNATURES));
        assertTrue(checker.isSupportedJDK, "forbidden-apis cannot read this JDK's classes: take a newer version of it");
        for (final String name : signatures) {
            final String resource = "/forbidden-apis/" + name + ".txt";
            try (InputStream stream = ForbiddenApisTest.class.getResourceAsStream(resource)) {
                checker.parseSignaturesFile(Objects.requireNonNull(stream, resource), name);
            }
        }
        try (Stream<Path> paths = Files.walk(classes)) {
            for (final Path path :
                    paths.filter(file -> file.toString().endsWith(".class")).toList()) {
                checker.addClassToCheck(path.toFile());
            }
        }
        checker.run();
        return complaints;
    }

    /// Makes calls that are forbidden, to show that the checker sees them; never run.
    static final class Offender {
        Object offend() {
            final Thread thread = new Thread(() -> {});
            return List.of(java.lang.foreign.Arena.ofAuto(), System.nanoTime(), Math.random(), thread);
        }
    }

    /// Keeps what the checker complains of.
    private record Complaints(List<String> lines) implements Logger {
        @Override
        public void error(final String message) {
            lines.add(message);
        }

        @Override
        public void warn(final String message) {
            lines.add(message);
        }

        @Override
        public void info(final String message) {
            // What it reads and how many it read.
        }

        @Override
        public void debug(final String message) {
            // Which class it reads.
        }
    }
}
