package io.framecast.perf.rivals;

import io.framecast.perf.harness.Connections;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.ProcessCost;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// The first program that most would write: one thread, a non-blocking TCP connection to each receiver, every
/// frame written to each of them; each receiver reads into its ring of frames. Socket buffers are the kernel's
/// to size.
public final class TcpSystem implements MeasuredSystem {
    private static final String NAME = "tcp";
    private static final int RING_FRAMES = 3;
    // Small frames are read many at a time.
    private static final int RING_BYTES_MIN = 1 << 18;

    @Override
    public SourceReport publish(final StreamSpec spec, final Runnable gone) throws IOException {
        try (Arena arena = Arena.ofConfined();
                Selector selector = Selector.open()) {
            final MemorySegment frame = arena.allocate(spec.load().frameBytes(), Long.BYTES);
            FrameContent.fill(frame);
            final List<Connection> connections = accept(spec, selector, frame);
            try {
                final FrameSource source =
                        new FrameSource(spec, new ProcessCost(spec.link().device()));
                while (source.next()) {
                    FrameContent.stampEnds(frame, source.stamp());
                    write(connections, selector);
                }
                final SourceReport report = source.report(NAME, traffic(source, spec));
                gone.run();
                return report;
            } finally {
                for (final Connection connection : connections) {
                    connection.channel.close();
                }
            }
        }
    }

    private static FrameSource.Traffic traffic(final FrameSource source, final StreamSpec spec) {
        final long bytes =
                source.measuredFrames() * spec.load().receivers() * spec.load().frameBytes();
        return FrameSource.Traffic.ofConnections(bytes, spec.link().mtuBytes());
    }

    private static List<Connection> accept(final StreamSpec spec, final Selector selector, final MemorySegment frame)
            throws IOException {
        final List<Integer> ranks =
                IntStream.range(0, spec.load().receivers()).boxed().toList();
        final List<Connection> connections = new ArrayList<>();
        try (ServerSocketChannel server =
                Connections.listen(spec.link().sourceAddress(), spec.link().port())) {
            for (final SocketChannel channel : Connections.accept(server, ranks)) {
                if (spec.link().socketBufferBytes() != 0) {
                    channel.setOption(
                            StandardSocketOptions.SO_SNDBUF, spec.link().socketBufferBytes());
                }
                channel.configureBlocking(false);
                final SelectionKey key = channel.register(selector, 0);
                final Connection connection = new Connection(channel, key, frame.asByteBuffer());
                key.attach(connection);
                connections.add(connection);
            }
        }
        return connections;
    }

    // A connection that is full waits for the selector; the others go on.
    private static void write(final List<Connection> connections, final Selector selector) throws IOException {
        int unfinished = 0;
        for (final Connection connection : connections) {
            connection.bytes.rewind();
            unfinished += connection.write() ? 0 : 1;
        }
        while (unfinished > 0) {
            selector.select();
            for (final SelectionKey key : selector.selectedKeys()) {
                unfinished -= ((Connection) key.attachment()).write() ? 1 : 0;
            }
            selector.selectedKeys().clear();
        }
    }

    /// One receiver, as the publisher sees it.
    private record Connection(SocketChannel channel, SelectionKey key, ByteBuffer bytes) {
        /// @return whether the frame is written whole
        boolean write() throws IOException {
            while (bytes.hasRemaining() && channel.write(bytes) > 0) {
                // As much as it takes.
            }
            key.interestOps(bytes.hasRemaining() ? SelectionKey.OP_WRITE : 0);
            return !bytes.hasRemaining();
        }
    }

    @Override
    public ReceiverReport subscribe(final StreamSpec spec) throws IOException {
        final int frameBytes = spec.load().frameBytes();
        final GoodputMeter meter = new GoodputMeter(spec);
        try (Arena arena = Arena.ofConfined();
                SocketChannel channel = connect(spec)) {
            final int frames = Math.max(RING_FRAMES, RING_BYTES_MIN / frameBytes);
            final MemorySegment ring = arena.allocate((long) frames * frameBytes, Long.BYTES);
            final ByteBuffer bytes = ring.asByteBuffer();
            int taken = 0;
            while (!meter.hasLast()) {
                if (channel.read(bytes) < 0) {
                    throw new IllegalStateException("the publisher is gone");
                }
                for (; bytes.position() - taken >= frameBytes; taken += frameBytes) {
                    meter.onFrame(ring.asSlice(taken, frameBytes));
                }
                if (!bytes.hasRemaining()) {
                    bytes.clear();
                    taken = 0;
                }
            }
            return meter.report();
        }
    }

    private static SocketChannel connect(final StreamSpec spec) throws IOException {
        final StreamSpec.Link link = spec.link();
        return Connections.connect(link.sourceAddress(), link.port(), spec.index(), link.socketBufferBytes());
    }
}
