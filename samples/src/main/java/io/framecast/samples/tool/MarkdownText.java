package io.framecast.samples.tool;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/// A page of docs/ as plain text: tables in columns, without the marks of Markdown.
final class MarkdownText {
    private static final Pattern LINK = Pattern.compile("\\[([^]]*)]\\([^)]*\\)");
    private static final String SPACE = "  ";

    private final int columns;
    private final StringBuilder text = new StringBuilder();
    private final List<List<String>> table = new ArrayList<>();

    private MarkdownText(final int columns) {
        this.columns = columns;
    }

    /// @param columns of the terminal; the last column of a table is wrapped there
    static String of(final String page, final int columns) {
        final MarkdownText plain = new MarkdownText(columns);
        page.lines().forEach(plain::line);
        plain.endTable();
        return plain.text.toString();
    }

    private void line(final String line) {
        if (line.startsWith("|")) {
            if (!line.startsWith("|---")) {
                table.add(Arrays.stream(line.substring(1).split("\\|", -1))
                        .map(cell -> plain(cell).strip())
                        .toList());
            }
            return;
        }
        endTable();
        if (!line.startsWith("```")) {
            text.append(plain(line.replaceFirst("^#+ ", ""))).append('\n');
        }
    }

    private static String plain(final String marked) {
        return LINK.matcher(marked).replaceAll("$1").replace("`", "");
    }

    private void endTable() {
        if (table.isEmpty()) {
            return;
        }
        // A row ends with a bar, behind which nothing stands.
        final int last = table.getFirst().size() - 2;
        final int[] widths = new int[last];
        for (final List<String> row : table) {
            for (int i = 0; i < last; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        final int indent =
                Arrays.stream(widths).map(width -> width + SPACE.length()).sum() + SPACE.length();
        for (final List<String> row : table) {
            text.append(SPACE);
            for (int i = 0; i < last; i++) {
                text.append(row.get(i))
                        .append(" ".repeat(widths[i] - row.get(i).length()))
                        .append(SPACE);
            }
            wrap(row.get(last), indent);
        }
        table.clear();
    }

    private void wrap(final String cell, final int indent) {
        int at = indent;
        for (final String word : cell.split(" ", -1)) {
            if (at > indent && at + 1 + word.length() > columns) {
                text.append('\n').append(" ".repeat(indent));
                at = indent;
            } else if (at > indent) {
                text.append(' ');
                at++;
            }
            text.append(word);
            at += word.length();
        }
        text.append('\n');
    }
}
