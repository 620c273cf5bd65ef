package io.framecast.engine.hostgroup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Which processes of this host live.
final class Processes {
    private Processes() {}

    /// Whether a process runs or stands still. One that has ended and was not waited for does not live; one of another
    /// PID namespace is not seen.
    static boolean isAlive(final int process) {
        try {
            final String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
            // PID (NAME) STATE: the name may hold anything (proc(5)).
            final char state = stat.charAt(stat.lastIndexOf(')') + 2);
            return state != 'Z' && state != 'X';
        } catch (final IOException | StringIndexOutOfBoundsException e) {
            return false;
        }
    }
}
