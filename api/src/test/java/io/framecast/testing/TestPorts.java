package io.framecast.testing;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

/// UDP ports for the channels of tests: no two channels of one process get the same, and no other process
/// listens on them.
public final class TestPorts {
    /// Below the range from which systems give out ports by themselves.
    private static final int FIRST = 16_000;

    private static final int LAST = 32_000;
    private static final int LANES = 3;

    /// Processes that run at the same time start apart from each other.
    private static final AtomicInteger NEXT =
            new AtomicInteger((int) (ProcessHandle.current().pid() * 61 % (LAST - FIRST)));

    private TestPorts() {}

    /// The first of three consecutive ports on which nothing listens now, as a channel's three lanes need.
    public static int triple() {
        for (int i = 0; i < LAST - FIRST; i++) {
            final int port = FIRST + NEXT.getAndAdd(LANES) % (LAST - FIRST - LANES);
            if (areFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no three free UDP ports in a row between " + FIRST + " and " + LAST);
    }

    private static boolean areFree(final int first) {
        for (int port = first; port < first + LANES; port++) {
            try (DatagramSocket socket = new DatagramSocket(null)) {
                // Otherwise a port that others share by SO_REUSEADDR would look free.
                socket.setReuseAddress(false);
                socket.bind(new InetSocketAddress(port));
            } catch (final IOException e) {
                return false;
            }
        }
        return true;
    }
}
