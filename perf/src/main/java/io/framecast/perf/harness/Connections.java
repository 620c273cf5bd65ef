package io.framecast.perf.harness;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Blocking TCP connections between the processes of a stream; each begins with the rank of the process that
/// connects.
public final class Connections {
    private static final long CONNECT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long CONNECT_MAX_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int ACCEPT_MAX_MS = 30_000;

    private Connections() {}

    /// Listens, so that others can connect.
    public static ServerSocketChannel listen(final String address, final int port) throws IOException {
        final ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(new InetSocketAddress(InetAddress.ofLiteral(address), port));
            return server;
        } catch (final IOException e) {
            server.close();
            throw new IOException("port " + port + ": " + e.getMessage(), e);
        }
    }

    /// Takes a connection from each of some others.
    ///
    /// @param ranks of those that will connect
    /// @return theirs, in this order
    public static List<SocketChannel> accept(final ServerSocketChannel server, final List<Integer> ranks)
            throws IOException {
        final Map<Integer, SocketChannel> found = new HashMap<>();
        server.socket().setSoTimeout(ACCEPT_MAX_MS);
        try {
            while (found.size() < ranks.size()) {
                // By the socket, whose time limit counts.
                final SocketChannel channel = server.socket().accept().getChannel();
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                final ByteBuffer hello = ByteBuffer.allocate(Integer.BYTES);
                readFully(channel, hello);
                final int rank = hello.getInt(0);
                if (!ranks.contains(rank) || found.putIfAbsent(rank, channel) != null) {
                    channel.close();
                    throw new IOException("an unknown process connected, as " + rank);
                }
            }
            return ranks.stream().map(found::get).toList();
        } catch (final IOException e) {
            closeAll(found.values());
            throw e;
        }
    }

    /// Connects to one that may not listen yet.
    ///
    /// @param receiveBufferBytes 0 for the kernel to size
    public static SocketChannel connect(
            final String address, final int port, final int rank, final int receiveBufferBytes) throws IOException {
        final long endNs = System.nanoTime() + CONNECT_MAX_NS;
        while (true) {
            final SocketChannel channel = SocketChannel.open();
            try {
                if (receiveBufferBytes > 0) {
                    channel.setOption(StandardSocketOptions.SO_RCVBUF, receiveBufferBytes);
                }
                channel.connect(new InetSocketAddress(InetAddress.ofLiteral(address), port));
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                writeFully(channel, ByteBuffer.allocate(Integer.BYTES).putInt(0, rank));
                return channel;
            } catch (final IOException e) {
                channel.close();
                if (System.nanoTime() - endNs > 0) {
                    throw new IOException("port " + port + ": " + e.getMessage(), e);
                }
                LockSupport.parkNanos(CONNECT_PAUSE_NS);
            }
        }
    }

    public static void readFully(final SocketChannel channel, final ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                throw new EOFException("the process before this one is gone");
            }
        }
    }

    public static void writeFully(final SocketChannel channel, final ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    public static void closeAll(final Collection<SocketChannel> channels) throws IOException {
        for (final SocketChannel channel : channels) {
            channel.close();
        }
    }
}
