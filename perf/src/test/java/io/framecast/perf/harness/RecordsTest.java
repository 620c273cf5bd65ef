package io.framecast.perf.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RecordsTest {
    private enum Colour {
        RED,
        GREEN
    }

    private record Part(String name, List<Long> values) {}

    private record Whole(int count, double rate, boolean on, Colour colour, Path file, Part part, List<String> words) {}

    @Test
    void shouldReadBackEveryKindOfComponent() {
        final Whole whole = new Whole(
                -3,
                12,
                true,
                Colour.GREEN,
                Path.of("/a b"),
                new Part("quote \" and\ttab", List.of(1L << 40, -1L)),
                List.of("", "x"));
        assertEquals(whole, Records.read(Whole.class, Records.write(whole)));
        assertFalse(Records.write(whole).contains("\n"));
    }

    @Test
    void shouldRefuseTextsThatAreNoSuchRecord() {
        for (final String text :
                List.of("1", "{}", "{\"name\": 1, \"values\": []}", "{\"name\": \"a\", \"values\": [\"b\"]}")) {
            assertThrows(IllegalArgumentException.class, () -> Records.read(Part.class, text), text);
        }
    }
}
