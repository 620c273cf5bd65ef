package io.framecast.api;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.KernelSource;
import java.time.Duration;

/// Announces frames to a kernel that is already running, by a ring of entries in memory that the device reads:
/// no launch per frame. A persistent kernel waits for entries by channel, source and tag (`framecast.cuh`),
/// works on the frames where they lie and returns them; returned frames go back to the source as credit.
///
/// ```java
/// Arrival arrival = Arrival.open(subscriber.device(), ArrivalOptions.DEFAULT);
/// arrival.attach(subscriber, 0);                     // instead of subscriber.poll()
/// arrival.launch(kernel, 4, 256, results.address()); // the kernel's first argument is the ring
/// while (!arrival.serve(Duration.ofMillis(100))) { … }
/// arrival.close();                                   // before subscriber.close()
/// ```
///
/// Besides frames the kernel gets entries for losses, for sources that come and go, and for the end of each
/// subscriber. Every entry takes a place of the ring until the kernel returns it. A kernel that returns none
/// holds back its own subscribers only, whose delivery policies then apply.
///
/// Threading: everything is called by one thread at a time, the one that polls the subscribers. Nothing runs
/// on a thread of its own: entries are written, and returned frames closed, by [#doWork] and what calls it.
///
/// While the kernel runs, what waits for the whole device waits for the kernel, such as closing the device:
/// close this before the subscribers.
public interface Arrival extends AutoCloseable {
    /// Most subscribers, and the highest channel number + 1.
    int CHANNELS_MAX = 1024;

    /// Opens a ring on a device that has [ArrivalRings].
    ///
    /// @throws DeviceException when this kind of device has no kernels that run beside the host, or no memory
    ///     is left
    static Arrival open(final DeviceBackend device, final ArrivalOptions options) {
        return device.capability(ArrivalRings.class)
                .orElseThrow(() -> new DeviceException(
                        device.name() + ": has no kernels that wait for frames; take cuda or emulated"))
                .open(options);
    }

    /// The ring's address for a kernel. [#launch] passes it.
    long address();

    /// Routes a subscriber's frames to the ring. From then on only the ring polls the subscriber, and it replaces
    /// the subscriber's loss and source handlers.
    ///
    /// @param subscriber lands its frames on this device
    /// @param channel what the kernel knows it by, 0 … [#CHANNELS_MAX] − 1
    /// @throws IllegalArgumentException when the channel is taken, or the subscriber's device is another
    void attach(Subscriber subscriber, int channel);

    /// Loads the kernel and launches it on a stream of this ring's own, with the ring's address before the
    /// other arguments. Frames that an earlier kernel left are given to this one.
    ///
    /// @param kernel a [KernelSource#persistent] one
    /// @throws IllegalStateException while a kernel is running
    /// @throws io.framecast.api.error.DeviceException when it cannot be launched, among others because not all
    ///     its blocks fit on the device at once; the ring stays as it is
    void launch(KernelSource kernel, int gridBlocks, int blockThreads, long... arguments);

    /// Whether the kernel launched last has not ended yet.
    boolean isRunning();

    /// Closes what the kernel returned, and writes entries as there is room. Never blocks, allocates nothing
    /// in steady state.
    ///
    /// @return entries written and returned
    int doWork();

    /// Calls [#doWork] until nothing is left to do or the time is over; sleeps in between, tens of
    /// microseconds.
    ///
    /// @return whether all subscribers are over and the kernel has returned everything
    boolean serve(Duration longest);

    ArrivalStats stats();

    /// Asks the kernel to end as soon as the ring is empty, and waits for its end.
    ///
    /// @return whether it ended
    boolean drain(Duration longest);

    /// Asks the kernel to end at once, waits at most [ArrivalOptions#closeTimeoutMs] for its end, closes all frames
    /// and frees the ring. Idempotent.
    ///
    /// @throws io.framecast.api.error.DeviceException when the kernel does not end: then nothing that it may
    ///     still touch is freed, and its frames stay held; calling again tries again
    @Override
    void close();

    /// The tag of a frame with such metadata: the first four bytes, little-endian; 0 when there are fewer.
    static int tag(final byte[] metadata) {
        return metadata.length < Integer.BYTES
                ? 0
                : (metadata[0] & 0xff)
                        | (metadata[1] & 0xff) << 8
                        | (metadata[2] & 0xff) << 16
                        | (metadata[3] & 0xff) << 24;
    }
}
