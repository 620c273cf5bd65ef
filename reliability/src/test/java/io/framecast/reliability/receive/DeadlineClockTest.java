package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.HeartbeatValues;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The estimate of the source's clock by a receiver with a deadline.
final class DeadlineClockTest {
    private static final int SLOT_BYTES = 64;
    private static final int SLOTS = 64;
    private static final long PATIENCE_NS = 10_000_000;
    private static final long STAMP_NS = 5_000_000_000L;

    private final StreamInfo stream =
            new StreamInfo(7, "clock", SLOT_BYTES, SLOTS, 16L * SLOT_BYTES, 1000, new byte[] {1}, new byte[] {2});
    private final FrameTable frames = new FrameTable(SLOTS);
    private final ReceiveWindow window = new ReceiveWindow(SLOTS);
    private final FrameQueue queue = new FrameQueue(frames, window, SLOT_BYTES);
    private final DropPolicy policy = DropPolicy.of(Delivery.deadline((int) (PATIENCE_NS / 1_000_000)), stream, queue);

    // The first of two datagrams is here, so its frame is known and not whole.
    @BeforeEach
    void receiveHalfAFrame() {
        queue.start(0, 0);
        window.reset(0);
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        final DataHeader of = new DataHeader().session(DataLayout.TYPE_DATA, 7).frame(0, 2 * SLOT_BYTES, STAMP_NS);
        DataLayout.write(header, 0, of, 0, 0);
        frames.learn(header, 0, 0);
        window.receive(0);
    }

    private void heartbeat(final long clockNs, final long nowNs) {
        final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final HeartbeatValues values = new HeartbeatValues();
        values.progress(1, 0).repairable(1).timing(nowNs, 1_000, 1).clock(clockNs);
        HeartbeatLayout.write(new ControlWriter(7).in(datagram), 0, stream, new byte[] {'c'}, values);
        policy.onHeartbeat(datagram, 0, nowNs);
        assertNull(policy.nextUnfinished(SLOTS, 1_000, nowNs));
    }

    @Test
    void shouldFollowTheNewestClockWhenHeartbeatsArriveInOrder() {
        heartbeat(STAMP_NS, 1_000);
        assertEquals(1_000 + PATIENCE_NS, policy.nextDeadlineNs());
        // This one was under way for 500 ns less.
        heartbeat(STAMP_NS + 2_500, 3_000);
        assertEquals(500 + PATIENCE_NS, policy.nextDeadlineNs());
    }

    @Test
    void shouldNotSetTheClockBackWhenAHeartbeatWasOvertaken() {
        heartbeat(STAMP_NS + 1_000_000, 1_001_000);
        assertEquals(1_000 + PATIENCE_NS, policy.nextDeadlineNs());
        heartbeat(STAMP_NS, 8_000_000);
        assertEquals(1_000 + PATIENCE_NS, policy.nextDeadlineNs());
    }
}
