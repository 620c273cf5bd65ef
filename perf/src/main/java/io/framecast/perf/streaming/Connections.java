package io.framecast.perf.streaming;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Blocking TCP connections between the processes of a stream; each begins by saying who connects.
final class Connections {
    private static final long CONNECT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long CONNECT_MAX_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int ACCEPT_MAX_MS = 30_000;

    private Connections() {}

    /// Listens, so that others can connect.
    static ServerSocketChannel listen(final String address, final int port) throws IOException {
        final ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(new InetSocketAddress(address, port));
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
    static List<SocketChannel> accept(final ServerSocketChannel server, final List<Integer> ranks) throws IOException {
        final List<@Nullable SocketChannel> found = new ArrayList<>();
        ranks.forEach(_ -> found.add(null));
        server.socket().setSoTimeout(ACCEPT_MAX_MS);
        try {
            for (int i = 0; i < ranks.size(); i++) {
                // By the socket, whose time limit counts.
                final SocketChannel channel = server.socket().accept().getChannel();
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                final ByteBuffer hello = ByteBuffer.allocate(Integer.BYTES);
                readFully(channel, hello);
                final int at = ranks.indexOf(hello.getInt(0));
                if (at < 0 || found.get(at) != null) {
                    channel.close();
                    throw new IOException("a stranger connected, as " + hello.getInt(0));
                }
                found.set(at, channel);
            }
            final List<SocketChannel> all = new ArrayList<>();
            for (final SocketChannel channel : found) {
                if (channel != null) {
                    all.add(channel);
                }
            }
            return all;
        } catch (final IOException e) {
            closeAll(found);
            throw e;
        }
    }

    /// Connects to one that may not listen yet.
    static SocketChannel connect(final String address, final int port, final int rank) throws IOException {
        final long endNs = System.nanoTime() + CONNECT_MAX_NS;
        while (true) {
            final SocketChannel channel = SocketChannel.open();
            try {
                channel.connect(new InetSocketAddress(address, port));
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                final ByteBuffer hello = ByteBuffer.allocate(Integer.BYTES).putInt(0, rank);
                writeFully(channel, hello);
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

    static void readFully(final SocketChannel channel, final ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                throw new EOFException("the process before this one is gone");
            }
        }
    }

    static void writeFully(final SocketChannel channel, final ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    static void closeAll(final List<? extends @Nullable SocketChannel> channels) throws IOException {
        for (final SocketChannel channel : channels) {
            if (channel != null) {
                channel.close();
            }
        }
    }
}
