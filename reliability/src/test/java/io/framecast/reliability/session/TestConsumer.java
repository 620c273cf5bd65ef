package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A user that polls frames and losses when a test says so. It checks that every frame has its bytes, when it
/// polls the frame and when it returns it.
final class TestConsumer implements FrameConsumer {
    /// A frame that the session handed over.
    record Given(long id, int length, byte @Nullable [] metadata, long place, Space space, long offset) {}

    private record Loss(long firstId, long count, LossReason reason) {
        private String text() {
            return firstId + "+" + count + " " + reason;
        }
    }

    /// Every frame ever handed over.
    final List<Given> given = new ArrayList<>();
    /// Frames that wait for the user at most, and losses.
    int room = Integer.MAX_VALUE;
    int lossRoom = Integer.MAX_VALUE;

    private final Assembly assembly;
    private final TestFrameMemory memory;
    private final ArrayDeque<Given> queue = new ArrayDeque<>();
    private final Map<Long, Given> held = new HashMap<>();
    private final ArrayDeque<Long> released = new ArrayDeque<>();
    private final TreeMap<Long, Loss> losses = new TreeMap<>();
    private final ArrayDeque<Loss> gathered = new ArrayDeque<>();
    private long takenBackId;

    TestConsumer(final Assembly assembly, final TestFrameMemory memory) {
        this.assembly = assembly;
        this.memory = memory;
    }

    /// The bytes of a frame, different from those of any other.
    static byte[] content(final long id, final int length) {
        final byte[] content = new byte[length];
        for (int i = 0; i < length; i++) {
            content[i] = (byte) (id * 31 + i * 7L + (i >>> 8));
        }
        return content;
    }

    /// The user takes all that it can find, in order: frames as `4`, losses as `2+3 EXPIRED`.
    List<String> poll() {
        final List<String> seen = new ArrayList<>();
        while (!queue.isEmpty() || !losses.isEmpty()) {
            final Given next = queue.peek();
            if (next == null || (!losses.isEmpty() && losses.firstKey() < next.id)) {
                seen.add(losses.pollFirstEntry().getValue().text());
            } else {
                check(queue.remove());
                held.put(next.id, next);
                seen.add(String.valueOf(next.id));
            }
        }
        return seen;
    }

    /// The user takes all that it can find and returns it, without a look at its bytes.
    void discard() {
        losses.clear();
        held.values().forEach(frame -> released.add(frame.place));
        held.clear();
        for (Given frame = queue.poll(); frame != null; frame = queue.poll()) {
            released.add(frame.place);
        }
    }

    private void check(final Given frame) {
        final byte[] bytes = memory.bytes(frame.space, frame.offset, frame.length);
        assertArrayEquals(content(frame.id, frame.length), bytes, () -> "frame " + frame.id);
    }

    /// The user returns a frame.
    void release(final long id) {
        final Given frame = held.remove(id);
        check(frame);
        released.add(frame.place);
    }

    /// The user returns all that it holds.
    void releaseAll() {
        List.copyOf(held.keySet()).forEach(this::release);
    }

    @Override
    public boolean hasRoom() {
        return queue.size() < room;
    }

    @Override
    public void onFrame(final ReceivedFrame frame, final long place) {
        assertTrue(hasRoom(), "no room for a frame");
        assertTrue(gathered.stream().noneMatch(loss -> loss.firstId < frame.frameId()), "a loss is reported too late");
        final Given one = new Given(
                frame.frameId(), (int) frame.bytes(), frame.metadata(), place, assembly.space(), assembly.offset());
        given.add(one);
        queue.add(one);
    }

    @Override
    public long nextReleased() {
        return released.isEmpty() ? NO_PLACE : released.remove();
    }

    @Override
    public long takeBack() {
        if (queue.isEmpty()) {
            return NO_PLACE;
        }
        final Given oldest = queue.remove();
        takenBackId = oldest.id;
        return oldest.place;
    }

    @Override
    public long takenBackId() {
        return takenBackId;
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        assertTrue(count > 0, "a loss of nothing");
        final Loss last = gathered.peekLast();
        if (last != null && last.reason == reason) {
            assertEquals(last.firstId + last.count, firstFrameId);
            gathered.removeLast();
            gathered.add(new Loss(last.firstId, last.count + count, reason));
        } else {
            gathered.add(new Loss(firstFrameId, count, reason));
        }
    }

    @Override
    public void onLateLoss(final long firstFrameId, final long count, final LossReason reason) {
        assertTrue(count > 0, "a loss of nothing");
        assertTrue(hasRoomForLosses(), "no room for a loss");
        losses.put(firstFrameId, new Loss(firstFrameId, count, reason));
    }

    @Override
    public boolean hasRoomForLosses() {
        return losses.size() < lossRoom;
    }

    @Override
    public boolean flushLosses() {
        while (!gathered.isEmpty() && hasRoomForLosses()) {
            final Loss next = gathered.remove();
            losses.put(next.firstId, next);
        }
        return gathered.isEmpty();
    }

    @Override
    public boolean areLossesFlushed() {
        return gathered.isEmpty();
    }

    @Override
    public boolean areLossesHeard() {
        return losses.isEmpty();
    }
}
