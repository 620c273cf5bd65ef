package io.framecast.perf.chaos;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.ParsedOptions;
import io.framecast.samples.ToolContext;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Options that no run can have.
final class ChaosToolTest {
    @ParameterizedTest
    @CsvSource({
        "--subscribers, 2",
        "--co-roots, 3",
        "--loss, 0.5",
        "--alive-timeout, 10",
        "--margin, 1",
        "--rate, 0",
        "--frame-bytes, 10",
        "--transport, aeron",
        "--seconds, 0",
    })
    void shouldRefuseInOneLineWhatCannotBe(final String option, final String value) {
        final Callable<Integer> chaos = new ChaosTool().create(new Refusing());
        final ConfigException refusal = assertThrows(
                ConfigException.class,
                () -> ParsedOptions.of(chaos, option, value).call());
        assertTrue(refusal.getMessage().startsWith(option + ": expected"), refusal.getMessage());
    }

    /// Nothing may be reached behind the options' check.
    private static final class Refusing implements ToolContext {
        @Override
        public void line(final String text) {
            throw new AssertionError(text);
        }

        @Override
        public void requireWritable() {
            throw new AssertionError("the options were taken");
        }

        @Override
        public boolean hasJson() {
            return false;
        }

        @Override
        public void result(final Map<String, Object> json, final String text) {
            throw new AssertionError(text);
        }

        @Override
        public void onStop(final Runnable action) {
            throw new AssertionError("the options were taken");
        }

        @Override
        public boolean isStopped() {
            return false;
        }
    }
}
