package io.framecast.perf.streaming;

import io.framecast.perf.harness.Connections;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Acknowledgements of receivers to the source, frame by frame, the same for every scheme: so as many frames
/// are under way with each.
final class Acknowledgements implements AutoCloseable {
    private static final int SILENCE_MAX_MS = 20_000;

    private final ServerSocketChannel server;
    private final List<Peer> peers = new ArrayList<>();

    /// One receiver.
    private static final class Peer {
        private final SocketChannel channel;
        private final DataInputStream numbers;
        private long newest = -1;

        // By the socket, whose time limit counts.
        Peer(final SocketChannel channel) throws IOException {
            this.channel = channel;
            channel.socket().setSoTimeout(SILENCE_MAX_MS);
            numbers =
                    new DataInputStream(new BufferedInputStream(channel.socket().getInputStream()));
        }
    }

    Acknowledgements(final StreamingSpec spec) throws IOException {
        server = Connections.listen(spec.address(0), spec.acknowledgementPort());
    }

    /// Waits until all receivers have connected.
    void accept(final int receivers) throws IOException {
        final List<Integer> ranks = IntStream.range(0, receivers).boxed().toList();
        for (final SocketChannel channel : Connections.accept(server, ranks)) {
            peers.add(new Peer(channel));
        }
    }

    /// Waits until every receiver has this frame and all before it.
    ///
    /// @param number negative for none
    /// @throws IllegalStateException when nothing is heard for long, or a receiver left without it
    void await(final long number) {
        try {
            for (final Peer peer : peers) {
                while (peer.newest < number) {
                    peer.newest = peer.numbers.readLong();
                }
            }
        } catch (final SocketTimeoutException e) {
            throw new IllegalStateException("frame " + number + " was not acknowledged", e);
        } catch (final IOException e) {
            throw new IllegalStateException("a receiver left before it had frame " + number, e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        Connections.closeAll(peers.stream().map(peer -> peer.channel).toList());
    }

    /// The other end.
    static final class Sending implements AutoCloseable {
        private final SocketChannel channel;
        private final ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES);

        Sending(final StreamingSpec spec) throws IOException {
            channel = Connections.connect(spec.address(0), spec.acknowledgementPort(), spec.index(), 0);
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
