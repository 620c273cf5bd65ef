package io.framecast.samples.input;

import io.framecast.api.error.ConfigException;
import java.util.ArrayList;
import java.util.List;

/// Splits a line into words as a shell does: spaces separate, `'…'` keeps everything, `"…"` keeps all but `\"` and
/// `\\`, a backslash elsewhere keeps the next character. Nothing is expanded.
final class CommandWords {
    private final String line;
    private final List<String> words = new ArrayList<>();
    private final StringBuilder word = new StringBuilder();
    private boolean inWord;
    private int at;

    private CommandWords(final String line) {
        this.line = line;
    }

    /// @throws ConfigException when a quote is not closed
    static List<String> split(final String line) {
        return new CommandWords(line).split();
    }

    private List<String> split() {
        while (at < line.length()) {
            final char c = line.charAt(at++);
            if (Character.isWhitespace(c)) {
                endWord();
                continue;
            }
            inWord = true;
            switch (c) {
                case '\'', '"' -> readQuoted(c);
                case '\\' -> word.append(next("a character behind the last \\"));
                default -> word.append(c);
            }
        }
        endWord();
        return words;
    }

    private void readQuoted(final char quote) {
        char c = next("a closing " + quote);
        while (c != quote) {
            if (c == '\\' && quote == '"') {
                final char escaped = next("a closing " + quote);
                if (escaped != '"' && escaped != '\\') {
                    word.append('\\');
                }
                word.append(escaped);
            } else {
                word.append(c);
            }
            c = next("a closing " + quote);
        }
    }

    private char next(final String expected) {
        if (at == line.length()) {
            throw new ConfigException("expected " + expected + " in: " + line);
        }
        return line.charAt(at++);
    }

    private void endWord() {
        if (inWord) {
            words.add(word.toString());
            word.setLength(0);
            inWord = false;
        }
    }
}
