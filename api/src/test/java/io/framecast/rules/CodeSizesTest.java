package io.framecast.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class CodeSizesTest {
    private static final String MAIN = "engine/src/main/java/io/framecast/engine/udp/A.java";

    private static Map<String, Integer> sizes(final String text) {
        return CodeSizes.excesses(Map.of(MAIN, text));
    }

    private static String repeat(final int times, final String format, final String between) {
        return IntStream.range(0, times).mapToObj(format::formatted).collect(Collectors.joining(between));
    }

    private static String lines(final int count) {
        return "package a;\nimport b.C;\n\n/// A class.\nclass A {\n    // No field.\n" + "int x();\n".repeat(count - 2)
                + "}\n";
    }

    @Test
    void shouldCountLinesOfCode() {
        assertEquals(Map.of(), sizes(lines(CodeSizes.LINES_MAX)));
        assertEquals(Map.of("large engine/udp/A", 401), sizes(lines(CodeSizes.LINES_MAX + 1)));
    }

    @Test
    void shouldAllowMachinesOfTheProtocolMore() {
        final String machine = "reliability/src/main/java/io/framecast/reliability/send/AMachine.java";
        assertEquals(Map.of(), CodeSizes.excesses(Map.of(machine, lines(CodeSizes.MACHINE_LINES_MAX))));
        assertEquals(
                Map.of("large reliability/send/AMachine", 701),
                CodeSizes.excesses(Map.of(machine, lines(CodeSizes.MACHINE_LINES_MAX + 1))));
    }

    @Test
    void shouldLeaveTestsOut() {
        assertEquals(
                Map.of(),
                CodeSizes.excesses(
                        Map.of("engine/src/test/java/io/framecast/engine/A.java", lines(CodeSizes.LINES_MAX + 1))));
    }

    @Test
    void shouldCountFieldsOfInstances() {
        final String statics = "static int s; ";
        final String most = repeat(CodeSizes.FIELDS_MAX, "int a%d; ", "");
        assertEquals(Map.of(), sizes("class A { " + statics + most + "}"));
        assertEquals(Map.of("fields engine/udp/A", 31), sizes("class A { " + most + "int b; }"));
        assertEquals(Map.of(), sizes("enum A { " + repeat(40, "A%d", ", ") + " }"));
        assertEquals(Map.of(), sizes("interface A { " + repeat(40, "int A%d = 1; ", "") + "}"));
        assertEquals(Map.of("fields engine/udp/A", 31), sizes("class A { class B { " + most + "int b; } }"));
    }

    @Test
    void shouldCountParametersOfConstructors() {
        final String eight = repeat(8, "int a%d", ", ");
        assertEquals(Map.of(), sizes("class A { A(" + repeat(7, "int a%d", ", ") + ") {} void m(" + eight + ") {} }"));
        assertEquals(Map.of("parameters engine/udp/A", 8), sizes("class A { A(" + eight + ") {} }"));
    }

    @Test
    void shouldLeaveCanonicalConstructorsOfRecordsOut() {
        final String eight = repeat(8, "int a%d", ", ");
        final String nine = repeat(9, "int a%d", ", ");
        final String long41 = "{" + "\n".repeat(CodeSizes.CONSTRUCTOR_LINES_MAX) + "}";
        assertEquals(Map.of(), sizes("record A(" + nine + ") { A " + long41 + " }"));
        assertEquals(Map.of(), sizes("record A(" + nine + ") { A(" + nine + ") " + long41 + " }"));
        assertEquals(Map.of("parameters engine/udp/A", 8), sizes("record A(" + nine + ") { A(" + eight + ") {} }"));
    }

    @Test
    void shouldCountLinesOfConstructors() {
        final String most = "\n".repeat(CodeSizes.CONSTRUCTOR_LINES_MAX - 1);
        assertEquals(Map.of(), sizes("class A { A() {" + most + "} }"));
        assertEquals(Map.of("constructor engine/udp/A", 41), sizes("class A { A() {\n" + most + "} }"));
    }

    @Test
    void shouldAllowTheFrozenSizeAndNoMore() {
        final Map<String, String> sources = Map.of(MAIN, lines(402));
        assertEquals(List.of("large engine/udp/A 402, frozen 0"), CodeSizes.differences(sources, List.of()));
        assertEquals(
                List.of("large engine/udp/A 402, frozen 401"),
                CodeSizes.differences(sources, List.of("large engine/udp/A 401")));
        assertEquals(List.of(), CodeSizes.differences(sources, List.of("large engine/udp/A 500", "# large a b")));
    }

    @Test
    void shouldWantNoLineForASmallClassOfThisModule() {
        final Map<String, String> sources = Map.of(MAIN, lines(10));
        assertEquals(
                List.of("fields engine/udp/B is within its limit, frozen 33"),
                CodeSizes.differences(sources, List.of("fields engine/udp/B 33", "large engine/aeron/C 500")));
    }
}
