package io.framecast.perf.docs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.ChannelKey;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.bench.BenchScenario;
import io.framecast.reliability.count.Metric;
import io.framecast.rules.Repository;
import io.framecast.samples.tool.Main;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/// Pages name files, classes, commands, options, keys and counters that exist. Each is compared with its source:
/// the file tree, picocli's commands, [ChannelKey], [EngineCounter].
final class PagesTest {
    // Files that a build, a run or a reader makes, and headers of C.
    private static final Pattern MADE = Pattern.compile("(.*/)?(target|build)(/.*)?"
            + "|(verify|tail|serve|cam1)\\.json|program\\.(c|py)|std(io|lib|int)\\.h|string\\.h|framecast-gpu-kit/.*"
            + "|src/test/fuzz/.*|results/verify\\.json");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]*)(?:#([^)\\s]*))?\\)");
    private static final Pattern PATH = Pattern.compile("(?<![\\w/.:$-])(?:\\./)?([\\w.-]+(?:/[\\w.-]+)+)");
    private static final Pattern FILE = Pattern.compile("[\\w.-]+\\.(?:sh|java|md|pml|cu|cuh|h|c|cpp|py|args|xml)");
    private static final Pattern WITH_END = Pattern.compile(".*\\.(?:sh|java|md|pml|cu|cuh|h|c|cpp|py|json|txt|args)");

    private static final Pattern CLASS = Pattern.compile("(?<![\\w$/.-])[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+\\b");
    private static final Pattern MEMBER = Pattern.compile("(?<![\\w$/.])([A-Z]\\w+)[.#]([a-z]\\w*)(?!\\w*\\.)");
    private static final Pattern PACKAGE =
            Pattern.compile("(?:io\\.framecast\\.)?((?:api|reliability|engine|rdma|gpu|samples|perf)(?:\\.[a-z]+)+)");
    private static final List<String> JAVA = List.of(
            "java.lang",
            "java.lang.foreign",
            "java.util",
            "java.nio.channels",
            "org.junit.jupiter.api",
            "org.agrona",
            "org.agrona.concurrent",
            "org.agrona.concurrent.status");
    // Words of others: units, Python, PyTorch, NORM, systemd, the kernel, HotSpot, Maven; a reader's own record.
    private static final Set<String> OTHERS_CLASSES = Set.of(
            "GiB",
            "MiB",
            "RoCE",
            "DskipTests",
            "KeyboardInterrupt",
            "TimeoutError",
            "TypeError",
            "ValueError",
            "DataLoader",
            "NormStreamWrite",
            "LimitMEMLOCK",
            "MemAvailable",
            "TieredStopAtLevel",
            "FreqInlineSize",
            "LiveNodeCountInliningCutoff",
            "MaxInlineLevel",
            "MaxNodeLimit",
            "Tier3DelayOn",
            "FuzzTest",
            "MyRecord");

    private static final String NOTE = "Names are those of the time. Today: ";

    private static final Pattern COMMAND =
            Pattern.compile("(?<![\\w./-])(?<!inet )(?:\\./)?framecast((?: [a-z][a-z-]*)+)");
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9-]*");
    private static final Pattern SCRIPT = Pattern.compile("[\\w./-]+\\.sh");
    // firewall-cmd, docker, pkg-config, mlnx_qos, compute-sanitizer.
    private static final Set<String> OTHERS_OPTIONS =
            Set.of("--add-port", "--add-protocol", "--network", "--cflags", "--libs", "--pfc", "--trust", "--tool");

    private static final Pattern URI = Pattern.compile("framecast:[a-z]+\\?([^\\s'\"`]+)");
    private static final Pattern KEY = Pattern.compile("\\|?([a-z][a-z0-9-]*)=.*");
    // Values of `delivery` and `auth`, keys of formats, properties of GStreamer, arguments in Python, of Aeron, of
    // NORM.
    private static final Set<String> OTHERS_KEYS = Set.of(
            "deadline",
            "evict",
            "camera",
            "range",
            "samples",
            "wait-subscribers",
            "key-int-max",
            "stream-format",
            "sync",
            "format",
            "fc",
            "reliable");
    // A mistake in an example.
    private static final String MISTAKEN_KEY = "gruop";

    private static final Pattern COUNTER = Pattern.compile("\\bframecast_[a-z][a-z_]*(…?)");

    private final Sources sources = new Sources();
    private final CommandLine tool = Main.commandLine();
    private final Set<String> complaints = new TreeSet<>();

    @Test
    void shouldNameFilesThatExist() {
        for (final Page page : Page.all()) {
            for (final String line : page.lines()) {
                final Matcher link = LINK.matcher(line);
                while (link.find()) {
                    checkLink(page, link.group(1), link.group(2));
                }
            }
        }
        forEachCode((page, code) -> {
            final Matcher path = PATH.matcher(code.text());
            while (path.find()) {
                final String name = path.group(1);
                final boolean own = sources.isTop(name.substring(0, name.indexOf('/')));
                if ((own || (!code.fenced() && WITH_END.matcher(name).matches()))
                        && !MADE.matcher(name).matches()) {
                    require(sources.hasPath(name.replaceAll("/+$", "")), code, "file " + name);
                }
            }
            final Matcher file = FILE.matcher(code.text());
            if (file.matches() && !MADE.matcher(code.text()).matches()) {
                require(sources.hasPath(code.text()), code, "file " + code.text());
            }
        });
        assertNone();
    }

    @Test
    void shouldNameClassesThatExist() {
        forEachCode((page, code) -> {
            if (code.fenced()) {
                return;
            }
            classes(code.text()).forEach(name -> require(isClass(name), code, "class " + name));
            final Matcher member = MEMBER.matcher(code.text());
            while (member.find()) {
                final String type = member.group(1);
                if (sources.hasType(type) && !WITH_END.matcher(member.group()).matches()) {
                    require(sources.hasMember(type, member.group(2)), code, "member " + member.group());
                }
            }
            final Matcher inside = PACKAGE.matcher(code.text());
            // A key of a format is no package.
            if (inside.matches() && !code.text().equals("samples.rate")) {
                require(
                        sources.hasPath("io/framecast/" + inside.group(1).replace('.', '/')),
                        code,
                        "package " + code.text());
            }
        });
        assertNone();
    }

    /// A decision record keeps its words. Where a class has gone, the line at its top says what it is today.
    @Test
    void shouldNoteInDecisionsWhatIsGone() {
        for (final Page page : Page.decisions()) {
            final Set<String> noted = new TreeSet<>();
            for (final String line : page.lines()) {
                if (line.startsWith(NOTE)) {
                    for (final String part : line.substring(NOTE.length()).split(";", -1)) {
                        final String[] sides = part.split(" → ", -1);
                        require(sides.length == 2, page, "→ in " + part);
                        noted.addAll(classes(sides[0]));
                        classes(sides[1]).forEach(name -> require(isClass(name), page, "class " + name));
                    }
                }
            }
            noted.forEach(name -> require(!sources.hasType(name), page, "reason to note " + name + ", which exists"));
            page.code().stream()
                    .filter(code -> !code.fenced())
                    .flatMap(code -> classes(code.text()).stream())
                    .filter(name -> !noted.contains(name))
                    .forEach(name -> require(isClass(name), page, "class " + name + ", and no note"));
        }
        assertNone();
    }

    @Test
    void shouldNameCommandsThatExist() {
        forEachCode((page, code) -> {
            final Matcher command = COMMAND.matcher(code.text());
            while (command.find()) {
                final String[] words = command.group(1).strip().split(" ", -1);
                require(tool.getSubcommands().containsKey(words[0]), code, "command " + words[0]);
                if (words[0].equals("bench") && words.length > 1) {
                    require(benches().contains(words[1]) || words[1].equals("scenario"), code, "bench " + words[1]);
                }
            }
        });
        assertNone();
    }

    @Test
    void shouldNameOptionsThatExist() {
        forEachCode((page, code) -> {
            final Matcher option = OPTION.matcher(code.text());
            while (option.find()) {
                final @Nullable CommandLine command = commandOf(code, option.start());
                final Set<String> known = command == null ? options(tool) : options(command);
                require(
                        known.contains(option.group()) || (command == null && isOthers(page, option.group())),
                        code,
                        "option " + option.group()
                                + (command == null
                                        ? ""
                                        : " of " + command.getCommandSpec().qualifiedName()));
            }
        });
        assertNone();
    }

    @Test
    void shouldNameKeysThatExist() {
        final Set<String> keys =
                Arrays.stream(ChannelKey.values()).map(ChannelKey::key).collect(Collectors.toSet());
        forEachCode((page, code) -> {
            final Matcher uri = URI.matcher(code.text());
            while (uri.find()) {
                for (final String part : uri.group(1).split("\\|", -1)) {
                    final String key = part.replaceAll("=.*", "");
                    require(keys.contains(key) || !part.contains("=") || key.equals(MISTAKEN_KEY), code, "key " + key);
                }
            }
            final Matcher key = KEY.matcher(code.text());
            if (!code.fenced() && key.matches()) {
                require(keys.contains(key.group(1)) || OTHERS_KEYS.contains(key.group(1)), code, "key " + key.group(1));
            }
        });
        final Set<String> missing = new TreeSet<>(keys);
        Page.of("docs/channel.md").lines().forEach(line -> missing.remove(line.replaceAll("^\\| `(.*?)`.*", "$1")));
        missing.forEach(key -> complaints.add("docs/channel.md: no row of key " + key));
        assertNone();
    }

    @Test
    void shouldNameCountersThatExist() {
        final List<String> names =
                EngineCounter.metrics().stream().map(Metric::exportedName).toList();
        forEachCode((page, code) -> {
            final Matcher counter = COUNTER.matcher(code.text());
            while (counter.find()) {
                final String name = counter.group().replace("…", "");
                final boolean begins = !counter.group(1).isEmpty();
                require(
                        names.stream().anyMatch(known -> begins ? known.startsWith(name) : known.equals(name)),
                        code,
                        "counter " + counter.group());
            }
        });
        assertNone();
    }

    private void checkLink(final Page page, final String target, final @Nullable String anchor) {
        if (target.contains("://")) {
            return;
        }
        final String path = target.isEmpty()
                ? page.path()
                : Repository.ROOT
                        .relativize(Repository.ROOT
                                .resolve(page.path())
                                .resolveSibling(target)
                                .normalize())
                        .toString();
        if (!sources.isTop(path)) {
            complaints.add(page.path() + ": no file " + target);
        } else if (anchor != null
                && path.endsWith(".md")
                && !Page.of(path).anchors().contains(anchor)) {
            complaints.add(page.path() + ": no heading " + target + "#" + anchor);
        }
    }

    private static List<String> classes(final String text) {
        return CLASS.matcher(text).results().map(MatchResult::group).toList();
    }

    private boolean isClass(final String name) {
        return sources.hasType(name)
                || OTHERS_CLASSES.contains(name)
                || sources.hasClientWord(name)
                || JAVA.stream().anyMatch(place -> {
                    try {
                        Class.forName(place + "." + name, false, PagesTest.class.getClassLoader());
                        return true;
                    } catch (final ClassNotFoundException e) {
                        return false;
                    }
                });
    }

    // The command that an option is given to: the nearest before it in the same code; in the row of a table also one
    // in the cells before. Null where none is named: then the option may be any command's.
    private @Nullable CommandLine commandOf(final Page.Code code, final int end) {
        final String text = code.text().substring(0, end);
        @Nullable CommandLine last = lastCommand(text);
        if (last == null && !code.fenced()) {
            final String first = text.strip().replaceAll(" .*", "");
            if (tool.getSubcommands().containsKey(first)) {
                last = resolve(text.strip().split(" ", -1));
            } else if (benches().contains(first)) {
                last = resolve(("bench " + text.strip()).split(" ", -1));
            } else if (code.before().startsWith("|")) {
                last = lastCommand(code.before());
            }
        }
        return last;
    }

    private @Nullable CommandLine lastCommand(final String text) {
        @Nullable CommandLine last = null;
        final Matcher command = COMMAND.matcher(text);
        while (command.find()) {
            last = resolve(command.group(1).strip().split(" ", -1));
        }
        return last;
    }

    private @Nullable CommandLine resolve(final String[] words) {
        @Nullable CommandLine at = tool;
        for (final String word : words) {
            final @Nullable CommandLine next = at.getSubcommands().get(word);
            if (next == null) {
                break;
            }
            at = next;
        }
        return at == tool ? null : at;
    }

    private Set<String> benches() {
        final Set<String> names =
                Arrays.stream(BenchScenario.values()).map(BenchScenario::label).collect(Collectors.toSet());
        final @Nullable CommandLine bench = tool.getSubcommands().get("bench");
        if (bench != null) {
            names.addAll(bench.getSubcommands().keySet());
        }
        return names;
    }

    private static Set<String> options(final CommandLine command) {
        final Set<String> all =
                new TreeSet<>(command.getCommandSpec().optionsMap().keySet());
        command.getSubcommands().values().forEach(inner -> all.addAll(options(inner)));
        return all;
    }

    // Of the JVM, of a script that the page names, or of another program.
    private boolean isOthers(final Page page, final String option) {
        if (OTHERS_OPTIONS.contains(option) || read("framecast.args").contains(option)) {
            return true;
        }
        final Set<String> scripts = new TreeSet<>();
        for (final String line : page.lines()) {
            final Matcher script = SCRIPT.matcher(line);
            while (script.find()) {
                scripts.add(script.group().replaceFirst("^\\./", ""));
            }
        }
        return scripts.stream()
                .filter(script -> Files.exists(Repository.ROOT.resolve(script)))
                .anyMatch(script -> read(script).contains(option));
    }

    private static String read(final String path) {
        return String.join("\n", Page.of(path).lines());
    }

    private static void forEachCode(final BiConsumer<Page, Page.Code> check) {
        Page.all().forEach(page -> page.code().forEach(code -> check.accept(page, code)));
    }

    private void require(final boolean exists, final Page.Code code, final String what) {
        if (!exists) {
            complaints.add(code.where() + ": no " + what);
        }
    }

    private void require(final boolean exists, final Page page, final String what) {
        if (!exists) {
            complaints.add(page.path() + ": no " + what);
        }
    }

    private void assertNone() {
        assertTrue(complaints.isEmpty(), () -> Sources.lines(complaints));
    }
}
