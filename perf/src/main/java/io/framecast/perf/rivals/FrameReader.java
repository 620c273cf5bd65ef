package io.framecast.perf.rivals;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.harness.BackgroundLoad;
import java.lang.foreign.MemorySegment;

/// The work of a receiver on a frame, the same in every system: it is measured where it lies in the host's
/// memory, or copied back from a device for that. One thread.
final class FrameReader implements AutoCloseable {
    private final GoodputMeter meter;
    private final boolean sums;
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final BackgroundLoad background;
    // Where a device's frame is read.
    private final MemorySegment back;
    // Where a frame is copied to that lies in memory of others.
    private final DeviceRegion own;

    /// @param device where frames are, or are to be copied to; stays the caller's
    FrameReader(final StreamSpec spec, final DeviceBackend device) {
        this.device = device;
        meter = new GoodputMeter(spec);
        stream = device.openStream();
        final int frameBytes = spec.load().frameBytes();
        sums = spec.load().readers().areSumming();
        own = device.allocate(sums ? frameBytes : 1);
        back = device.allocatePinned(device.hostAddressable() ? 1 : frameBytes);
        final long rate = spec.load().readers().backgroundBytesPerSecond();
        background =
                new BackgroundLoad(device, rate == 0 ? BackgroundLoad.Load.NONE : BackgroundLoad.Load.TO_HOST, rate);
    }

    /// A frame is in place, and stays there until this returns.
    void onFrame(final DeviceRegion frame) {
        if (frame.hostAddressable()) {
            meter.onFrame(frame.host());
        } else {
            final long readyNs = System.nanoTime();
            stream.copyToHost(back, 0, frame.address(), frame.bytes());
            stream.synchronize();
            meter.onFrame(back.asSlice(0, frame.bytes()), readyNs);
        }
    }

    /// A frame lies in memory that others share, and stays there until this returns: it is copied out.
    ///
    /// @param copied runs when it need not stay any more
    void copyOut(final MemorySegment frame, final Runnable copied) {
        if (device.hostAddressable()) {
            MemorySegment.copy(frame, 0, own.host(), 0, frame.byteSize());
        } else {
            stream.copyToDevice(own.address(), frame, 0, frame.byteSize());
            stream.synchronize();
        }
        copied.run();
        onFrame(own);
    }

    boolean hasLast() {
        return meter.hasLast();
    }

    /// @param datagrams that its process read by now
    ReceiverReport report(final String placement, final long datagrams) {
        final ReceiverReport report = meter.report();
        return sums ? report.with(ReceiverReport.Footprint.of(placement, datagrams)) : report;
    }

    @Override
    public void close() {
        background.close();
        stream.close();
        device.freePinned(back);
        device.free(own);
    }
}
