package io.framecast.engine.hostgroup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Processes of this host by their numbers, which mean something in one PID namespace alone: containers have
/// numbers of their own.
final class Processes {
    private static final long NAMESPACE = readNamespace();

    private Processes() {}

    // The link reads "pid:[4026531836]" (pid_namespaces(7)).
    private static long readNamespace() {
        try {
            final String link =
                    Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
            return Long.parseLong(link.substring(link.indexOf('[') + 1, link.indexOf(']')));
        } catch (final IOException | NumberFormatException | IndexOutOfBoundsException e) {
            return 0;
        }
    }

    /// The PID namespace of this process; 0 where the system shows none.
    static long namespace() {
        return NAMESPACE;
    }

    /// Whether numbers of a PID namespace's processes mean the same here.
    static boolean isNeighbour(final long namespace) {
        return namespace != 0 && namespace == NAMESPACE;
    }

    /// Whether a process of this PID namespace has its memory and its files. A process that ends loses its memory
    /// first, and the memory of its devices with the files: a reader that finds it here knows that its shared
    /// memory was there until now.
    static boolean isWhole(final long process) {
        try {
            Files.readSymbolicLink(Path.of("/proc/" + process + "/exe"));
            return true;
        } catch (final IOException e) {
            return false;
        }
    }
}
