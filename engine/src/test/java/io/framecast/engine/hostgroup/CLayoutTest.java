package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// The layout of `clients/c` is written from [SegmentLayout] and [GroupMessage], so that a place which moves here
/// cannot stay behind there. `main` writes the file, and so does the test with `-Dframecast.layout=write`.
final class CLayoutTest {
    private static final String FILE = "clients/c/src/segment_layout.h";
    private static final String PREFIX = "FC_LAYOUT_";

    @Test
    void shouldAgreeWithTheHeaderOfTheCClient() throws IOException, IllegalAccessException {
        final Path header = header();
        if ("write".equals(System.getProperty("framecast.layout"))) {
            Files.writeString(header, text());
        }
        assertEquals(
                text(),
                Files.readString(header),
                () -> "run this test once with -Dframecast.layout=write, and look at what changes in " + FILE);
    }

    public static void main(final String[] arguments) throws IOException, IllegalAccessException {
        Files.writeString(header(), text());
    }

    // Tests run in their module's directory, `main` anywhere in the project.
    private static Path header() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve("clients"))) {
            directory = directory.getParent();
        }
        return directory.resolve(FILE);
    }

    private static String text() throws IllegalAccessException {
        final StringBuilder text = new StringBuilder(4096)
                .append("/* Written by CLayoutTest.java from SegmentLayout.java and GroupMessage.java. */\n")
                .append("#ifndef FC_SEGMENT_LAYOUT_H\n#define FC_SEGMENT_LAYOUT_H\n\n");
        defineAll(text, SegmentLayout.class, "");
        define(text, "TABLE_PLACE", SegmentLayout.entry(0));
        define(text, "METADATA_PLACE", SegmentLayout.metadata(0));
        define(text, "MEMBERS_PLACE", SegmentLayout.member(0));
        define(text, "DEVICES_PLACE", SegmentLayout.device(0));
        define(text, "FORMATS_PLACE", SegmentLayout.format(1));
        define(text, "WORDS_BYTES", SegmentLayout.wordsBytes());
        text.append('\n');
        defineAll(text, GroupMessage.class, "MESSAGE_");
        return text.append("\n#endif\n").toString();
    }

    private static void defineAll(final StringBuilder text, final Class<?> source, final String group)
            throws IllegalAccessException {
        for (final Field field : source.getDeclaredFields()) {
            final boolean number = field.getType() == int.class || field.getType() == long.class;
            if (number && Modifier.isStatic(field.getModifiers()) && Modifier.isFinal(field.getModifiers())) {
                field.setAccessible(true);
                define(text, group + field.getName(), field.getLong(null));
            }
        }
    }

    private static void define(final StringBuilder text, final String name, final long value) {
        text.append("#define ")
                .append(PREFIX)
                .append(name)
                .append(" INT64_C(")
                .append(value)
                .append(")\n");
    }
}
