package io.framecast.engine.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.engine.metrics.EngineCounter.Kind;
import io.framecast.engine.metrics.EngineCounter.Unit;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Prometheus' naming conventions over every kind of counter.
final class EngineCounterTest {
    @ParameterizedTest
    @EnumSource
    void shouldFollowConventionsWhenNamed(final EngineCounter counter) {
        final String name = counter.exportedName();
        assertTrue(name.matches("framecast(_[a-z]+)+"), name);
        assertEquals(counter.kind() == Kind.COUNTER, name.endsWith("_total"), name);
        final String family = counter.familyName();
        assertFalse(family.endsWith("_total"), family);
        assertEquals(counter.unit() == Unit.BYTES, family.endsWith("_bytes"), family);
        assertEquals(counter.unit() == Unit.NANOSECONDS, family.endsWith("_seconds"), family);
        assertTrue(counter.help().matches("[A-Z].*\\."), counter.help());
        assertTrue(name.getBytes(StandardCharsets.UTF_8).length <= CounterLayout.NAME.bytesMax());
    }

    @Test
    void shouldBeToldApartWhenExported() {
        final Set<String> families = new HashSet<>();
        for (final EngineCounter counter : EngineCounter.values()) {
            assertTrue(families.add(counter.familyName()), counter + " shares its name");
        }
    }
}
