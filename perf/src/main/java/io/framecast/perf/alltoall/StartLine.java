package io.framecast.perf.alltoall;

import io.framecast.perf.harness.Connections;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.stream.IntStream;

/// Lets all processes begin together, and says when all are done: the coordinator hears each, and answers all.
final class StartLine implements AutoCloseable {
    private final List<SocketChannel> others;
    private final boolean coordinates;
    private final ByteBuffer word = ByteBuffer.allocate(1);

    StartLine(final AllToAllSpec spec) throws IOException {
        coordinates = spec.index() == AllToAllSpec.COORDINATOR;
        final String address = spec.address(AllToAllSpec.COORDINATOR);
        if (coordinates) {
            try (ServerSocketChannel server = Connections.listen(address, spec.startPort())) {
                others = Connections.accept(
                        server, IntStream.range(1, spec.processes()).boxed().toList());
            }
        } else {
            others = List.of(Connections.connect(address, spec.startPort(), spec.index(), 0));
        }
    }

    /// Waits until every process is here.
    void meet() throws IOException {
        if (coordinates) {
            for (final SocketChannel other : others) {
                Connections.readFully(other, word.clear());
            }
            for (final SocketChannel other : others) {
                Connections.writeFully(other, word.clear());
            }
        } else {
            Connections.writeFully(others.getFirst(), word.clear());
            Connections.readFully(others.getFirst(), word.clear());
        }
    }

    @Override
    public void close() throws IOException {
        Connections.closeAll(others);
    }
}
