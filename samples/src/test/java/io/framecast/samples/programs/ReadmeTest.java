package io.framecast.samples.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// README.md says what [TenLines] and [NewestOnly] do, and that works.
class ReadmeTest {
    private static final String FENCE = "```";

    // The program also prints the result; the README need not.
    private static final List<String> LEFT_OUT =
            List.of("System.out.println(", "frame.length() + \" bytes on \" + subscriber.device().name());");

    @ParameterizedTest
    @CsvSource({"0, TenLines", "1, NewestOnly"})
    void shouldShowTheProgramThatIsCompiled(final int index, final String program) throws IOException {
        final Path source = Path.of("samples/src/main/java/io/framecast/samples/programs", program + ".java");
        assertEquals(
                programLines(Files.readString(repository().resolve(source))),
                readmeLines(Files.readString(repository().resolve("README.md")), index));
    }

    @Test
    void shouldCarryAFrameFromHostToDevice() {
        TenLines.main(new String[0]);
    }

    @Test
    void shouldShowTheNewestFrame() {
        NewestOnly.main(new String[0]);
    }

    private static List<String> readmeLines(final String readme, final int index) {
        int start = -1;
        for (int i = 0; i <= index; i++) {
            start = readme.indexOf(FENCE + "java", start + 1);
            assertTrue(start >= 0, "no Java in README.md");
        }
        return readme.substring(start, readme.indexOf(FENCE, start + FENCE.length()))
                .lines()
                .skip(1)
                .map(String::strip)
                .toList();
    }

    private static List<String> programLines(final String program) {
        final List<String> lines = program.substring(program.indexOf("final Channel channel"))
                .lines()
                .map(String::strip)
                .filter(line -> !LEFT_OUT.contains(line))
                .toList();
        // The ends of the method and of the class.
        return lines.subList(0, lines.size() - 2);
    }

    private static Path repository() {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("mvnw"))) {
            at = at.getParent();
        }
        return at;
    }
}
