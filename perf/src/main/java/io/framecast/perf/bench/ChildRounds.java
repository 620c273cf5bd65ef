package io.framecast.perf.bench;

import io.framecast.api.error.FramecastException;
import io.framecast.perf.rivals.FramesDifferException;
import io.framecast.perf.rivals.MeasuredSystem;
import io.framecast.perf.rivals.StreamSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What a child does with the lines of its parent: `round` and the words of a stream begin a round, which
/// opens everything anew, is answered by one line, and leaves nothing open; `gone` tells the publisher of the
/// round that its receivers have left; the end of input is the end. Between rounds it waits for a line and
/// costs nothing.
public final class ChildRounds {
    /// Begins a line to a child.
    public static final String ROUND = "round";

    static final String GONE = "gone";

    /// Begins a child's answer.
    public static final String REPORT = "@report ";

    public static final String FAILURE = "@failure ";
    public static final String DIFFERENCE = "@difference ";

    /// Words may be empty and hold no tabs.
    public static final String BETWEEN_WORDS = "\t";

    public static final int FRAMES_DIFFER = 1;
    public static final int FAILED = 3;

    private final MeasuredSystem system;
    private final boolean publishes;
    private final BufferedReader input;
    private final Consumer<String> output;

    ChildRounds(
            final MeasuredSystem system,
            final boolean publishes,
            final BufferedReader input,
            final Consumer<String> output) {
        this.system = system;
        this.publishes = publishes;
        this.input = input;
        this.output = output;
    }

    static String beginning(final StreamSpec spec) {
        return ROUND + BETWEEN_WORDS + String.join(BETWEEN_WORDS, spec.arguments());
    }

    /// Until the input ends, or a round fails: what a failed round leaves behind must not be in the next.
    ///
    /// @return the process's exit status
    int serve() {
        try {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                if (!line.equals(GONE)) {
                    output.accept(REPORT + measure(line));
                }
            }
            return 0;
        } catch (final FramesDifferException e) {
            output.accept(DIFFERENCE + oneLine(e.getMessage()));
            return FRAMES_DIFFER;
        } catch (final FramecastException | IllegalStateException e) {
            output.accept(FAILURE + oneLine(e.getMessage()));
            return FAILED;
        } catch (final IOException | RuntimeException | OutOfMemoryError | LinkageError e) {
            output.accept(FAILURE + oneLine(e.toString()));
            return FAILED;
        }
    }

    private static String oneLine(final @Nullable Object text) {
        return String.valueOf(text).replace('\n', ' ');
    }

    private String measure(final String line) {
        final List<String> words = Arrays.asList(line.split(BETWEEN_WORDS, -1));
        if (!words.getFirst().equals(ROUND)) {
            throw new IllegalArgumentException("expected round or gone, got " + line);
        }
        final StreamSpec spec = StreamSpec.parse(words.subList(1, words.size()));
        return publishes
                ? system.publish(spec, this::awaitGone).json()
                : system.subscribe(spec).json();
    }

    private void awaitGone() {
        try {
            final String line = input.readLine();
            if (line != null && !line.equals(GONE)) {
                throw new IllegalArgumentException("expected gone, got " + line);
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
