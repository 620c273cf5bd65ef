package io.framecast.samples;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/// Starts processes of this same tool.
public interface ChildLauncher {
    /// @param arguments the command line behind `framecast`
    /// @param stdin whether the child reads this process's standard input
    /// @param lines takes its standard error, line by line, on a thread of the launcher's
    /// @throws IOException when the process cannot be started
    Child launch(List<String> arguments, boolean stdin, Consumer<String> lines) throws IOException;

    /// The same, with a command in front of each child's: one that runs another in the same process, on another host.
    default ChildLauncher within(final List<String> prefix) {
        return this;
    }

    /// A started process.
    interface Child {
        boolean isAlive();

        /// Once it is no longer alive; 128 + n when signal n ended it.
        int exitStatus();

        /// Its standard output, complete once it is no longer alive.
        String output();

        /// Asks it to finish: SIGTERM.
        void stop();

        /// Ends it at once: SIGKILL. Harmless when it has ended.
        void kill();
    }
}
