package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.DeviceFrame;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Checks each frame's bytes against [StreamFixture#value], in order.
final class FrameCheck implements AutoCloseable {
    private final DeviceStream stream;
    private final MemorySegment host;
    private final DeviceBackend device;
    private final long[] lengths;
    private int frames;

    FrameCheck(final DeviceBackend device, final long... lengths) {
        this.device = device;
        this.lengths = lengths.clone();
        long longest = 1;
        for (final long length : lengths) {
            longest = Math.max(longest, length);
        }
        stream = device.openStream();
        host = device.allocatePinned(longest);
    }

    int expected() {
        return lengths.length;
    }

    int frames() {
        return frames;
    }

    void onFrame(final DeviceFrame frame) {
        final int id = frames++;
        assertEquals(id, frame.frameId());
        assertEquals(lengths[id], frame.length());
        stream.await(frame.ready());
        stream.copyToHost(host, 0, frame.region().address(), frame.length());
        stream.synchronize();
        final byte[] actual = host.asSlice(0, frame.length()).toArray(ValueLayout.JAVA_BYTE);
        final byte[] wanted = new byte[actual.length];
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] = StreamFixture.value(id, i);
        }
        assertArrayEquals(wanted, actual);
        frame.close();
    }

    @Override
    public void close() {
        stream.close();
        device.freePinned(host);
    }
}
