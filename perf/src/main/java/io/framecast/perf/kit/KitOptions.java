package io.framecast.perf.kit;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.samples.options.Options;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The options of `verify.sh`.
///
/// @param device to run on
/// @param quick whether everything is kept as short as can be, to see that it works
/// @param out folder for results
/// @param tests folder of test classes, a folder per module in it
/// @param only what is run, by the names of [#isWanted]; all if empty
/// @param stepSeconds longest that one step may take
record KitOptions(String device, boolean quick, Path out, Path tests, List<String> only, int stepSeconds) {
    private static final String USAGE =
            "expected [--device cuda:N|emulated:N] [--quick] [--only STEP,…] [--step-seconds N] [--out DIR]";
    private static final int STEP_SECONDS = 300;

    /// @throws ConfigException naming what is wrong
    static KitOptions parse(final List<String> words) {
        String device = "cuda:0";
        boolean quick = false;
        Path out = Path.of("results");
        Path tests = Path.of("tests");
        List<String> only = List.of();
        int stepSeconds = STEP_SECONDS;
        for (int i = 0; i < words.size(); i++) {
            switch (words.get(i)) {
                case "--quick" -> quick = true;
                case "--device" -> device = device(value(words, ++i));
                case "--out" -> out = Path.of(value(words, ++i));
                case "--tests" -> tests = Path.of(value(words, ++i));
                case "--only" -> only = only(value(words, ++i));
                case "--step-seconds" -> stepSeconds = seconds(value(words, ++i));
                default -> throw new ConfigException(USAGE + ", got " + words.get(i));
            }
        }
        return new KitOptions(device, quick, out.toAbsolutePath(), tests.toAbsolutePath(), only, stepSeconds);
    }

    private static String value(final List<String> words, final int index) {
        if (index >= words.size()) {
            throw new ConfigException(USAGE + ", got nothing behind " + words.get(index - 1));
        }
        return words.get(index);
    }

    private static String device(final String name) {
        Options.require(
                name.matches("(cuda|emulated):\\d{1,2}"), "--device: expected cuda:N or emulated:N, got " + name);
        return DeviceChoice.parse(name).text();
    }

    private static List<String> only(final String text) {
        final List<String> words = new ArrayList<>(List.of(text.split(",", -1)));
        for (final String word : words) {
            final String first = word.split("-", 2)[0];
            if (!KitPlan.WORDS.contains(first)) {
                throw new ConfigException("--only: expected " + String.join(", ", KitPlan.WORDS)
                        + ", or one of these with a name, such as bench-arrival; got " + word);
            }
        }
        return List.copyOf(words);
    }

    private static int seconds(final String text) {
        if (!text.matches("\\d{1,5}") || Integer.parseInt(text) == 0) {
            throw new ConfigException("--step-seconds: expected 1 … 99999, got " + text);
        }
        return Integer.parseInt(text);
    }

    /// Whether a step is to be run: it is named, or what its name begins with: `bench` for `bench arrival`,
    /// which is also `bench-arrival`.
    boolean isWanted(final String step) {
        final String id = step.replace(' ', '-');
        return only.isEmpty() || only.stream().anyMatch(word -> id.equals(word) || id.startsWith(word + "-"));
    }
}
