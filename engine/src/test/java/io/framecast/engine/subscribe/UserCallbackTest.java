package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.LossReason;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.SourceEvent.Kind;
import io.framecast.api.Subscriber;
import io.framecast.engine.node.FramecastNode;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A subscriber's own handlers may throw, and close the subscriber.
class UserCallbackTest {
    private static final String SETTINGS = "|mtu=1500|window=300k|frame-max=50000|device=host";

    private static final class UserException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private final InvokedNodes nodes = new InvokedNodes();
    private final FramecastNode source = (FramecastNode) nodes.launch();
    private final FramecastNode sink = (FramecastNode) nodes.launch();
    private final Arena arena = Arena.ofShared();
    private final List<Long> given = new ArrayList<>();
    private final List<Long> reported = new ArrayList<>();

    @AfterEach
    void close() {
        nodes.close();
        arena.close();
    }

    private void offer(final Publisher publisher, final int id) {
        final MemorySegment frame = FrameBytes.write(id, arena.allocate(40_000));
        nodes.until(() -> publisher.offer(frame, FrameOptions.DEFAULT) > 0, "taken");
    }

    private void check(final DeviceFrame frame) {
        assertEquals(40_000, frame.length());
        FrameBytes.require((int) frame.frameId(), frame.region().host(), frame.length());
        given.add(frame.frameId());
    }

    // The first frame is not polled before the last has superseded it.
    private Publisher supersede(final Channel channel, final Subscriber subscriber) {
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        nodes.until(() -> subscriber.state() == Subscriber.State.READY, "ready to be polled");
        for (int id = 0; id < 3; id++) {
            offer(publisher, id);
            final int frames = id + 1;
            nodes.until(() -> isDelivered(subscriber, frames), "delivered");
        }
        return publisher;
    }

    private boolean isDelivered(final Subscriber subscriber, final int frames) {
        final Subscription subscription = TestNode.receiver(sink).members().getFirst();
        return ((EngineSubscriber) subscriber).delivered() == 1
                && subscription.lost(LossReason.SUPERSEDED) == frames - 1;
    }

    @Test
    void shouldGiveTheFrameWhenTheLossHandlerBeforeItThrew() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(Channel.parse(channel + "|delivery=latest"));
        subscriber.onLoss((first, count, _) -> {
            for (long id = first; id < first + count; id++) {
                reported.add(id);
            }
            throw new UserException();
        });
        supersede(channel, subscriber);
        while (reported.size() < 2) {
            assertThrows(UserException.class, subscriber::poll);
        }
        assertTrue(subscriber.awaitFrame(java.time.Duration.ZERO));
        final DeviceFrame frame = subscriber.poll();
        assertNotNull(frame);
        check(frame);
        frame.close();
        assertEquals(List.of(0L, 1L), reported);
        assertEquals(List.of(2L), given);
        assertNull(subscriber.poll());
        subscriber.close();
        nodes.until(() -> TestNode.receiver(sink).isIdle(), "memory freed");
    }

    @Test
    void shouldTellEachSourceEventOnceWhenItsHandlerThrows() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(channel);
        final List<Kind> kinds = new ArrayList<>();
        subscriber.onSource(event -> {
            kinds.add(event.kind());
            throw new UserException();
        });
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        offer(publisher, 0);
        nodes.until(() -> ((EngineSubscriber) subscriber).delivered() == 1, "delivered");
        assertThrows(UserException.class, subscriber::poll);
        final DeviceFrame frame = subscriber.poll();
        assertNotNull(frame);
        check(frame);
        frame.close();
        publisher.close();
        nodes.until(() -> TestNode.receiver(sink).members().getFirst().sources() == 0, "end");
        assertThrows(UserException.class, subscriber::poll);
        assertNull(subscriber.poll());
        assertEquals(List.of(Kind.JOINED, Kind.ENDED), kinds);
        assertEquals(Subscriber.State.END_OF_STREAM, subscriber.state());
    }

    @Test
    void shouldFreeEverythingWhenTheLossHandlerClosesItsSubscriber() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(Channel.parse(channel + "|delivery=latest"));
        subscriber.onLoss((first, _, _) -> {
            reported.add(first);
            subscriber.close();
            subscriber.close();
        });
        final Publisher publisher = supersede(channel, subscriber);
        assertNull(subscriber.poll());
        assertEquals(List.of(0L), reported);
        assertEquals(Subscriber.State.CLOSED, subscriber.state());
        nodes.until(() -> publisher.readySubscribers() == 0, "left");
        nodes.until(() -> TestNode.receiver(sink).isIdle(), "memory freed");
    }

    @Test
    void shouldFreeEverythingWhenTheLossHandlerThrewAndTheSubscriberIsClosed() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(Channel.parse(channel + "|delivery=latest"));
        subscriber.onLoss((_, _, _) -> {
            throw new UserException();
        });
        supersede(channel, subscriber);
        assertThrows(UserException.class, subscriber::poll);
        subscriber.close();
        nodes.until(() -> TestNode.receiver(sink).isIdle(), "memory freed");
    }

    @Test
    void shouldFreeEverythingWhenTheSourceHandlerClosesItsSubscriber() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(channel);
        final List<Kind> kinds = new ArrayList<>();
        subscriber.onSource(event -> {
            kinds.add(event.kind());
            subscriber.close();
        });
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        offer(publisher, 0);
        nodes.until(() -> ((EngineSubscriber) subscriber).delivered() == 1, "delivered");
        assertNull(subscriber.poll());
        assertEquals(List.of(Kind.JOINED), kinds);
        nodes.until(() -> TestNode.receiver(sink).isIdle(), "memory freed");
        nodes.until(() -> publisher.readySubscribers() == 0, "left");
    }

    @Test
    void shouldCloseTheNodeFromAHandler() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(Channel.parse(channel + "|delivery=latest"));
        subscriber.onLoss((first, _, _) -> {
            reported.add(first);
            sink.close();
        });
        supersede(channel, subscriber);
        assertNull(subscriber.poll());
        assertEquals(List.of(0L), reported);
    }

    @Test
    void shouldGoOnWhenWhoTakesNoticesThrows() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final NodeConfig config = NodeConfig.DEFAULT.withNotices(_ -> {
            throw new UserException();
        });
        try (Framecast node = Framecast.launch(config)) {
            final Subscriber subscriber = node.subscribe(Channel.parse(channel + "|rejoin=60s"));
            for (int i = 0; i < 3; i++) {
                final Publisher publisher = source.publish(channel);
                nodes.until(() -> publisher.readySubscribers() == 1, "ready");
                nodes.until(() -> subscriber.state() == Subscriber.State.READY, "ready to be polled");
                // The agent reports it to the operator.
                publisher.abandon();
                nodes.until(() -> subscriber.state() == Subscriber.State.JOINING, "lost");
            }
        }
    }
}
