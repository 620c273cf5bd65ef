package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.LossReason;
import io.framecast.api.Publisher;
import io.framecast.api.SourceEvent;
import io.framecast.api.Subscriber;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `join=keyframe`: a subscriber that joins mid-stream receives no frame before the first keyframe.
class JoinAtKeyframeTest {
    private static final int KEYFRAME_EVERY = 10;

    private final InvokedNodes nodes = new InvokedNodes();
    private final List<Long> given = new ArrayList<>();
    private final List<SourceEvent> events = new ArrayList<>();
    private long awaited;
    private int published;

    @AfterEach
    void close() {
        nodes.close();
    }

    private void poll(final Subscriber subscriber) {
        for (DeviceFrame frame = subscriber.poll(); frame != null; frame = subscriber.poll()) {
            final long id = frame.frameId();
            assertEquals(given.isEmpty() ? id : given.getLast() + 1, id);
            assertEquals(id % KEYFRAME_EVERY == 0, frame.keyframe());
            frame.awaitReady();
            final MemorySegment host = frame.region().host();
            assertEquals(
                    FrameBytes.value((int) id, frame.length() - 1),
                    host.get(ValueLayout.JAVA_BYTE, frame.length() - 1));
            given.add(id);
            frame.close();
        }
    }

    // Small frames share datagrams: the first keyframe may lie within one.
    private void publish(final Publisher publisher, final int frames, final int bytes, final List<Subscriber> takers) {
        final int end = published + frames;
        nodes.until(
                () -> {
                    takers.forEach(this::poll);
                    final byte[] frame = FrameBytes.of(published, bytes);
                    final boolean key = published % KEYFRAME_EVERY == 0;
                    final FrameOptions options = key ? FrameOptions.KEYFRAME : FrameOptions.DEFAULT;
                    published += publisher.offer(MemorySegment.ofArray(frame), options) > 0 ? 1 : 0;
                    return published == end;
                },
                "published");
    }

    @ParameterizedTest
    @CsvSource({"udp, 50000", "udp, 100", "aeron, 50000"})
    void shouldBeginAtKeyframeWhenItJoinsMidStream(final String transport, final int bytes) {
        final Channel channel = StreamFixture.channel(transport, "|mtu=1500|frame-max=50000|window=200k|device=host");
        final Publisher publisher = nodes.launch().publish(channel);
        final Subscriber first = nodes.launch().subscribe(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "first");
        final List<Integer> seen = new ArrayList<>();
        // 13 frames: the next keyframe is number 20.
        final int before = KEYFRAME_EVERY + 3;
        for (int i = 0; i < before; i++) {
            publish(publisher, 1, bytes, List.of());
            nodes.until(() -> first.poll(frame -> close(frame, seen), 10) > 0, "frame");
        }
        final Subscriber late = nodes.launch().subscribe(Channel.parse(channel + "|join=keyframe"));
        late.onLoss((id, count, reason) -> {
            assertEquals(LossReason.AWAITS_KEYFRAME, reason);
            assertTrue(given.isEmpty(), "reported before the first frame");
            awaited += count;
        });
        late.onSource(events::add);
        nodes.until(() -> publisher.readySubscribers() == 2, "late one");
        final List<Integer> rest = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            publish(publisher, 8, bytes, List.of(late));
            nodes.until(
                    () -> {
                        first.poll(frame -> close(frame, rest), 10);
                        poll(late);
                        return rest.size() + before == published;
                    },
                    "first has all");
        }
        nodes.until(
                () -> {
                    poll(late);
                    return !given.isEmpty() && given.getLast() == published - 1;
                },
                "late has the rest");
        assertEquals(2L * KEYFRAME_EVERY, given.getFirst());
        assertEquals(published - 2 * KEYFRAME_EVERY, given.size());
        assertEquals(given.getFirst() - awaited, events.getFirst().firstFrameId());
        assertTrue(awaited > 0, "some frames were before it");
        assertEquals(awaited, late.stats().lost().awaitsKeyframe());
    }

    private static void close(final DeviceFrame frame, final List<Integer> seen) {
        seen.add((int) frame.frameId());
        frame.close();
    }
}
