package io.framecast.samples.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/// A process's output as a channel, read a pipe's whole capacity at a time: the JDK's own adapter reads 8 KiB.
final class StreamChannel implements ReadableByteChannel {
    private static final int PIPE_BYTES = 1 << 16;

    private final InputStream stream;
    private final byte[] chunk = new byte[PIPE_BYTES];
    private volatile boolean closed;

    StreamChannel(final InputStream stream) {
        this.stream = stream;
    }

    @Override
    public int read(final ByteBuffer target) throws IOException {
        final int count;
        try {
            count = stream.read(chunk, 0, Math.min(chunk.length, target.remaining()));
        } catch (final IOException e) {
            if (closed) {
                return -1;
            }
            throw e;
        }
        if (count > 0) {
            target.put(chunk, 0, count);
        }
        return count;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() throws IOException {
        closed = true;
        stream.close();
    }
}
