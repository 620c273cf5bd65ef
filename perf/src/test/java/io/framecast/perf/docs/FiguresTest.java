package io.framecast.perf.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.SourceOptions;
import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.secure.ReceiverProtection;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import io.framecast.samples.ExitStatus;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// A figure that stands twice is the same at both places: on two pages, or on a page and in the code.
final class FiguresTest {
    // 3893, 0.85, 20 000 and 2026-11-21, but not the 4 of IPv4.
    private static final Pattern FIGURE = Pattern.compile("(?<![\\w.-])\\d+(?:[ ,]\\d{3})*(?:[.-]\\d+)*(?![\\w.]*\\w)");
    private static final Pattern DEFAULT_ROW =
            Pattern.compile("\\| `([a-z-]+)` \\| (?:`([^`]+)`|(\\d+))(?:: [^|]*)? \\|.*");
    private static final Pattern STATUS_ROW = Pattern.compile("\\| (\\d+) \\| .*");

    /// A page that quotes another, and the places on both.
    @ParameterizedTest
    @CsvSource({
        "README.md, How fast, false, docs/performance.md",
        "'docs/schemes.md', On one machine's loopback, true, docs/performance.md",
    })
    void shouldQuoteFiguresAsTheyStand(
            final String page, final String section, final boolean rowsOnly, final String source) {
        final Set<String> known = figures(Page.of(source).lines());
        final Set<String> quoted = figures(Page.of(page).section(section).stream()
                .filter(line -> !rowsOnly || line.startsWith("|"))
                .toList());
        assertTrue(!quoted.isEmpty(), () -> page + ": no figure under " + section);
        quoted.removeAll(known);
        assertEquals(Set.of(), quoted, () -> page + ", " + section + ": not in " + source);
    }

    @Test
    void shouldQuoteTheLongestRun() {
        final Set<String> quoted = figures(Page.of("README.md").lines().stream()
                .filter(line -> line.contains("takeovers"))
                .map(line -> line.replaceAll("^- [\\d-]+:", ""))
                .toList());
        quoted.removeAll(figures(Page.of("docs/protocol.md").lines()));
        assertEquals(Set.of(), quoted, "README.md: not in docs/protocol.md");
    }

    @Test
    void shouldListEachExitStatus() throws IllegalAccessException {
        final Set<String> statuses = new TreeSet<>();
        for (final Field field : ExitStatus.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
                statuses.add(Integer.toString(field.getInt(null)));
            }
        }
        final Set<String> listed = new TreeSet<>();
        for (final String line : Page.of("docs/exit-codes.md").lines()) {
            final Matcher row = STATUS_ROW.matcher(line);
            if (row.matches() && !line.contains("scripts only")) {
                listed.add(row.group(1));
            }
        }
        assertEquals(statuses, listed, "docs/exit-codes.md");
        final String readme = String.join(" ", Page.of("README.md").lines());
        final int start = readme.indexOf("Exit status: ");
        final String sentence = readme.substring(start, readme.indexOf(": [docs/exit-codes.md]", start));
        assertEquals(statuses, figures(List.of(sentence)), "README.md");
    }

    /// Rows of a page's table of bounds, and what the code says.
    static Stream<Arguments> bounds() {
        return Stream.of(
                Arguments.of(
                        "control datagram; metadata", List.of(Wire.CONTROL_BYTES_MAX, FrameLayout.METADATA_BYTES_MAX)),
                Arguments.of("window; slot", List.of(StreamInfo.SLOT_BYTES_MAX)),
                Arguments.of("members; remembered when gone", List.of(SenderConfig.MEMBERS_MAX_DEFAULT)),
                Arguments.of(
                        "ranges per NACK; with an acknowledgement; per turn",
                        List.of(NackLayout.rangesMax(false), NackLayout.rangesMax(true), NackScheduler.RANGES_MAX)),
                Arguments.of("frames of a bundle", List.of(BundleLayout.FRAMES_MAX)),
                Arguments.of(
                        "sources of a subscriber; rings, with those that are over and still held",
                        List.of(SourceOptions.COUNT_MAX)),
                Arguments.of(
                        "`auth=`: handshakes under way at a receiver; sessions with keys; epochs of one; senders with a"
                                + " derived key",
                        List.of(ReceiverProtection.PENDING_MAX, ReceiverProtection.SESSIONS_MAX)));
    }

    @ParameterizedTest
    @MethodSource("bounds")
    void shouldBoundAsTheCodeDoes(final String row, final List<Integer> bounds) {
        final List<String> rows = Page.of("docs/protocol.md").section("Bounds").stream()
                .filter(line -> line.startsWith("| " + row + " |"))
                .toList();
        assertEquals(1, rows.size(), () -> "docs/protocol.md: rows " + row);
        final String cell = rows.getFirst().substring(row.length() + 4).replace(" ", "");
        for (final int bound : bounds) {
            assertTrue(
                    figures(List.of(cell.replaceAll("[;|]", " and ").replaceAll("(?<=\\d)B\\b", " ")))
                            .contains(Integer.toString(bound)),
                    () -> "docs/protocol.md: " + row + ": expected " + bound + ", got " + cell);
        }
    }

    /// Sentences of pages with a size that is the code's.
    static Stream<Arguments> sentences() {
        return Stream.of(
                Arguments.of("docs/protocol.md", "version " + Wire.VERSION),
                Arguments.of(
                        "docs/protocol.md", "at most " + RepairGroupLayout.MEMBERS_MAX + " members and the co-root"),
                Arguments.of("docs/protocol.md", "formatBytes u16 (1 … " + FormatLayout.FORMAT_BYTES_MAX + ")"),
                Arguments.of("docs/channel.md", "most co-roots, 0 … " + CoRootConfig.COUNT_MAX),
                Arguments.of("docs/channel.md", "sources followed at once, up to " + SourceOptions.COUNT_MAX));
    }

    @ParameterizedTest
    @MethodSource("sentences")
    void shouldStateTheSizeThatTheCodeHas(final String page, final String words) {
        assertTrue(String.join(" ", Page.of(page).lines()).contains(words), () -> page + ": expected " + words);
    }

    @Test
    void shouldListTheDefaultsOfKeys() {
        final String uri = "framecast:udp?group=224.20.30.39:24326";
        final List<String> complaints = new ArrayList<>();
        int compared = 0;
        for (final String line : Page.of("docs/channel.md").lines()) {
            final Matcher row = DEFAULT_ROW.matcher(line);
            if (row.matches()) {
                final String value = row.group(2) == null ? row.group(3) : row.group(2);
                final String key = row.group(1) + "=" + value;
                compared++;
                if (!Channel.parse(uri + "|" + key).equals(Channel.parse(uri))) {
                    complaints.add("docs/channel.md: not the default: " + key);
                }
            }
        }
        assertEquals(List.of(), complaints);
        assertTrue(compared > 20, "rows with a default: " + compared);
    }

    private static Set<String> figures(final Collection<String> lines) {
        return lines.stream()
                .flatMap(line ->
                        FIGURE.matcher(line.replaceAll("\\]\\([^)]*\\)", "]")).results())
                .map(found -> found.group().replaceAll("[ ,](?=\\d{3})", ""))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
