package io.framecast.engine.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.DeviceFrame;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceStream;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.MemorySegment;

/// Checks each frame's bytes against [FrameBytes], in order.
public final class FrameCheck implements AutoCloseable {
    private final DeviceStream stream;
    private final MemorySegment host;
    private final DeviceBackend device;
    private final long[] lengths;
    private int frames;

    public FrameCheck(final DeviceBackend device, final long... lengths) {
        this.device = device;
        this.lengths = lengths.clone();
        long longest = 1;
        for (final long length : lengths) {
            longest = Math.max(longest, length);
        }
        stream = device.openStream();
        host = device.allocatePinned(longest);
    }

    public int expected() {
        return lengths.length;
    }

    public int frames() {
        return frames;
    }

    public void onFrame(final DeviceFrame frame) {
        final int id = frames++;
        assertEquals(id, frame.frameId());
        assertEquals(lengths[id], frame.length());
        stream.await(frame.ready());
        stream.copyToHost(host, 0, frame.region().address(), frame.length());
        stream.synchronize();
        FrameBytes.require(id, host, frame.length());
        frame.close();
    }

    @Override
    public void close() {
        stream.close();
        device.freePinned(host);
    }
}
