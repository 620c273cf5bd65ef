package io.framecast.perf.links;

import io.framecast.perf.harness.Connections;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/// A hop by TCP: nothing but frames goes over it.
public final class TcpLink implements HopLink {
    private static final int CHUNK_BYTES_MAX = 1 << 20;
    private static final int WHOLE_BUFFER_BYTES = 256 << 10;

    private final SocketChannel channel;

    /// @param channel closed with this
    /// @param partBytes longest part
    public TcpLink(final SocketChannel channel, final int partBytes) throws IOException {
        this.channel = channel;
        channel.setOption(StandardSocketOptions.SO_SNDBUF, bufferBytes(partBytes));
    }

    /// Room at each end: for two chunks, one of which arrives while the other leaves. Frames that are not cut have
    /// little: the process sends them to one after the other, and the kernel would send them side by side.
    public static int bufferBytes(final int partBytes) {
        return partBytes <= CHUNK_BYTES_MAX ? PARTS_UNDER_WAY * partBytes : WHOLE_BUFFER_BYTES;
    }

    @Override
    public void read(final MemorySegment part) throws IOException {
        Connections.readFully(channel, part.asByteBuffer());
    }

    @Override
    public void write(final MemorySegment part) throws IOException {
        Connections.writeFully(channel, part.asByteBuffer());
    }

    @Override
    public void interrupt() {
        try {
            channel.close();
        } catch (final IOException e) {
            // Reads fail all the same.
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
