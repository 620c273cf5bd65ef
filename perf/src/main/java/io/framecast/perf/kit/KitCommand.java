package io.framecast.perf.kit;

import io.framecast.perf.harness.Child;
import io.framecast.samples.json.Json;
import io.framecast.samples.tool.Main;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One step of a run: a process of this runtime that writes one JSON object to stdout, and for people to
/// stderr.
///
/// @param words the class of its program, and the program's words
record KitCommand(List<String> words) {
    // The finder of tests is a test class: it needs JUnit, which the product does not.
    private static final String TESTS = "io.framecast.perf.kit.KitTests";
    private static final long NS_PER_SECOND = 1_000_000_000L;
    // A process that wrote its result and does not end is held by the driver.
    private static final long TELL_SECONDS = 10;
    private static final long DIE_SECONDS = 5;
    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();
    private static volatile boolean stopping;

    /// Where steps leave what they leave.
    ///
    /// @param out takes logs, and the reports of crashed runtimes
    /// @param temporary files, such as the libraries that JCuda unpacks: `/tmp` may let nothing be run
    /// @param secondsMax longest that one may take
    record Place(Path out, Path temporary, int secondsMax) {}

    /// `framecast`, with these words.
    static KitCommand tool(final List<String> words) {
        final List<String> all = new ArrayList<>(List.of(Main.class.getName()));
        all.addAll(words);
        all.addAll(List.of("--json", "-"));
        return new KitCommand(all);
    }

    /// The names of the classes with tests of a tag, in a folder of test classes.
    static KitCommand testClasses(final String tag, final Path folder) {
        return new KitCommand(List.of(TESTS, "list", tag, folder.toString()));
    }

    /// The tests of one class, or of several with commas between.
    ///
    /// @param hangSeconds after which one is held to hang
    /// @param without those that are left out, by their names
    static KitCommand tests(
            final String tag, final String className, final int hangSeconds, final List<String> without) {
        final List<String> all = new ArrayList<>(List.of(TESTS, "run", tag, className, Integer.toString(hangSeconds)));
        all.addAll(without);
        return new KitCommand(all);
    }

    KitStep run(final String name, final Place place) throws IOException, InterruptedException {
        final String file = name.replace(' ', '-');
        final Path log = place.out.resolve(file + ".log");
        // No pipe: a child's child that lives on would keep it open.
        final Path said = place.temporary.resolve(file + ".json");
        final long beginNs = System.nanoTime();
        final Process process = new ProcessBuilder(command(place))
                .redirectError(log.toFile())
                .redirectOutput(said.toFile())
                .start();
        RUNNING.add(process);
        if (stopping) {
            endAll();
        }
        final String ended = await(process, said, place.secondsMax);
        RUNNING.remove(process);
        final double seconds = (System.nanoTime() - beginNs) / 1e9;
        final int status = process.isAlive() ? -1 : process.exitValue();
        return new KitStep(name, status, seconds, parse(text(said)), ended + lastLine(log));
    }

    private List<String> command(final Place place) {
        return Child.javaCommand(
                List.of("-XX:ErrorFile=" + place.out.resolve("hs_err_%p.log"), "-Djava.io.tmpdir=" + place.temporary),
                words.getFirst(),
                words.subList(1, words.size()));
    }

    /// @return why it was ended; empty if it ended by itself
    private static String await(final Process process, final Path said, final int secondsMax)
            throws IOException, InterruptedException {
        final long startNs = System.nanoTime();
        long toldNs = 0;
        long toldBytes = 0;
        while (!process.waitFor(100, TimeUnit.MILLISECONDS)) {
            final long nowNs = System.nanoTime();
            final long bytes = Files.size(said);
            if (bytes != toldBytes) {
                toldBytes = bytes;
                toldNs = nowNs;
            }
            final boolean isLong = nowNs - startNs > secondsMax * NS_PER_SECOND;
            if (isLong || (bytes > 0 && nowNs - toldNs > TELL_SECONDS * NS_PER_SECOND)) {
                end(process);
                return (isLong ? "not done within " + secondsMax + " s" : "wrote its result and did not end")
                        + (process.waitFor(DIE_SECONDS, TimeUnit.SECONDS) ? "" : ", and cannot be killed")
                        + "; last line: ";
            }
        }
        return "";
    }

    // Its children first: they could not be found later.
    private static void end(final Process process) {
        process.descendants().toList().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    /// Ends what runs, and what is begun from now on: the kit is to end.
    static void endAll() {
        stopping = true;
        RUNNING.forEach(KitCommand::end);
    }

    private static @Nullable Map<?, ?> parse(final String out) {
        try {
            return Json.parse(out.strip()) instanceof final Map<?, ?> map ? map : null;
        } catch (final IllegalArgumentException e) {
            return null;
        }
    }

    // A crashed process may leave anything, also what is no UTF-8.
    private static String text(final Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private static String lastLine(final Path log) throws IOException {
        return text(log).lines().filter(line -> !line.isBlank()).reduce("", (_, line) -> line);
    }
}
