package io.framecast.perf.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.FormatterException;
import com.palantir.javaformat.java.ImportOrderer;
import com.palantir.javaformat.java.JavaFormatterOptions;
import com.palantir.javaformat.java.RemoveUnusedImports;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Formatting, sizes and names of every source in the repository. Formatting is checked here and not by the
/// Spotless
/// plugin because the formatter needs Maven's own JVM to be new, which it need not be.
final class StyleTest {
    private static final Formatter FORMATTER = Formatter.createFormatter(JavaFormatterOptions.builder()
            .style(JavaFormatterOptions.Style.PALANTIR)
            .build());

    @Test
    void shouldFindSourcesOfEveryModule() {
        for (final String module : Repository.MODULES) {
            final Path sources = Repository.ROOT.resolve(module);
            assertTrue(
                    Repository.javaSources().stream().anyMatch(source -> source.startsWith(sources)),
                    () -> "no source found below " + sources);
        }
    }

    @Test
    void shouldBeFormatted() {
        final List<String> unformatted = Repository.javaSources().parallelStream()
                .flatMap(path -> unformatted(path).stream())
                .toList();
        assertTrue(
                unformatted.isEmpty(),
                () -> "not formatted; mend with: JAVA_HOME=<jdk 25> ./mvnw spotless:apply\n"
                        + String.join("\n", unformatted) + "\n");
    }

    @Test
    void shouldKeepToSizesAndNames() {
        final List<String> complaints = JavaStyle.complaints(Repository.javaSources().stream()
                .map(path -> new JavaStyle.Source(name(path), Repository.read(path)))
                .toList());
        assertTrue(complaints.isEmpty(), () -> "\n" + String.join("\n", complaints) + "\n");
    }

    @Test
    void shouldComplainWhenSourceIsNotFormatted() throws FormatterException {
        final String source = "package p;\n\nimport java.util.List;\n\nclass A {\n  int a ;\n}\n";
        assertEquals("package p;\n\nclass A {\n    int a;\n}\n", format(source));
    }

    @ParameterizedTest
    @CsvSource({
        "class FooManager {}, false",
        "class FooImpl {}, false",
        "class Implement {}, true",
        "record Utils() {}, false",
        "class A { void a(int b; int c; int d; int e; int f) {} }, true",
        "class A { void a(int b; int c; int d; int e; int f; int g; int h; int i; int j) {} }, false",
        "record A(int b; int c; int d; int e; int f; int g; int h; int i; int j) {}, true",
        "class A { A(int b; int c; int d; int e; int f; int g; int h; int i; int j) {} }, false",
    })
    void shouldTellGoodNamesAndShapesFromBad(final String source, final boolean good) {
        assertEquals(good, complaints(source.replace("; int", ", int")).isEmpty());
    }

    @Test
    void shouldComplainWhenTooLong() {
        final String lines69 = "\n".repeat(JavaStyle.METHOD_LINES_MAX - 1);
        assertEquals(List.of(), complaints("class A { void a() {" + lines69 + "} }"));
        assertEquals(
                List.of("A.java:1: a of 71 lines, at most 70"), complaints("class A { void a() {\n" + lines69 + "} }"));
        assertEquals(
                List.of("A.java:1: 701 lines, at most 700"), complaints("\n".repeat(JavaStyle.FILE_LINES_MAX + 1)));
    }

    @Test
    void shouldComplainOfMarksWithoutIssue() {
        final String mark = "// TO" + "DO";
        assertFalse(complaints(mark + " later").isEmpty());
        assertEquals(List.of(), complaints(mark + "(#12) later"));
    }

    private static List<String> complaints(final String source) {
        return JavaStyle.complaints(List.of(new JavaStyle.Source("A.java", source)));
    }

    private static List<String> unformatted(final Path path) {
        final String source = Repository.read(path);
        try {
            final String formatted = format(source);
            return formatted.equals(source)
                    ? List.of()
                    : List.of(name(path) + ":" + firstDifference(source, formatted));
        } catch (final FormatterException e) {
            return List.of(name(path) + ": " + e.getMessage());
        }
    }

    /// What `spotless:apply` does, step by step.
    private static String format(final String source) throws FormatterException {
        final String ordered = ImportOrderer.reorderImports(source, JavaFormatterOptions.Style.PALANTIR);
        return FORMATTER.formatSource(RemoveUnusedImports.removeUnusedImports(ordered));
    }

    private static int firstDifference(final String a, final String b) {
        final List<String> as = a.lines().toList();
        final List<String> bs = b.lines().toList();
        final int common = Math.min(as.size(), bs.size());
        return Stream.iterate(0, i -> i + 1)
                        .limit(common)
                        .filter(i -> !as.get(i).equals(bs.get(i)))
                        .findFirst()
                        .orElse(common)
                + 1;
    }

    private static String name(final Path path) {
        return Repository.ROOT.relativize(path).toString();
    }
}
