package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.spi.DeviceBackend;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// The device of a publisher's, opened when its thread first asks for it, closed with the publisher by whichever
/// thread closes that. To look whether it is closed, to open the device and to register the window with it is one
/// step: else the window would be freed in between, and nobody would close the device.
final class PublisherDevice implements AutoCloseable {
    private final Channel channel;
    private final SourceSession session;
    private final SessionHost host;
    private final BooleanSupplier isClosed;
    private final ReentrantLock lock = new ReentrantLock();
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

    /// @throws IllegalStateException when the publisher is closed, also where that happens meanwhile
    DeviceSource source() {
        final DeviceSource known = source;
        if (known != null) {
            return known;
        }
        lock.lock();
        try {
            requireOpen();
            final DeviceSource made = make();
            source = made;
            // Whoever closes waits for the lock, and closes it then.
            requireOpen();
            return made;
        } finally {
            lock.unlock();
        }
    }

    private void requireOpen() {
        if (closed || isClosed.getAsBoolean()) {
            throw new IllegalStateException("publisher: closed; make another");
        }
    }

    private DeviceSource make() {
        final DeviceBackend device = host.openDevice(channel.stream().device());
        DeviceSource made = null;
        try {
            made = new DeviceSource(device, session, channel.stream().placement(), host.notices());
            return made;
        } finally {
            if (made == null) {
                device.close();
            }
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            final DeviceSource made = source;
            source = null;
            CloseHelper.close(made);
        } finally {
            lock.unlock();
        }
    }
}
