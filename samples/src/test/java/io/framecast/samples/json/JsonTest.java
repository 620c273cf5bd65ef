package io.framecast.samples.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonTest {
    @Test
    void shouldWriteExactTextWhenValuesAreNested() {
        final Map<String, Object> map = new LinkedHashMap<>();
        map.put("b", List.of(1, 2.5, true, "x"));
        map.put("a", Map.of("k", -3L));
        assertEquals("{\"b\": [1, 2.5, true, \"x\"], \"a\": {\"k\": -3}}", Json.write(map));
    }

    @Test
    void shouldEscapeWhatStringsMustNotHold() {
        assertEquals(
                "\"q\\\" b\\\\ n\\n t\\t r\\r \\u0001 \\u007f é µ\"",
                Json.write("q\" b\\ n\n t\t r\r \u0001 \u007f é µ"));
        assertEquals("\"\\ud800\"", Json.write("\ud800"));
    }

    @Test
    void shouldRefuseNumbersThatJsonCannotSay() {
        assertThrows(IllegalArgumentException.class, () -> Json.write(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> Json.write(Double.POSITIVE_INFINITY));
        assertThrows(IllegalArgumentException.class, () -> Json.write(new Object()));
    }

    @Test
    void shouldReadBackWhatWasWrittenWhenValuesAreRandom() {
        for (long seed = 0; seed < 500; seed++) {
            final Object value = randomValue(new Random(seed), 4);
            assertEquals(value, Json.parse(Json.write(value)), "seed " + seed);
        }
    }

    private static Object randomValue(final Random random, final int depth) {
        return switch (random.nextInt(depth == 0 ? 4 : 6)) {
            case 0 -> random.nextLong() >> random.nextInt(8, 64);
            case 1 -> random.nextGaussian() * Math.pow(10, random.nextInt(-30, 30));
            case 2 -> random.nextBoolean();
            case 3 -> randomText(random);
            case 4 -> {
                final List<Object> list = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    list.add(randomValue(random, depth - 1));
                }
                yield list;
            }
            default -> {
                final Map<String, Object> map = new LinkedHashMap<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    map.put(randomText(random), randomValue(random, depth - 1));
                }
                yield map;
            }
        };
    }

    private static String randomText(final Random random) {
        final StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(10); i > 0; i--) {
            text.append((char) random.nextInt(random.nextBoolean() ? 128 : 0x10000));
        }
        return text.toString();
    }

    @Test
    void shouldReadSpacesEscapesAndExponents() {
        assertEquals(
                Map.of("a", List.of(1L, -2.5e3, "/\n\u00e9")),
                Json.parse(" {\"a\" : [ 1 , -2.5E3 , \"\\/\\n\\u00e9\" ] } \n"));
        assertEquals(123_456_789_012_345_678L, Json.parse("123456789012345678"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[1,]",
                "{\"a\":1,}",
                "{a:1}",
                "01",
                "1.",
                "+1",
                "nul",
                "truex",
                "\"a",
                "\"\\x\"",
                "\"\\u12g4\"",
                "{} {}",
                "\"\u0001\"",
                "-",
                "1e"
            })
    void shouldRefuseWhatIsNotOneValue(final String text) {
        assertThrows(IllegalArgumentException.class, () -> Json.parse(text));
    }

    @Test
    void shouldRefuseNestingWithoutBound() {
        assertThrows(IllegalArgumentException.class, () -> Json.parse("[".repeat(100_000)));
    }
}
