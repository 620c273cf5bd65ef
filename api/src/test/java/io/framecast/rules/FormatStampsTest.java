package io.framecast.rules;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FormatStampsTest {
    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void write() {
        file = directory.resolve("target").resolve("stamps");
        final FormatStamps first = FormatStamps.read(file, "formatter 1");
        assertFalse(first.has("class A {}\n"));
        first.add("class A {}\n");
        first.add("class B {}\n");
        first.write();
    }

    @Test
    void shouldKnowATextThatWasFormatted() {
        final FormatStamps stamps = FormatStamps.read(file, "formatter 1");
        assertTrue(stamps.has("class A {}\n"));
        assertFalse(stamps.has("class A { }\n"));
    }

    @Test
    void shouldForgetATextThatIsGone() {
        final FormatStamps stamps = FormatStamps.read(file, "formatter 1");
        assertTrue(stamps.has("class A {}\n"));
        stamps.write();
        final FormatStamps later = FormatStamps.read(file, "formatter 1");
        assertTrue(later.has("class A {}\n"));
        assertFalse(later.has("class B {}\n"));
    }

    @Test
    void shouldKnowNothingOfAnotherFormatter() {
        assertFalse(FormatStamps.read(file, "formatter 2").has("class A {}\n"));
    }

    @Test
    void shouldKnowNothingWhenTheFileIsEmpty() throws IOException {
        Files.writeString(file, "");
        assertFalse(FormatStamps.read(file, "formatter 1").has("class A {}\n"));
    }
}
