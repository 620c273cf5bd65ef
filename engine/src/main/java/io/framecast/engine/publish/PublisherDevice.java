package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.session.SessionHost;
import java.util.function.BooleanSupplier;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// The device of a publisher: the publisher's thread opens it on first use, and the thread that closes the
/// publisher closes it. One locked step checks for the close, opens the device and registers the window. Otherwise
/// a close in between would free the window, and no thread would close the device.
final class PublisherDevice implements AutoCloseable {
    private final Channel channel;
    private final SourceSession session;
    private final SessionHost host;
    private final BooleanSupplier isClosed;
    private volatile @Nullable DeviceSource source;
    private boolean closed;

    /// @param isClosed whether the publisher is being closed
    PublisherDevice(
            final Channel channel,
            final SourceSession session,
            final SessionHost host,
            final BooleanSupplier isClosed) {
        this.channel = channel;
        this.session = session;
        this.host = host;
        this.isClosed = isClosed;
    }

    /// @throws IllegalStateException when the publisher is closed, also during this call
    DeviceSource source() {
        final DeviceSource known = source;
        if (known != null) {
            return known;
        }
        synchronized (this) {
            requireOpen();
            final DeviceSource made = make();
            source = made;
            // The closing thread waits for the lock, and then closes the device.
            requireOpen();
            return made;
        }
    }

    private void requireOpen() {
        if (closed || isClosed.getAsBoolean()) {
            throw new IllegalStateException("publisher: closed; make another");
        }
    }

    private DeviceSource make() {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final DeviceBackend device =
                    opened.add(host.openDevice(channel.stream().device()));
            final DeviceSource made =
                    new DeviceSource(device, session, channel.stream().placement(), host.notices());
            opened.keep();
            return made;
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        final DeviceSource made = source;
        source = null;
        CloseHelper.close(made);
    }
}
