package io.framecast.samples.demo;

import io.framecast.samples.ChildLauncher;
import io.framecast.samples.CommandException;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.json.Json;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One process of the demo: its lines go on under its name, its progress is kept, its end is judged.
final class DemoChild {
    private static final int SIGNAL_BASE = 128;

    private final String name;
    private final Console console;
    private final ChildLauncher.Child child;
    private final Set<String> shown;
    private volatile String lastLine = "";
    private volatile String progress = "";
    private volatile long progressedNs = System.nanoTime();

    /// @param prefix command that runs the child on its host
    /// @param stdin whether the child reads this process's standard input
    /// @param shown lines that a child has printed: a concurrent set, shared by all children of a run
    DemoChild(
            final String name,
            final List<String> prefix,
            final List<String> arguments,
            final boolean stdin,
            final Environment environment,
            final Set<String> shown)
            throws IOException {
        this.shown = shown;
        this.name = name;
        this.console = environment.console();
        this.child = environment.children().within(prefix).launch(arguments, stdin, this::onLine);
    }

    /// A line that several children print (the chosen device) is shown once; complaints come in the result.
    private void onLine(final String line) {
        if (line.startsWith(Console.PROGRESS_MARK)) {
            final String said = line.substring(Console.PROGRESS_MARK.length());
            if (!said.equals(progress)) {
                progress = said;
                progressedNs = System.nanoTime();
            }
        } else if (!line.isBlank()) {
            lastLine = line.strip();
            progressedNs = System.nanoTime();
            if (!line.startsWith(Console.COMPLAINT) && shown.add(lastLine)) {
                console.line("[" + name + "] " + line);
            }
        }
    }

    String name() {
        return name;
    }

    boolean isAlive() {
        return child.isAlive();
    }

    void stop() {
        child.stop();
    }

    void kill() {
        child.kill();
    }

    /// Frames, bytes and activity, from the child's last line of progress.
    String progress() {
        return progress;
    }

    /// When it last printed a line, or its progress last changed, by `System.nanoTime()`.
    long progressedNs() {
        return progressedNs;
    }

    /// Once it has ended: the report of a child that did its work, with any result.
    @Nullable
    Map<?, ?> report() {
        return parsed() instanceof Map<?, ?> map && !map.containsKey("error") ? map : null;
    }

    /// Once it has ended without a report: why, and the status for it. A killed process is a lost peer.
    CommandException failure() {
        final int status = child.exitStatus();
        if (parsed() instanceof Map<?, ?> map && map.containsKey("error")) {
            return new CommandException(status, name + ": " + map.get("error"));
        }
        if (status > SIGNAL_BASE) {
            return new CommandException(ExitStatus.PEER_LOST, name + " was killed by signal " + (status - SIGNAL_BASE));
        }
        final String said = lastLine.isEmpty() ? "it said nothing" : lastLine;
        return new CommandException(
                ExitStatus.USAGE, name + " ended with status " + status + " and no report: " + said);
    }

    private @Nullable Object parsed() {
        try {
            return Json.parse(child.output());
        } catch (final IllegalArgumentException e) {
            return null;
        }
    }
}
