package io.framecast.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.rules.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

final class ChannelKeyTest {
    private static final String URI = "framecast:auto?group=224.0.0.1:5";
    // Of rows whose default is a text of the key, such as | `rate` | 0: by credit alone |.
    private static final Pattern ROW = Pattern.compile("\\| `([a-z-]+)` \\| (?:`(\\w+)`|(\\d+))(?: \\||:)");

    @Test
    void shouldHaveTheDefaultsOfItsPage() throws IOException {
        int rows = 0;
        for (final String line : Files.readAllLines(Repository.ROOT.resolve("docs/channel.md"))) {
            final Matcher row = ROW.matcher(line);
            if (row.lookingAt()) {
                final String text = row.group(2) == null ? row.group(3) : row.group(2);
                assertEquals(Channel.parse(URI), Channel.parse(URI + "|" + row.group(1) + "=" + text), line);
                rows++;
            }
        }
        assertTrue(rows > 25, rows + " rows");
    }

    @Test
    void shouldBeWrittenAsItsConstant() {
        for (final ChannelKey key : ChannelKey.values()) {
            assertEquals(
                    key, ChannelKey.valueOf(key.key().toUpperCase(Locale.ROOT).replace('-', '_')));
            assertEquals(key, ChannelKey.find(key.key()));
        }
    }
}
