package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.LossReason;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceStream;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// A subscriber's user: checks number, order and bytes of every delivered frame, and that every number is either
/// delivered or reported lost, once.
final class DeliveryCheck implements AutoCloseable {
    private final Subscriber subscriber;
    private final List<Integer> lengths;
    private final DeviceStream stream;
    private final MemorySegment host;
    private final BitSet accounted = new BitSet();
    private final long[] lost = new long[LossReason.values().length];
    private final List<Integer> given = new ArrayList<>();
    private final List<Boolean> keyframes = new ArrayList<>();
    private int passed;

    /// @param lengths of the frames published so far
    DeliveryCheck(final Subscriber subscriber, final List<Integer> lengths) {
        this.subscriber = subscriber;
        this.lengths = lengths;
        stream = subscriber.device().openStream();
        host = subscriber.device().allocatePinned(DeliveryFixture.FRAME_MAX);
        subscriber.onLoss(this::onLoss);
    }

    private void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        assertTrue(count > 0 && firstFrameId + count <= lengths.size(), () -> firstFrameId + " + " + count);
        assertTrue(firstFrameId >= passed, () -> firstFrameId + " + " + count + " reported behind " + passed);
        for (int id = (int) firstFrameId; id < firstFrameId + count; id++) {
            note(id);
        }
        lost[reason.ordinal()] += count;
    }

    private void note(final int id) {
        assertTrue(!accounted.get(id), () -> "frame " + id + " twice");
        accounted.set(id);
        passed = Math.max(passed, id + 1);
    }

    /// Polls until there is no further frame.
    void poll() {
        while (pollOne()) {
            Thread.onSpinWait();
        }
    }

    boolean pollOne() {
        final DeviceFrame frame = subscriber.poll();
        if (frame != null) {
            check(frame);
            frame.close();
        }
        return frame != null;
    }

    /// Polls a frame and keeps it.
    DeviceFrame hold() {
        final DeviceFrame frame = subscriber.poll();
        if (frame != null) {
            check(frame);
        }
        return frame;
    }

    /// Polls until there is no further frame.
    ///
    /// @return whether more than this number of frames were delivered so far
    boolean gotMoreThan(final int frames) {
        poll();
        return given.size() > frames;
    }

    /// Polls until there is no further frame.
    ///
    /// @return whether all frames before this number were delivered or reported lost
    boolean pollPast(final int frames) {
        poll();
        return passed >= frames;
    }

    private void check(final DeviceFrame frame) {
        final int id = (int) frame.frameId();
        note(id);
        assertTrue(given.isEmpty() || given.getLast() < id, () -> id + " behind " + given.getLast());
        assertEquals(
                accounted.nextClearBit(given.isEmpty() ? id : given.getFirst()), id + 1, "reported before delivered");
        given.add(id);
        keyframes.add(frame.keyframe());
        requireContent(frame);
    }

    void requireContent(final DeviceFrame frame) {
        final int id = (int) frame.frameId();
        assertEquals(lengths.get(id).longValue(), frame.length());
        stream.await(frame.ready());
        stream.copyToHost(host, 0, frame.region().address(), frame.length());
        stream.synchronize();
        FrameBytes.require(id, host, frame.length());
    }

    /// Every frame of the stream was delivered or reported lost, from the first one on.
    void requireEachFrameOnce(final int published) {
        assertEquals(published, accounted.cardinality(), () -> "missing " + accounted.nextClearBit(0));
        assertEquals(published, accounted.length());
        assertEquals(given.size(), subscriber.stats().frames());
        for (final LossReason reason : LossReason.values()) {
            assertEquals(lost[reason.ordinal()], subscriber.stats().lost().of(reason), reason::name);
        }
    }

    /// From the first keyframe on, every frame that is no keyframe follows its predecessor. Before the first
    /// keyframe, a receiver cannot know that the stream marks keyframes.
    void requireNothingTornFromItsKeyframe() {
        assertTrue(keyframes.contains(true), "a keyframe was given");
        for (int i = keyframes.indexOf(true) + 1; i < given.size(); i++) {
            final int index = i;
            assertTrue(
                    keyframes.get(i) || given.get(i) == given.get(i - 1) + 1,
                    () -> "frame " + given.get(index) + " behind " + given.get(index - 1));
        }
    }

    boolean isReady() {
        return subscriber.state() == Subscriber.State.READY;
    }

    Subscriber.State state() {
        return subscriber.state();
    }

    Subscriber subscriber() {
        return subscriber;
    }

    int given() {
        return given.size();
    }

    List<Integer> ids() {
        return given;
    }

    /// The number behind the last frame delivered or reported lost.
    int passed() {
        return passed;
    }

    long lost() {
        long sum = 0;
        for (final long count : lost) {
            sum += count;
        }
        return sum;
    }

    long lost(final LossReason reason) {
        return lost[reason.ordinal()];
    }

    @Override
    public String toString() {
        return subscriber.state() + " " + subscriber.failure() + " given " + given.size() + ", passed " + passed
                + ", first gap " + accounted.nextClearBit(0) + ", " + subscriber.stats();
    }

    @Override
    public void close() {
        stream.close();
        subscriber.device().freePinned(host);
        subscriber.close();
    }
}
