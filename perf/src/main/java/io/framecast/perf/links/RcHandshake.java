package io.framecast.perf.links;

import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.perf.harness.Connections;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The message by which each end of a reliable connection describes itself, over TCP.
///
/// @param descriptor of the endpoint
/// @param address of memory that the other end may write
/// @param key of that memory
record RcHandshake(byte[] descriptor, long address, int key) {
    private static final int BYTES = Integer.BYTES + OneSided.DESCRIPTOR_BYTES_MAX + Long.BYTES + Integer.BYTES;
    private static final long UP_MAX_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    void send(final SocketChannel channel) throws IOException {
        final ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putInt(descriptor.length).put(descriptor);
        bytes.position(Integer.BYTES + OneSided.DESCRIPTOR_BYTES_MAX);
        bytes.putLong(address).putInt(key);
        Connections.writeFully(channel, bytes.flip());
    }

    static RcHandshake receive(final SocketChannel channel) throws IOException {
        final ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        Connections.readFully(channel, bytes);
        bytes.flip();
        final byte[] descriptor = new byte[Math.clamp(bytes.getInt(), 0, OneSided.DESCRIPTOR_BYTES_MAX)];
        bytes.get(descriptor);
        bytes.position(Integer.BYTES + OneSided.DESCRIPTOR_BYTES_MAX);
        return new RcHandshake(descriptor, bytes.getLong(), bytes.getInt());
    }

    /// This end can take what the other writes.
    static void confirm(final SocketChannel channel) throws IOException {
        Connections.writeFully(channel, ByteBuffer.allocate(1));
    }

    static void awaitConfirmed(final SocketChannel channel) throws IOException {
        Connections.readFully(channel, ByteBuffer.allocate(1));
    }

    /// @throws IOException when it broke, or takes too long
    static void awaitUp(final OneSidedEndpoint endpoint) throws IOException {
        final long endNs = System.nanoTime() + UP_MAX_NS;
        while (endpoint.state() != OneSidedEndpoint.State.UP) {
            if (endpoint.state() == OneSidedEndpoint.State.BROKEN || System.nanoTime() - endNs > 0) {
                throw new IOException("a reliable connection could not be made: " + endpoint.failure());
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }
}
