package io.framecast.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Commands of the JVMs that tests start. They live for seconds, so they run with the first compiler (C1) alone, and
/// put new objects into the same few pages again and again: a page's first use takes long.
public final class TestJvm {
    private TestJvm() {}

    /// @param words arguments of the main class
    public static List<String> command(final Class<?> main, final String... words) {
        return command(List.of(), main, words);
    }

    /// @param flags of the JVM, beside those that Framecast needs
    public static List<String> command(final List<String> flags, final Class<?> main, final String... words) {
        final List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-Xmn16m",
                "-XX:+IgnoreUnrecognizedVMOptions",
                "-XX:+UseTransparentHugePages",
                "--enable-native-access=ALL-UNNAMED",
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(words));
        return command;
    }
}
