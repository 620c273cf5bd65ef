package io.framecast.perf.streaming;

import io.framecast.api.provider.ProviderLookup;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.perf.harness.Connections;
import io.framecast.perf.links.HopLink;
import io.framecast.perf.links.RcReader;
import io.framecast.perf.links.RcWriter;
import io.framecast.perf.links.TcpLink;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The hops of one process of a tree: from the process before it, to those behind it.
final class TreeLinks implements AutoCloseable {
    private static final String VERBS = "verbs";

    private final @Nullable Transport transport;
    private final List<HopLink> children = new ArrayList<>();
    private @Nullable HopLink parent;

    private TreeLinks(final @Nullable Transport transport) {
        this.transport = transport;
    }

    static TreeLinks open(final StreamingSpec spec, final int rank) throws IOException {
        final TreeLinks links = new TreeLinks(spec.contender().isOverRc() ? verbs(spec, rank) : null);
        try {
            links.connect(spec, rank);
            return links;
        } catch (final IOException | RuntimeException e) {
            links.close();
            throw e;
        }
    }

    private static Transport verbs(final StreamingSpec spec, final int rank) {
        return ProviderLookup.transport(ProviderLookup.transports(), VERBS)
                .open(new TransportConfig(spec.channelOver(VERBS, rank), System.err::println));
    }

    private void connect(final StreamingSpec spec, final int rank) throws IOException {
        final Topology topology = Topology.of(spec);
        final List<SocketChannel> opened = new ArrayList<>();
        // Those behind may connect before this process has found the one before it.
        try (ServerSocketChannel server = Connections.listen(spec.address(rank), spec.treePort(rank))) {
            final int before = rank > 0 ? topology.parent(rank) : rank;
            final int buffer = TcpLink.bufferBytes(spec.chunkBytes());
            if (rank > 0) {
                opened.add(Connections.connect(spec.address(before), spec.treePort(before), rank, buffer));
            }
            opened.addAll(Connections.accept(server, topology.children(rank)));
            // From the source down: each waits for the one before it.
            for (final SocketChannel channel : opened) {
                if (rank > 0 && parent == null) {
                    parent = transport == null
                            ? new TcpLink(channel, spec.chunkBytes())
                            : RcReader.connect(device(), channel, spec.chunkBytes());
                } else {
                    children.add(
                            transport == null
                                    ? new TcpLink(channel, spec.chunkBytes())
                                    : RcWriter.accept(device(), channel, spec.chunkBytes()));
                }
            }
        } catch (final IOException e) {
            Connections.closeAll(opened);
            throw e;
        }
    }

    private OneSided device() throws IOException {
        final OneSided device = transport == null ? null : transport.oneSided();
        if (device == null) {
            throw new IOException("transport verbs has no one-sided operations here");
        }
        return device;
    }

    /// `tcp`, or `rc`.
    String transport() {
        return transport == null ? "tcp" : Contender.RC;
    }

    /// Names memory whose parts will be written.
    void use(final MemorySegment memory) {
        children.forEach(child -> child.use(memory));
    }

    void read(final MemorySegment part) throws IOException {
        if (parent == null) {
            throw new IllegalStateException("the source has no process before it");
        }
        parent.read(part);
    }

    /// To each of those behind, one after the other.
    void write(final MemorySegment part) throws IOException {
        for (final HopLink child : children) {
            child.write(part);
        }
    }

    /// Returns when all that was written has left.
    void flush() throws IOException {
        for (final HopLink child : children) {
            child.flush();
        }
    }

    /// Any thread: who reads or writes then fails.
    void interrupt() {
        if (parent != null) {
            parent.interrupt();
        }
        children.forEach(HopLink::interrupt);
    }

    @Override
    public void close() throws IOException {
        if (parent != null) {
            parent.close();
        }
        for (final HopLink child : children) {
            child.close();
        }
        if (transport != null) {
            transport.close();
        }
    }
}
