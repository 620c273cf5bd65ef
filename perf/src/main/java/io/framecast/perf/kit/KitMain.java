package io.framecast.perf.kit;

import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// `verify.sh` of the GPU kit: looks for the device, runs the steps of [KitPlan], prints a table and writes
/// [KitResults]. Where there is no driver or no GPU it says so in one line and runs nothing; a device that is
/// there and does not open is a failure, with results that say so.
public final class KitMain {
    static final int PASSED = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;
    /// The status that test harnesses take for skipped.
    static final int SKIPPED = 77;

    private KitMain() {}

    /// Words: those of [KitOptions].
    public static void main(final String[] arguments) throws IOException, InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(KitCommand::endAll, "end-steps"));
        System.exit(run(List.of(arguments)));
    }

    static int run(final List<String> words) throws IOException, InterruptedException {
        final KitOptions options;
        final boolean fresh;
        final Path temporary;
        try {
            options = KitOptions.parse(words);
            fresh = Files.notExists(options.out());
            temporary = Files.createDirectories(options.out().resolve("tmp"));
        } catch (final ConfigException e) {
            System.err.println("verify.sh: " + e.getMessage());
            return USAGE;
        } catch (final IOException e) {
            System.err.println("verify.sh: --out: cannot be written to: " + e);
            return USAGE;
        }
        try {
            return run(options, new KitCommand.Place(options.out(), temporary, options.stepSeconds()));
        } catch (final KitDevice.UnusableException e) {
            if (e.isAbsent()) {
                delete(fresh ? options.out() : temporary);
                System.out.println("skipped: " + e.getMessage());
                return SKIPPED;
            }
            return failed(options, String.valueOf(e.getMessage()));
        } finally {
            delete(temporary);
        }
    }

    private static int run(final KitOptions options, final KitCommand.Place place)
            throws IOException, InterruptedException, KitDevice.UnusableException {
        final KitDevice device = KitDevice.of(
                options.device(),
                new KitCommand(List.of(KitDevice.class.getName(), options.device())).run("device", place));
        System.out.println(device.line());
        final KitResults results = new KitResults(options, device.line(), device);
        new KitPlan(options, device, results, place).run();
        return end(results);
    }

    private static int failed(final KitOptions options, final String why) throws IOException {
        final KitResults results = new KitResults(options, "hardware: " + options.device() + ", not opened", null);
        results.add(KitStep.failed("device", why));
        return end(results);
    }

    private static int end(final KitResults results) throws IOException {
        System.out.println(results.end());
        return results.isPassed() ? PASSED : FAILED;
    }

    private static void delete(final Path folder) throws IOException {
        if (Files.notExists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
