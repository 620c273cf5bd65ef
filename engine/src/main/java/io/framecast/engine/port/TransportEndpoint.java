package io.framecast.engine.port;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.engine.port.TransportOneSided.RegisteredRegion;
import io.framecast.reliability.onesided.EndpointPort;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// An endpoint of a transport, as the protocol sees it. Another thread may still be opening it.
///
/// Threading: the session's thread, except for [#make].
final class TransportEndpoint implements EndpointPort {
    private static final byte[] NO_DESCRIPTOR = {};

    private final AtomicReference<@Nullable OneSidedEndpoint> made = new AtomicReference<>();
    private volatile boolean closed;
    private volatile String failure = "";

    /// An endpoint that [#make] opens later.
    TransportEndpoint() {}

    TransportEndpoint(final OneSidedEndpoint endpoint) {
        made.set(endpoint);
    }

    /// Another thread: opens the endpoint, unless it was closed meanwhile.
    void make(final Supplier<OneSidedEndpoint> maker) {
        if (closed) {
            return;
        }
        try {
            made.set(maker.get());
        } catch (final TransportException e) {
            failure = String.valueOf(e.getMessage());
        }
        if (closed) {
            drop();
        }
    }

    // Both threads may call this; one of them closes the endpoint.
    private void drop() {
        CloseHelper.close(made.getAndSet(null));
    }

    @Override
    public State state() {
        final OneSidedEndpoint endpoint = made.get();
        if (endpoint == null) {
            return failure.isEmpty() && !closed ? State.OPENING : State.BROKEN;
        }
        return switch (endpoint.state()) {
            case IDLE -> State.IDLE;
            case CONNECTING -> State.CONNECTING;
            case UP -> State.UP;
            case BROKEN -> State.BROKEN;
        };
    }

    @Override
    public String failure() {
        final OneSidedEndpoint endpoint = made.get();
        return endpoint == null || !failure.isEmpty() ? failure : endpoint.failure();
    }

    @Override
    public byte[] descriptor() {
        final OneSidedEndpoint endpoint = made.get();
        return endpoint == null ? NO_DESCRIPTOR : endpoint.descriptor();
    }

    @Override
    public boolean connect(final byte[] descriptor) {
        final OneSidedEndpoint endpoint = made.get();
        if (endpoint == null || endpoint.state() != OneSidedEndpoint.State.IDLE) {
            return false;
        }
        try {
            endpoint.connect(descriptor);
            return true;
        } catch (final TransportException | IllegalStateException e) {
            // The second where it broke just now.
            failure = String.valueOf(e.getMessage());
            return false;
        }
    }

    @Override
    public int room() {
        final OneSidedEndpoint endpoint = made.get();
        return endpoint == null ? 0 : endpoint.room();
    }

    @Override
    public boolean write64(final long address, final int key, final long value, final long token) {
        final OneSidedEndpoint endpoint = made.get();
        return endpoint != null && endpoint.write64(address, key, value, token);
    }

    @Override
    public boolean read(
            final Region target,
            final long offset,
            final int bytes,
            final long address,
            final int key,
            final long token) {
        final OneSidedEndpoint endpoint = made.get();
        return endpoint != null && endpoint.read(range(target, offset, bytes), address, key, token);
    }

    @Override
    public boolean write(
            final Region source,
            final long offset,
            final int bytes,
            final long address,
            final int key,
            final long token) {
        final OneSidedEndpoint endpoint = made.get();
        return endpoint != null && endpoint.write(range(source, offset, bytes), address, key, token);
    }

    private static OneSidedEndpoint.Range range(final Region region, final long offset, final int bytes) {
        return ((RegisteredRegion) region).range().at(offset, bytes);
    }

    @Override
    public int poll(final long[] tokens) {
        final OneSidedEndpoint endpoint = made.get();
        return endpoint == null ? 0 : endpoint.poll(tokens);
    }

    @Override
    public void close() {
        final OneSidedEndpoint endpoint = made.get();
        if (endpoint != null && failure.isEmpty()) {
            failure = endpoint.failure();
        }
        closed = true;
        drop();
    }
}
