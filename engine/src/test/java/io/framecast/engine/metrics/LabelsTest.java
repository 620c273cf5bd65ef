package io.framecast.engine.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LabelsTest {
    @Test
    void shouldComeBackTheSameWhenValuesNeedEscapes() {
        final String value = "a\\n\"b\"\n,c=\"";
        final String text = Labels.of("channel", value, "lane", "");
        assertEquals("channel=\"a\\\\n\\\"b\\\"\\n,c=\\\"\",lane=\"\"", text);
        final Map<String, String> labels = Labels.parse(text);
        assertEquals(Map.of("channel", value, "lane", ""), labels);
        assertEquals(List.of("channel", "lane"), List.copyOf(labels.keySet()));
    }

    @Test
    void shouldJoinWhenOneIsEmpty() {
        assertEquals("a=\"1\"", Labels.join(Labels.NONE, "a=\"1\""));
        assertEquals("a=\"1\"", Labels.join("a=\"1\"", Labels.NONE));
        assertEquals("a=\"1\",b=\"2\"", Labels.join("a=\"1\"", "b=\"2\""));
        assertEquals(Map.of(), Labels.parse(Labels.NONE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "a=",
                "a=\"",
                "a=\"1",
                "a=\"1\",",
                "a=\"1\"b=\"2\"",
                "=\"1\"",
                "1a=\"1\"",
                "a=\"\\x\"",
                "a=\"\\",
                "a=\"1\",a=\"2\"",
                "__a=\"1\"",
                "a=\"1\n\"",
                ",a=\"1\"",
                "a-b=\"1\""
            })
    void shouldRefuseWhenTextIsNotLabels(final String text) {
        assertThrows(IllegalArgumentException.class, () -> Labels.parse(text));
    }

    @Test
    void shouldReadValueOfAnyLength() {
        final String value = "\"x".repeat(100_000);
        assertEquals(Map.of("a", value), Labels.parse(Labels.of("a", value)));
    }

    @Test
    void shouldRefuseWhenPairIsIncomplete() {
        assertThrows(IllegalArgumentException.class, () -> Labels.of("a"));
        assertThrows(IllegalArgumentException.class, () -> Labels.of("bad name", "1"));
    }
}
