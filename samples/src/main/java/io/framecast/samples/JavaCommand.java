package io.framecast.samples;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The java command, flags and class path of this process, for processes of its own.
public final class JavaCommand {
    // Manifest entries do not count with a class path, so these are always passed.
    private static final List<String> NEEDED_FLAGS = List.of(
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");

    private JavaCommand() {}

    /// @param more flags of the child, behind those of this process
    /// @return a command that lacks the main class and its arguments
    public static List<String> ofThisProcess(final String... more) {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Agents (debuggers, coverage) listen on ports or files that only one process can have.
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> !flag.startsWith("-agent") && !flag.startsWith("-javaagent"))
                .filter(flag -> !flag.startsWith("-Xrun") && !NEEDED_FLAGS.contains(flag))
                .forEach(command::add);
        command.addAll(NEEDED_FLAGS);
        command.addAll(List.of(more));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        return command;
    }
}
