package io.framecast.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The rules on one source find its faults.
final class JavaStyleTest {
    @ParameterizedTest
    @CsvSource({
        "class FooManager {}, false",
        "class FooImpl {}, false",
        "class Implement {}, true",
        "record Utils() {}, false",
    })
    void shouldTellGoodNamesFromBad(final String source, final boolean good) {
        assertEquals(good, complaints(source).isEmpty());
    }

    @Test
    void shouldComplainWhenAMethodIsTooLong() {
        final String lines69 = "\n".repeat(JavaStyle.METHOD_LINES_MAX - 1);
        assertEquals(List.of(), complaints("class A { void a() {" + lines69 + "} }"));
        assertEquals(
                List.of("A.java:1: a of 71 lines, at most 70"), complaints("class A { void a() {\n" + lines69 + "} }"));
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
}
