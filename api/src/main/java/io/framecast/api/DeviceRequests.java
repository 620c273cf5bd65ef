package io.framecast.api;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import java.time.Duration;

/// A queue in which kernels ask the host to publish device memory (`fc_publish` in `framecast.cuh`): the
/// kernel writes a request and goes on, the host copies the bytes into the publisher's window, commits, and
/// writes the answer where the kernel looks for it.
///
/// The host trusts no request: the channel must be bound, the range must lie inside a region that was allowed,
/// and the publisher must take the length. The host refuses and counts every other request.
///
/// Threading: as [Arrival]; publishers that are bound are used by that thread too.
public interface DeviceRequests extends AutoCloseable {
    /// Opens a queue on a device that has [RequestQueues].
    ///
    /// @param requestsMax requests not answered yet, at most; a power of two, 2 … 65536
    /// @throws DeviceException when this kind of device has no kernels that run beside the host, or no memory
    ///     is left
    static DeviceRequests open(final DeviceBackend device, final int requestsMax) {
        return device.capability(RequestQueues.class)
                .orElseThrow(() -> new DeviceException(
                        device.name() + ": has no kernels that ask to publish; take cuda or emulated"))
                .open(requestsMax);
    }

    /// The queue's address for kernels.
    long address();

    /// Lets kernels publish on a channel.
    ///
    /// @param frameMaxBytes longest frame to accept; at most what the publisher's window and frame-max allow
    /// @return the number kernels know it by, from 0
    int bind(Publisher publisher, long frameMaxBytes);

    /// Lets kernels publish bytes of a region. The region must outlive this queue.
    void allow(DeviceRegion region);

    /// Takes requests, starts copies, commits those that are done. Never blocks.
    ///
    /// @return requests taken, started and answered
    int doWork();

    /// Calls [#doWork] until the time is over; sleeps in between, tens of microseconds.
    void serve(Duration longest);

    RequestStats stats();

    /// Answers what waits with FC_STATUS_CLOSED and every later request too. Frees the queue when nothing
    /// runs on the device that may still look there: no persistent kernel, nothing on its streams. Else the
    /// memory stays until this is called again after the kernel's end, or the device is closed. Kernels that
    /// begin later must not look there.
    @Override
    void close();
}
