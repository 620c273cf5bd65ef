package io.framecast.samples.demo;

import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.random.RandomGenerator;

/// Finds UDP ports for a run of the demo, so that two demos on one machine do not hear each other.
final class FreePorts {
    /// Below the range from which systems give out ports by themselves.
    private static final int FIRST = 20_000;

    private static final int LAST = 32_000;
    private static final int TRIES_MAX = 200;
    private static final int LANES = 3;

    private FreePorts() {}

    /// The first of three consecutive ports on which nothing listens now.
    ///
    /// @throws ConfigException when none was found in a bounded number of tries
    static int triple(final RandomGenerator random) {
        for (int i = 0; i < TRIES_MAX; i++) {
            final int port = random.nextInt(FIRST, LAST);
            if (areFree(port)) {
                return port;
            }
        }
        throw new ConfigException("no three free UDP ports in a row between " + FIRST + " and " + LAST);
    }

    private static boolean areFree(final int first) {
        for (int port = first; port < first + LANES; port++) {
            try (DatagramSocket socket = new DatagramSocket(null)) {
                // Without this, a port that others share by SO_REUSEADDR would look free.
                socket.setReuseAddress(false);
                socket.bind(new InetSocketAddress(port));
            } catch (final IOException e) {
                return false;
            }
        }
        return true;
    }
}
