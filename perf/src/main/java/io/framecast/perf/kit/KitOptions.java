package io.framecast.perf.kit;

import io.framecast.api.error.ConfigException;
import java.nio.file.Path;
import java.util.List;

/// What `verify.sh` is told.
///
/// @param device to run on
/// @param quick whether everything is kept as short as can be, to see that it works
/// @param out folder for results
/// @param tests folder of test classes, a folder per module in it
record KitOptions(String device, boolean quick, Path out, Path tests) {
    private static final String USAGE = "expected [--device cuda:N|emulated:N] [--quick] [--out DIR]";

    /// @throws ConfigException naming what is wrong
    static KitOptions parse(final List<String> words) {
        String device = "cuda:0";
        boolean quick = false;
        Path out = Path.of("results");
        Path tests = Path.of("tests");
        for (int i = 0; i < words.size(); i++) {
            switch (words.get(i)) {
                case "--quick" -> quick = true;
                case "--device" -> device = value(words, ++i);
                case "--out" -> out = Path.of(value(words, ++i));
                case "--tests" -> tests = Path.of(value(words, ++i));
                default -> throw new ConfigException(USAGE + ", got " + words.get(i));
            }
        }
        return new KitOptions(device, quick, out.toAbsolutePath(), tests.toAbsolutePath());
    }

    private static String value(final List<String> words, final int index) {
        if (index >= words.size()) {
            throw new ConfigException(USAGE + ", got nothing behind " + words.get(index - 1));
        }
        return words.get(index);
    }
}
