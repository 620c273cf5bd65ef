package io.framecast.samples.network;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/// Commands of the system, each under a limit of time.
public final class Shell {
    private static final long STEP_SECONDS = 20;

    private Shell() {}

    /// Runs a command to its end.
    ///
    /// @return its output
    /// @throws IOException when it cannot be run or does not end well; the message names it and the reason
    public static String run(final String... command) throws IOException {
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            process.getOutputStream().close();
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(STEP_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(String.join(" ", command) + ": still running after " + STEP_SECONDS + " s");
            }
            if (process.exitValue() != 0) {
                throw new IOException(String.join(" ", command) + ": "
                        + said.strip().lines().findFirst().orElse("status " + process.exitValue()));
            }
            return said;
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(String.join(" ", command) + ": interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }
}
