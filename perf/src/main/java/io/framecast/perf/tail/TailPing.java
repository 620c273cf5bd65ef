package io.framecast.perf.tail;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.Arrays;

/// Round trips of a small datagram between two processes while a stream runs: what the network takes, and
/// the time to wake a thread at either end. The subscriber answers on a thread of its own, the publisher
/// asks.
final class TailPing implements AutoCloseable {
    private static final int BYTES = 64;
    private static final int TIMEOUT_MS = 100;

    private final DatagramSocket socket;

    private TailPing(final DatagramSocket socket) {
        this.socket = socket;
    }

    /// Answers until it is closed.
    static TailPing answering(final String localAddress, final int port) throws IOException {
        final TailPing ping = new TailPing(open(localAddress, port));
        Thread.ofPlatform().daemon().name("ping-answer").start(() -> {
            final DatagramPacket packet = new DatagramPacket(new byte[BYTES], BYTES);
            try {
                while (true) {
                    ping.socket.receive(packet);
                    ping.socket.send(packet);
                }
            } catch (final IOException _) {
                // Closed.
            }
        });
        return ping;
    }

    static TailPing asking(final String localAddress) throws IOException {
        final TailPing ping = new TailPing(open(localAddress, 0));
        ping.socket.setSoTimeout(TIMEOUT_MS);
        return ping;
    }

    private static DatagramSocket open(final String localAddress, final int port) throws IOException {
        return new DatagramSocket(new InetSocketAddress(InetAddress.ofLiteral(localAddress), port));
    }

    /// @return the round trip in nanoseconds, or less than 0 when no answer came
    long ask(final String address, final int port) throws IOException {
        final byte[] bytes = new byte[BYTES];
        final long beginNs = System.nanoTime();
        for (int i = 0; i < Long.BYTES; i++) {
            bytes[i] = (byte) (beginNs >>> (i * Byte.SIZE));
        }
        final byte[] answer = new byte[BYTES];
        try {
            socket.send(new DatagramPacket(bytes, BYTES, InetAddress.ofLiteral(address), port));
            // Answers to earlier ones that were given up are passed over.
            do {
                socket.receive(new DatagramPacket(answer, BYTES));
            } while (!Arrays.equals(answer, bytes));
            return System.nanoTime() - beginNs;
        } catch (final SocketTimeoutException _) {
            return -1;
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
