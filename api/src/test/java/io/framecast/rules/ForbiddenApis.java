package io.framecast.rules;

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

/// Calls that main code may not make, each with its reason, from the signature files in `forbidden-apis`.
///
/// The checker's Maven plugin resolves signatures against Maven's own JVM: on 17 it knows no `Arena`, and
/// would have to pass over what it does not know. In a test it runs on the JDK that the classes are built for.
final class ForbiddenApis {
    private ForbiddenApis() {}

    /// @param strict whether every signature must resolve on this class path
    static List<String> complaints(final Path classes, final boolean strict, final String... signatures)
            throws IOException, ParseException, ForbiddenApiException {
        final List<String> complaints = new ArrayList<>();
        final Checker checker = new Checker(
                new Complaints(complaints),
                ForbiddenApis.class.getClassLoader(),
                strict
                        ? EnumSet.of(
                                Checker.Option.FAIL_ON_MISSING_CLASSES, Checker.Option.FAIL_ON_UNRESOLVABLE_SIGNATURES)
                        : EnumSet.of(Checker.Option.IGNORE_SIGNATURES_OF_MISSING_CLASSES));
        if (!checker.isSupportedJDK) {
            throw new IllegalStateException(
                    "forbidden-apis cannot read this JDK's classes: take a newer version of it");
        }
        for (final String name : signatures) {
            final String resource = "/forbidden-apis/" + name + ".txt";
            try (InputStream stream = ForbiddenApis.class.getResourceAsStream(resource)) {
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

    /// Keeps the complaints of the checker.
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
            // The checker names the signatures that it reads.
        }

        @Override
        public void debug(final String message) {
            // The checker names each class that it reads.
        }
    }
}
