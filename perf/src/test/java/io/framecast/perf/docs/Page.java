package io.framecast.perf.docs;

import io.framecast.rules.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A page of documentation: README.md and others at the top, and those of `docs` but for decision records, which are
/// history.
///
/// @param path in the repository
record Page(String path, List<String> lines) {
    private static final List<String> TOP = List.of("README.md", "CONTRIBUTING.md", "SECURITY.md");
    private static final String FENCE = "```";
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern HEADING = Pattern.compile("#+ (.*)");

    /// Code on a page: a span between backticks, or a line of a fenced block, with the lines that a backslash joins.
    ///
    /// @param before text of the line before it
    /// @param fenced whether it stands in a fenced block
    record Code(String where, String text, String before, boolean fenced) {}

    static Page of(final String path) {
        try {
            return new Page(path, Files.readAllLines(Repository.ROOT.resolve(path)));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Page> all() {
        return Stream.concat(TOP.stream().map(Page::of), in("docs").stream()).toList();
    }

    static List<Page> decisions() {
        return in("docs/adr");
    }

    private static List<Page> in(final String directory) {
        try (Stream<Path> pages = Files.list(Repository.ROOT.resolve(directory))) {
            return pages.map(page -> directory + "/" + page.getFileName())
                    .filter(page -> page.endsWith(".md"))
                    .sorted()
                    .map(Page::of)
                    .toList();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<Code> code() {
        final List<Code> all = new ArrayList<>();
        boolean fenced = false;
        for (int i = 0; i < lines.size(); i++) {
            final String where = path + ":" + (i + 1);
            if (lines.get(i).strip().startsWith(FENCE)) {
                fenced = !fenced;
            } else if (fenced) {
                String joined = lines.get(i);
                while (joined.endsWith("\\") && i + 1 < lines.size()) {
                    joined = joined.substring(0, joined.length() - 1) + " "
                            + lines.get(++i).strip();
                }
                all.add(new Code(where, joined, "", true));
            } else {
                final Matcher span = SPAN.matcher(lines.get(i));
                while (span.find()) {
                    all.add(new Code(
                            where,
                            span.group(1).replace("\\|", "|"),
                            lines.get(i).substring(0, span.start()),
                            false));
                }
            }
        }
        return all;
    }

    /// The lines of the section under a heading, up to the next heading.
    List<String> section(final String heading) {
        final List<String> section = new ArrayList<>();
        boolean within = false;
        for (final String line : lines) {
            final Matcher found = HEADING.matcher(line);
            if (found.matches()) {
                within = found.group(1).equals(heading);
            } else if (within) {
                section.add(line);
            }
        }
        if (section.isEmpty()) {
            throw new IllegalArgumentException(path + ": no section " + heading);
        }
        return section;
    }

    /// The anchors of its headings, as GitHub makes them.
    List<String> anchors() {
        return lines.stream()
                .map(HEADING::matcher)
                .filter(Matcher::matches)
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                        .replace(' ', '-'))
                .toList();
    }
}
