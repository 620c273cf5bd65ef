package io.framecast.engine.hostgroup;

import io.framecast.api.provider.PseudoFiles;
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
            final String stat = PseudoFiles.read(Path.of("/proc/" + process + "/stat"));
            // PID (NAME) STATE: the name may hold anything (proc(5)).
            final char state = stat.charAt(stat.lastIndexOf(')') + 2);
            return state != 'Z' && state != 'X';
        } catch (final IOException | StringIndexOutOfBoundsException e) {
            return false;
        }
    }

    /// Whether a process has its memory and its files. One that ends loses the memory first, and its devices'
    /// memory with the files: a reader that finds it here knows that what it shared was there until now.
    static boolean isWhole(final long process) {
        try {
            Files.readSymbolicLink(Path.of("/proc/" + process + "/exe"));
            return true;
        } catch (final IOException e) {
            return false;
        }
    }

    /// Whether a process's number means the same there as here: both are in one PID namespace.
    static boolean isNeighbour(final long process) {
        try {
            final Path own = Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
            return own.equals(Files.readSymbolicLink(Path.of("/proc/" + process + "/ns/pid")));
        } catch (final IOException e) {
            return false;
        }
    }
}
