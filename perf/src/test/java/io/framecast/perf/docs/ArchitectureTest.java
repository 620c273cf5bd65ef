package io.framecast.perf.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// docs/architecture.md names each package of the sources in one line, and each thread that the sources give a
/// name.
final class ArchitectureTest {
    private static final Pattern ROW = Pattern.compile("\\| `([a-z]+(?:\\.[a-z]+)*)` \\| [^|]+ \\|");
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    // The literal behind a call that makes a thread or gives it its name. A number or a name may follow.
    private static final Pattern THREAD = Pattern.compile("(?:ofPlatform\\(\\)[^;\"]*?\\.name\\(|new Thread\\([^;\"]*?,"
            + "|\\b(?:threads|executor)\\(|new SessionAgent<>\\(|LineReader\\.start\\()\\s*\"([a-z][a-z-]*[a-z])");

    private final Sources sources = new Sources();
    private final Page page = Page.of("docs/architecture.md");

    @Test
    void shouldHaveEachPackageInOneLine() {
        final List<String> rows = new ArrayList<>();
        for (final String line : page.section("Packages")) {
            final Matcher row = ROW.matcher(line);
            if (row.matches()) {
                rows.add(row.group(1));
            }
        }
        final Set<String> named = new TreeSet<>(rows);
        assertEquals(named.size(), rows.size(), () -> "a package in two lines: " + rows);
        assertEquals(sources.packages(), named);
    }

    @Test
    void shouldNameEachThread() {
        final List<String> spans = page.section("Threads").stream()
                .flatMap(line -> SPAN.matcher(line).results())
                .map(span -> span.group(1))
                .toList();
        final Set<String> threads = sources.mainSources().stream()
                .flatMap(text -> THREAD.matcher(text).results())
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(threads.contains("framecast-sender"), () -> "" + threads);
        threads.removeIf(name -> spans.stream().anyMatch(span -> span.equals(name) || span.startsWith(name + "-")));
        assertEquals(Set.of(), threads, "threads that docs/architecture.md does not name");
    }
}
