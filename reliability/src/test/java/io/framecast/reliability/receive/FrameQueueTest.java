package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// When the receiver asks for the formats of frames of one slot.
final class FrameQueueTest {
    private static final int SLOT_BYTES = 64;
    private static final int SLOTS = 64;
    private static final long RTT_NS = 80_000_000;

    private final FrameTable frames = new FrameTable(SLOTS);
    private final ReceiveWindow window = new ReceiveWindow(SLOTS);
    private final FrameQueue queue = new FrameQueue(frames, window, SLOT_BYTES);

    FrameQueueTest() {
        queue.start(0, 0);
    }

    private void arrive(final long sequence, final int format, final int flags, final long nowNs) {
        arrive(sequence, sequence, format, flags, nowNs);
    }

    private void arrive(final long id, final long sequence, final int format, final int flags, final long nowNs) {
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        final DataHeader values = new DataHeader()
                .session(DataLayout.TYPE_DATA, 7)
                .frame(id, SLOT_BYTES, 0)
                .format(format)
                .attributes(flags, 0);
        DataLayout.write(header, 0, values, sequence, 0);
        assertTrue(frames.learn(header, 0, sequence));
        window.receive(sequence);
        queue.advance(nowNs, RTT_NS);
    }

    @Test
    void shouldWaitForAFormatThatIsUnderWay() {
        arrive(0, 1, DataLayout.FLAG_NEW_FORMAT, 1000);
        assertEquals(1000 + RTT_NS / 2, queue.askNs());
        frames.putFormat(1, 1, 0, new byte[] {1});
        queue.advance(2000, RTT_NS);
        assertEquals(Long.MAX_VALUE, queue.askNs());
    }

    /// Each frame is dropped before the wait for a format that is under way would end.
    @Test
    void shouldAskAtOnceBehindAGapAndAgainInTime() {
        arrive(0, 1, DataLayout.FLAG_NEW_FORMAT, 1000);
        queue.skipTo(1, 1);
        arrive(1, 1, 0, 2000);
        assertEquals(2000, queue.askNs());
        queue.onAsked(2000, RTT_NS);
        queue.skipTo(2, 2);
        arrive(2, 1, 0, 3000);
        assertEquals(2000 + 2 * RTT_NS, queue.askNs());
        queue.skipTo(3, 3);
        arrive(3, 2, 0, 4000);
        assertEquals(4000, queue.askNs());
    }

    /// A bundle has one format, however many frames are in it.
    @Test
    void shouldKeepTheFormatWhenABundleIsLeftOut() {
        frames.putFormat(1, 1, 0, new byte[] {1});
        arrive(0, 1, DataLayout.FLAG_NEW_FORMAT, 1000);
        assertTrue(queue.nextBytes() > 0);
        queue.take(queue.nextBytes());
        queue.skipTo(2, 41);
        arrive(41, 2, 1, 0, 2000);
        assertTrue(queue.nextBytes() > 0);
    }
}
