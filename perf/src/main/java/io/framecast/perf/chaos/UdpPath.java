package io.framecast.perf.chaos;

import io.framecast.api.provider.PseudoFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A way by which datagrams reach a socket: where they must be sent to, and which sender they must seem to
/// come from.
///
/// @param fromPort 0: the socket takes datagrams from any sender
record UdpPath(String to, int toPort, String from, int fromPort) {
    private static final int LOCAL_FIELD = 1;
    private static final int REMOTE_FIELD = 2;
    private static final int HEX = 16;
    private static final String ANY = "0.0.0.0";

    /// The paths to all UDP sockets of the network namespace that a process is in.
    ///
    /// @param address its host's
    static List<UdpPath> ofProcess(final long pid, final String address) throws IOException {
        final List<UdpPath> paths = new ArrayList<>();
        for (final String line : PseudoFiles.read(Path.of("/proc/" + pid + "/net/udp"))
                .lines()
                .skip(1)
                .toList()) {
            final String[] fields = line.strip().split("\\s+", -1);
            final String local = address(fields[LOCAL_FIELD]);
            paths.add(new UdpPath(
                    local.equals(ANY) ? address : local,
                    port(fields[LOCAL_FIELD]),
                    address(fields[REMOTE_FIELD]),
                    port(fields[REMOTE_FIELD])));
        }
        return paths;
    }

    // Eight hex digits of the address as it lies in memory, a colon, the port.
    private static String address(final String field) {
        final long bits = Long.parseLong(field.substring(0, 8), HEX);
        return (bits & 0xff) + "." + ((bits >> 8) & 0xff) + "." + ((bits >> 16) & 0xff) + "." + ((bits >> 24) & 0xff);
    }

    private static int port(final String field) {
        return Integer.parseInt(field.substring(9), HEX);
    }

    /// The same, as if from `attacker` where the socket takes datagrams from any sender.
    UdpPath seenFrom(final String attacker) {
        return fromPort > 0 ? this : new UdpPath(to, toPort, attacker, toPort);
    }
}
