package io.framecast.samples.demo;

import io.framecast.samples.ChildLauncher;
import io.framecast.samples.ChildOptions;
import io.framecast.samples.JavaCommand;
import io.framecast.samples.input.LineReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Children on the java command, class path and flags of this process. No child outlives it, however it ends:
/// each watches it (see [ChildOptions]).
public final class JavaChildLauncher implements ChildLauncher {
    private final String mainClass;
    private final List<String> prefix;

    /// @param mainClass the tool's
    public JavaChildLauncher(final String mainClass) {
        this(mainClass, List.of());
    }

    private JavaChildLauncher(final String mainClass, final List<String> prefix) {
        this.mainClass = mainClass;
        this.prefix = prefix;
    }

    @Override
    public ChildLauncher within(final List<String> command) {
        return new JavaChildLauncher(mainClass, command);
    }

    @Override
    public Child launch(final List<String> arguments, final boolean stdin, final Consumer<String> lines)
            throws IOException {
        final List<String> command = command();
        command.addAll(arguments);
        command.add(ChildOptions.PARENT_OPTION);
        command.add(Long.toString(ProcessHandle.current().pid()));
        final ProcessBuilder builder = new ProcessBuilder(command);
        if (stdin) {
            builder.redirectInput(ProcessBuilder.Redirect.INHERIT);
        }
        return new JavaChild(builder.start(), lines);
    }

    private List<String> command() {
        final List<String> command = new ArrayList<>(prefix);
        command.addAll(JavaCommand.ofThisProcess());
        command.add(mainClass);
        return command;
    }

    /// A process with a thread for each of its outputs.
    private static final class JavaChild implements Child {
        private final Process process;
        private final Thread outputReader;
        private final Thread lineReader;
        private volatile String output = "";

        JavaChild(final Process process, final Consumer<String> lines) {
            this.process = process;
            this.outputReader =
                    Thread.ofPlatform().daemon().name("child-stdout").start(this::readOutput);
            this.lineReader = LineReader.start("child-stderr", process.getErrorStream(), lines);
        }

        private void readOutput() {
            try (InputStream stream = process.getInputStream()) {
                output = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (final IOException e) {
                // The child was killed: there is no report.
            }
        }

        @Override
        public boolean isAlive() {
            return process.isAlive() || outputReader.isAlive() || lineReader.isAlive();
        }

        @Override
        public int exitStatus() {
            return process.exitValue();
        }

        @Override
        public String output() {
            return output;
        }

        @Override
        public void stop() {
            // Process.destroy would also close the pipe that the report is to come through.
            process.toHandle().destroy();
        }

        @Override
        public void kill() {
            process.toHandle().destroyForcibly();
        }
    }
}
