package io.framecast.testing;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/// Ports for the channels and connections of tests: no two of this machine's test processes get the same, and no other
/// process listens on them.
public final class TestPorts {
    /// Below the range from which systems give out ports by themselves.
    private static final int FIRST = 16_000;

    /// Where those begin that the tools look for themselves.
    private static final int LAST = 26_000;

    private static final int LANES = 3;

    /// The first number of the guards, one for each triple: below the ports of triples, so in no test's way.
    private static final int FIRST_GUARD = 10_000;

    /// One guard for each triple that this process has: a TCP socket bound to the triple's own number. The system
    /// closes it with the process, however that ends.
    private static final List<Socket> GUARDS = new ArrayList<>();

    // A triple that this process looked at is its own or another's.
    private static int next = FIRST;

    private TestPorts() {}

    /// The first of three consecutive ports on which nothing listens, as a channel's three lanes need. They belong to
    /// this process until it ends.
    public static int triple() {
        return range(LANES);
    }

    /// The first of so many consecutive ports, as [#triple] has them.
    public static synchronized int range(final int count) {
        int first = next;
        while (next + LANES <= LAST) {
            final int port = next;
            next += LANES;
            first = guard(port) ? first : next;
            if (next - first >= count) {
                return first;
            }
        }
        throw new IllegalStateException("no " + count + " free ports in a row between " + FIRST + " and " + LAST
                + "; end the processes that listen there");
    }

    private static boolean guard(final int port) {
        final Socket guard = new Socket();
        try {
            guard.setReuseAddress(false);
            guard.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), FIRST_GUARD + (port - FIRST) / LANES));
            if (areFree(port)) {
                GUARDS.add(guard);
                return true;
            }
            guard.close();
        } catch (final IOException e) {
            close(guard);
        }
        return false;
    }

    private static void close(final Socket guard) {
        try {
            guard.close();
        } catch (final IOException e) {
            // It was not bound: another process has this triple.
            return;
        }
    }

    private static boolean areFree(final int first) {
        for (int port = first; port < first + LANES; port++) {
            try (DatagramSocket udp = new DatagramSocket(null);
                    ServerSocket tcp = new ServerSocket()) {
                // Otherwise a port that others share by SO_REUSEADDR would look free.
                udp.setReuseAddress(false);
                udp.bind(new InetSocketAddress(port));
                // A connection that has just ended keeps no socket from listening.
                tcp.setReuseAddress(true);
                tcp.bind(new InetSocketAddress(port));
            } catch (final IOException e) {
                return false;
            }
        }
        return true;
    }
}
