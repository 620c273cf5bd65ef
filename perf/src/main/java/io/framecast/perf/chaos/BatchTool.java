package io.framecast.perf.chaos;

import io.framecast.perf.harness.Child;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// `tc` or `ip` of iproute2, reading its commands from a pipe (`-batch -`): it is there already when something is to
/// be done at once, and goes before all others. Where a CPU is emulated a process takes 0.7 s to start, and longer
/// where others want that CPU too, in which a fault would last on.
///
/// One thread.
final class BatchTool implements AutoCloseable {
    private static final long ANSWER_MAX_SECONDS = 20;
    // Where that is not allowed it goes on like all others, without a word, which would pass for an answer.
    private static final String FIRST = "renice -n -20 -p $$ >/dev/null 2>&1; exec \"$@\"";

    private final String name;
    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    /// @param command the tool, with options that are to come before `-batch`
    BatchTool(final String... command) throws IOException {
        name = command[0];
        final List<String> words = new ArrayList<>(List.of("sh", "-c", FIRST, "sh"));
        words.addAll(List.of(command));
        words.addAll(List.of("-force", "-batch", "-"));
        process = new ProcessBuilder(words).redirectErrorStream(true).start();
        commands = process.outputWriter();
        Thread.ofPlatform()
                .daemon()
                .name(name + "-batch")
                .start(() -> Child.read(process.inputReader(), line -> answers.add(line.strip())));
    }

    /// Has a command done that says nothing where all is well, and sees by another what came of it.
    ///
    /// @param look says one line
    /// @return that line; or the first of what is wrong with either, and then it is not to be used again
    /// @throws IOException when it says nothing, for it is gone or hangs
    String run(final String command, final String look) throws IOException {
        try {
            commands.write(command + "\n" + look + "\n");
            commands.flush();
            final @Nullable String answer = answers.poll(ANSWER_MAX_SECONDS, TimeUnit.SECONDS);
            if (answer != null) {
                return answer;
            }
        } catch (final IOException e) {
            throw new IOException(name + " " + command + ": it has ended", e);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new IOException(name + " " + command + ": no answer");
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
