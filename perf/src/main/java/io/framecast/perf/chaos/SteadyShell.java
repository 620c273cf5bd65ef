package io.framecast.perf.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;

/// A shell that is there already when something is to be done at once, and goes before all others: where a CPU
/// is emulated a JVM takes a second or more to start a process, and one that then waits its turn among those
/// who are under test takes seconds more. What is to last for some seconds would last for twice as long.
///
/// One thread.
final class SteadyShell implements AutoCloseable {
    private static final String STATUS = "=";
    private static final String FIRST = "-20";

    private final Process shell;
    private final Writer orders;
    private final BufferedReader answers;

    SteadyShell() throws IOException {
        shell = new ProcessBuilder("nice", "-n", FIRST, "sh")
                .redirectErrorStream(true)
                .start();
        orders = shell.outputWriter();
        answers = shell.inputReader();
    }

    /// Runs one line of commands to its end.
    ///
    /// @throws IOException when it does not end well; the message names it and says why
    void run(final String line) throws IOException {
        orders.write("{ " + line + "; } </dev/null; echo " + STATUS + "$?\n");
        orders.flush();
        String said = "";
        for (String answer = answers.readLine(); answer != null; answer = answers.readLine()) {
            if (answer.startsWith(STATUS)) {
                if (!answer.equals(STATUS + 0)) {
                    throw new IOException(
                            line + ": " + (said.isEmpty() ? "status " + answer.substring(STATUS.length()) : said));
                }
                return;
            }
            said = said.isEmpty() ? answer.strip() : said;
        }
        throw new IOException(line + ": its shell ended");
    }

    @Override
    public void close() {
        shell.destroyForcibly();
    }
}
