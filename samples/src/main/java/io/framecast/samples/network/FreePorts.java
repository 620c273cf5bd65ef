package io.framecast.samples.network;

import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.random.RandomGenerator;

/// Finds ports of UDP and TCP, so that two runs on one machine do not hear each other. One thread uses it.
public final class FreePorts {
    /// Below the range from which systems give out ports by themselves.
    private static final int FIRST = 26_000;

    private static final int LAST = 32_000;
    private static final int TRIES_MAX = 200;

    private int next;

    /// @param random where it begins to look
    public FreePorts(final RandomGenerator random) {
        next = random.nextInt(FIRST, LAST);
    }

    /// The first of so many consecutive ports on which nothing listens now. Ports of the run before, which may still
    /// get late datagrams, are given out again last.
    ///
    /// @throws ConfigException when none was found in a bounded number of tries
    public int range(final int count) {
        for (int i = 0; i < TRIES_MAX; i++) {
            final int first = next + count > LAST ? FIRST : next;
            next = first + count;
            if (areFree(first, count)) {
                return first;
            }
        }
        throw new ConfigException("no " + count + " free ports in a row between " + FIRST + " and " + LAST
                + "; end the processes that listen there");
    }

    private static boolean areFree(final int first, final int count) {
        for (int port = first; port < first + count; port++) {
            try (DatagramSocket udp = new DatagramSocket(null);
                    ServerSocket tcp = new ServerSocket()) {
                // Otherwise a port that other sockets share by SO_REUSEADDR would look free.
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
