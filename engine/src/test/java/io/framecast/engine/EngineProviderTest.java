package io.framecast.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Framecast;
import io.framecast.api.error.ConfigException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class EngineProviderTest {
    /// Launches a node; run in a JVM of its own.
    static final class Launch {
        private Launch() {}

        public static void main(final String[] arguments) {
            try (Framecast node = Framecast.launch()) {
                System.out.println("launched " + (node.doWork() >= 0));
            } catch (final ConfigException | IllegalStateException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    private static String launch(final List<String> flags) throws Exception {
        final List<String> command = new java.util.ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Launch.class.getName()));
        final Process process = new ProcessBuilder(command).start();
        process.getOutputStream().close();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor());
        return output;
    }

    @Test
    void shouldNameFlagThatIsMissing() throws Exception {
        final String line = launch(List.of());
        assertTrue(
                line.startsWith("JVM: the flag --add-opens java.base/jdk.internal.misc=ALL-UNNAMED is missing"), line);
        assertTrue(line.contains("java @framecast.args"), line);
        assertEquals(1, line.lines().count(), line);
    }

    @Test
    void shouldLaunchWithFlagsOfFile() throws Exception {
        // With threads of its own the node refuses doWork, which shows that it runs.
        final String line = launch(List.of("@../framecast.args"));
        assertTrue(line.contains("INVOKER"), line);
    }
}
