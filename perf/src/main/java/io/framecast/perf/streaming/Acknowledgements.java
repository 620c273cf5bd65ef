package io.framecast.perf.streaming;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Acknowledgements of receivers to the source, frame by frame, the same for every scheme: so as many frames
/// are under way with each.
final class Acknowledgements implements AutoCloseable {
    private static final long SILENCE_MAX_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long LOOK_MS = 500;
    private static final int ROOM = 64 * Long.BYTES;

    private final ServerSocketChannel server;
    private final Selector selector;
    private final List<Peer> peers = new ArrayList<>();

    /// One receiver.
    private static final class Peer {
        private final SocketChannel channel;
        private final ByteBuffer bytes = ByteBuffer.allocate(ROOM);
        private long newest = -1;
        // It may leave when it has the last frame, while others do not yet.
        private boolean gone;

        Peer(final SocketChannel channel) {
            this.channel = channel;
        }

        void read() {
            try {
                gone = channel.read(bytes) < 0;
            } catch (final IOException e) {
                gone = true;
            }
            bytes.flip();
            while (bytes.remaining() >= Long.BYTES) {
                newest = bytes.getLong();
            }
            bytes.compact();
        }
    }

    Acknowledgements(final StreamingSpec spec) throws IOException {
        server = Connections.listen(spec.stream().link().sourceAddress(), spec.acknowledgementPort());
        selector = Selector.open();
    }

    /// Waits until all receivers have connected.
    void accept(final int receivers) throws IOException {
        final List<Integer> ranks = new ArrayList<>();
        for (int i = 0; i < receivers; i++) {
            ranks.add(i);
        }
        for (final SocketChannel channel : Connections.accept(server, ranks)) {
            final Peer peer = new Peer(channel);
            peers.add(peer);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, peer);
        }
    }

    /// Waits until every receiver has this frame and all before it.
    ///
    /// @param number negative for none
    /// @throws IllegalStateException when nothing is heard for long, or a receiver left without it
    void await(final long number) {
        try {
            long endNs = System.nanoTime() + SILENCE_MAX_NS;
            while (!haveAll(number)) {
                if (selector.select(LOOK_MS) > 0) {
                    for (final SelectionKey key : selector.selectedKeys()) {
                        read(key);
                    }
                    selector.selectedKeys().clear();
                    endNs = System.nanoTime() + SILENCE_MAX_NS;
                } else if (System.nanoTime() - endNs > 0) {
                    throw new IllegalStateException("frame " + number + " was not acknowledged");
                }
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void read(final SelectionKey key) {
        if (key.attachment() instanceof Peer peer) {
            peer.read();
            if (peer.gone) {
                key.cancel();
            }
        }
    }

    private boolean haveAll(final long number) {
        boolean all = true;
        for (final Peer peer : peers) {
            if (peer.newest < number) {
                if (peer.gone) {
                    throw new IllegalStateException("a receiver left before it had frame " + number);
                }
                all = false;
            }
        }
        return all;
    }

    @Override
    public void close() throws IOException {
        server.close();
        selector.close();
        for (final Peer peer : peers) {
            peer.channel.close();
        }
    }

    /// The other end.
    static final class Sending implements AutoCloseable {
        private final SocketChannel channel;
        private final ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES);

        Sending(final StreamingSpec spec) throws IOException {
            channel = Connections.connect(
                    spec.stream().link().sourceAddress(),
                    spec.acknowledgementPort(),
                    spec.stream().index());
        }

        void acknowledge(final long number) {
            try {
                Connections.writeFully(channel, bytes.clear().putLong(0, number));
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
