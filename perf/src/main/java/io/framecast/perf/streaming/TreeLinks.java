package io.framecast.perf.streaming;

import io.framecast.perf.harness.Connections;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The connections of one process of a tree: from the one before it, to those behind it. Nothing but frames
/// goes over them, one behind the other.
final class TreeLinks implements AutoCloseable {
    private final @Nullable SocketChannel parent;
    // A chunk arrives while the one before it leaves: what the kernel gives a new connection holds neither.
    private static final int CHUNKS_BUFFERED = 2;

    private final List<SocketChannel> children;

    private TreeLinks(final @Nullable SocketChannel parent, final List<SocketChannel> children) {
        this.parent = parent;
        this.children = children;
    }

    static TreeLinks open(final StreamingSpec spec, final int rank) throws IOException {
        final Topology topology = Topology.of(spec);
        final List<Integer> ranks = topology.children(rank);
        SocketChannel parent = null;
        // Those behind may connect before this process has found the one before it.
        try (ServerSocketChannel server = Connections.listen(spec.address(rank), spec.treePort(rank))) {
            if (rank > 0) {
                final int above = topology.parent(rank);
                parent = Connections.connect(
                        spec.address(above), spec.treePort(above), rank, CHUNKS_BUFFERED * spec.chunkBytes());
            }
            final List<SocketChannel> children = Connections.accept(server, ranks);
            for (final SocketChannel child : children) {
                child.setOption(StandardSocketOptions.SO_SNDBUF, CHUNKS_BUFFERED * spec.chunkBytes());
            }
            return new TreeLinks(parent, children);
        } catch (final IOException e) {
            if (parent != null) {
                parent.close();
            }
            throw e;
        }
    }

    void read(final MemorySegment part) throws IOException {
        if (parent == null) {
            throw new IllegalStateException("the source has no process before it");
        }
        Connections.readFully(parent, part.asByteBuffer());
    }

    /// To each of those behind, one after the other.
    void write(final MemorySegment part) throws IOException {
        for (final SocketChannel child : children) {
            Connections.writeFully(child, part.asByteBuffer());
        }
    }

    /// Any thread: who reads or writes then fails.
    @Override
    public void close() throws IOException {
        if (parent != null) {
            parent.close();
        }
        Connections.closeAll(children);
    }
}
