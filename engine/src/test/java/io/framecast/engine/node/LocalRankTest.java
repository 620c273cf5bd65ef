package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalRankTest {
    @ParameterizedTest
    @ValueSource(strings = {"LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"})
    void shouldTakeTheNumberThatALauncherGives(final String variable) {
        final LocalRank rank = LocalRank.of(Map.of(variable, "3"));
        assertEquals(3, rank.number());
        assertTrue(rank.origin().contains(variable));
    }

    @Test
    void shouldBeTheFirstProcessWithoutALauncher() {
        assertEquals(LocalRank.NONE, LocalRank.of(Map.of("LOCAL_RANK", "", "RANK", "7")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "one", "1000", " 1"})
    void shouldRefuseWhatIsNoNumber(final String text) {
        final ConfigException failure =
                assertThrows(ConfigException.class, () -> LocalRank.of(Map.of("LOCAL_RANK", text)));
        assertTrue(failure.getMessage().startsWith("LOCAL_RANK: "), failure.getMessage());
    }
}
