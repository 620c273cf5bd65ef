package io.framecast.engine.libc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SequencedMap;

/// A header of `clients/c` with constants of Java, so that a place which moves in Java cannot stay behind in C.
/// A test that compares writes the file with `-Dframecast.layout=write`.
public final class CHeader {
    private final String file;
    private final String prefix;
    private final StringBuilder text = new StringBuilder(4096);

    /// @param file of the project, such as `clients/c/src/segment_layout.h`
    /// @param origin the first line: what wrote it from what
    /// @param guard macro that says that it is included
    /// @param prefix of each constant
    public CHeader(final String file, final String origin, final String guard, final String prefix) {
        this.file = file;
        this.prefix = prefix;
        text.append("/* ").append(origin).append(" */\n");
        text.append("#ifndef ").append(guard).append("\n#define ").append(guard).append("\n\n");
    }

    /// All numbers that a class has as constants, in their order.
    public CHeader defineAll(final Class<?> source, final String group) throws IllegalAccessException {
        for (final Field field : source.getDeclaredFields()) {
            final boolean number = field.getType() == int.class || field.getType() == long.class;
            if (number && Modifier.isStatic(field.getModifiers()) && Modifier.isFinal(field.getModifiers())) {
                field.setAccessible(true);
                define(group + field.getName(), field.getLong(null));
            }
        }
        return this;
    }

    public CHeader define(final String name, final long value) {
        text.append("#define ").append(prefix).append(name);
        text.append(" INT64_C(").append(value).append(")\n");
        return this;
    }

    /// A macro that calls its argument for each row, with the row's name and its text.
    ///
    /// @param rows text by name
    public CHeader defineRows(final String name, final SequencedMap<String, String> rows) {
        text.append("#define ").append(prefix).append(name).append("(ROW)");
        rows.forEach((row, value) -> text.append(" \\\n    ROW(")
                .append(row)
                .append(", \"")
                .append(value)
                .append("\")"));
        return emptyLine();
    }

    public CHeader emptyLine() {
        text.append('\n');
        return this;
    }

    /// Fails where the file has another text.
    public void shouldBeWritten() throws IOException {
        final String wanted = text + "\n#endif\n";
        if ("write".equals(System.getProperty("framecast.layout"))) {
            Files.writeString(path(), wanted);
        }
        assertEquals(
                wanted,
                Files.readString(path()),
                () -> "run this test once with -Dframecast.layout=write, and look at what changes in " + file);
    }

    // Tests run in their module's directory.
    private Path path() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve("clients"))) {
            directory = directory.getParent();
        }
        return directory.resolve(file);
    }
}
