package io.framecast.samples.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Recursive descent over one JSON text (RFC 8259), with a bound on nesting.
final class JsonReader {
    private static final int DEPTH_MAX = 64;

    private final String text;
    private int at;
    private int depth;

    JsonReader(final String text) {
        this.text = text;
    }

    @Nullable
    Object readAll() {
        final Object value = readValue();
        skipSpace();
        if (at < text.length()) {
            throw unexpected("the end");
        }
        return value;
    }

    private @Nullable Object readValue() {
        skipSpace();
        if (at == text.length()) {
            throw unexpected("a value");
        }
        return switch (text.charAt(at)) {
            case '{' -> readObject();
            case '[' -> readArray();
            case '"' -> readString();
            case 't' -> readWord("true", true);
            case 'f' -> readWord("false", false);
            case 'n' -> readWord("null", null);
            default -> readNumber();
        };
    }

    private Map<String, @Nullable Object> readObject() {
        final Map<String, @Nullable Object> map = new LinkedHashMap<>();
        enter();
        if (!take('}')) {
            do {
                skipSpace();
                final String key = readString();
                require(':');
                map.put(key, readValue());
            } while (take(','));
            require('}');
        }
        depth--;
        return map;
    }

    private List<@Nullable Object> readArray() {
        final List<@Nullable Object> list = new ArrayList<>();
        enter();
        if (!take(']')) {
            do {
                list.add(readValue());
            } while (take(','));
            require(']');
        }
        depth--;
        return list;
    }

    private void enter() {
        at++;
        if (++depth > DEPTH_MAX) {
            throw unexpected("at most " + DEPTH_MAX + " levels");
        }
    }

    private String readString() {
        if (at == text.length() || text.charAt(at) != '"') {
            throw unexpected("a string");
        }
        at++;
        final StringBuilder string = new StringBuilder();
        while (at < text.length() && text.charAt(at) != '"') {
            final char c = text.charAt(at++);
            if (c < 0x20) {
                throw unexpected("an escaped control character");
            }
            string.append(c == '\\' ? readEscape() : c);
        }
        if (at == text.length()) {
            throw unexpected("a closing quote");
        }
        at++;
        return string.toString();
    }

    private char readEscape() {
        if (at == text.length()) {
            throw unexpected("an escape");
        }
        final char c = text.charAt(at++);
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'u' -> readUnicode();
            default -> throw unexpected("an escape");
        };
    }

    private char readUnicode() {
        final int end = at + 4;
        if (end > text.length() || !text.substring(at, end).matches("[0-9a-fA-F]{4}")) {
            throw unexpected("four hex digits");
        }
        final char c = (char) Integer.parseInt(text.substring(at, end), 16);
        at = end;
        return c;
    }

    private @Nullable Object readWord(final String word, final @Nullable Object value) {
        if (!text.startsWith(word, at)) {
            throw unexpected(word);
        }
        at += word.length();
        return value;
    }

    private Number readNumber() {
        final int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        final String number = text.substring(start, at);
        if (number.matches("-?(0|[1-9]\\d{0,17})")) {
            return Long.valueOf(number);
        }
        if (!number.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) {
            at = start;
            throw unexpected("a value");
        }
        return Double.valueOf(number);
    }

    private boolean take(final char c) {
        skipSpace();
        final boolean found = at < text.length() && text.charAt(at) == c;
        if (found) {
            at++;
        }
        return found;
    }

    private void require(final char c) {
        if (!take(c)) {
            throw unexpected("'" + c + "'");
        }
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private IllegalArgumentException unexpected(final String expected) {
        return new IllegalArgumentException("JSON: expected " + expected + " at character " + at);
    }
}
