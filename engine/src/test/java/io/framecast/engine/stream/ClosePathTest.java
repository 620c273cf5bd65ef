package io.framecast.engine.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.publish.EnginePublisher;
import io.framecast.engine.publish.SourceSession;
import io.framecast.engine.subscribe.EngineSubscriber;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.Wire;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Ends and beginnings: peers that leave, come late or fall silent, and the effect on the others.
class ClosePathTest {
    private static final String SETTINGS = "|mtu=1500|window=300k|frame-max=100000|device=host";
    /// For tests of silence, which a peer must detect soon.
    private static final String ALIVE_SHORT = SETTINGS + "|alive-timeout=2000";

    private final InvokedNodes nodes = new InvokedNodes();
    private final Arena arena = Arena.ofShared();
    private final Framecast source = nodes.launch();
    private final Framecast sink = nodes.launch();

    @AfterEach
    void close() {
        nodes.close();
        arena.close();
    }

    private MemorySegment frame(final int id) {
        return FrameBytes.write(id, arena.allocate(80_000 + id));
    }

    private void offer(final Publisher publisher, final int id, final Subscriber... readers) {
        final MemorySegment frame = frame(id);
        nodes.until(
                () -> {
                    for (final Subscriber reader : readers) {
                        reader.poll(this::check, 10);
                    }
                    return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
                },
                "frame " + id + " taken");
    }

    private void check(final DeviceFrame frame) {
        assertEquals(-1, frame.region().host().mismatch(frame((int) frame.frameId())));
        frame.close();
    }

    private void polled(final Subscriber subscriber, final long frames) {
        nodes.until(
                () -> {
                    subscriber.poll(this::check, 10);
                    return subscriber.stats().frames() >= frames;
                },
                frames + " frames");
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldGoOnWhenOneSubscriberLeavesMidStream(final String transport) {
        final Channel channel = StreamFixture.channel(transport, SETTINGS);
        final Subscriber stays = sink.subscribe(channel);
        final Subscriber leaves = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 2, "two subscribers");
        for (int id = 0; id < 40; id++) {
            if (id == 15) {
                leaves.close();
                assertEquals(Subscriber.State.CLOSED, leaves.state());
            }
            if (id < 15) {
                offer(publisher, id, stays, leaves);
            } else {
                offer(publisher, id, stays);
            }
        }
        polled(stays, 40);
        assertEquals(1, publisher.readySubscribers());
        assertEquals(0, publisher.stats().evictedSubscribers());
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldBeginWithWholeFrameWhenJoiningLate(final String transport) {
        final Channel channel = StreamFixture.channel(transport, SETTINGS);
        final Subscriber first = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "one subscriber");
        offer(publisher, 0, first);
        final Subscriber late = sink.subscribe(channel);
        final long[] firstId = {-1};
        final long[] nextId = {-1};
        int id = 1;
        while (nextId[0] < firstId[0] + 10 || firstId[0] < 0) {
            offer(publisher, id++, first);
            late.poll(
                    frame -> {
                        firstId[0] = firstId[0] < 0 ? frame.frameId() : firstId[0];
                        assertTrue(nextId[0] < 0 || frame.frameId() == nextId[0]);
                        nextId[0] = frame.frameId() + 1;
                        check(frame);
                    },
                    10);
        }
        assertTrue(firstId[0] > 0);
    }

    @Tag("campaign")
    @Test
    void shouldEvictSilentSubscriberAndGoOn() {
        final Channel channel = StreamFixture.channel("udp", ALIVE_SHORT);
        final Framecast other = nodes.launch();
        final Subscriber stays = sink.subscribe(channel);
        final Subscriber silent = other.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 2, "two subscribers");
        nodes.silence(other);
        for (int id = 0; id < 20; id++) {
            offer(publisher, id, stays);
        }
        polled(stays, 20);
        assertEquals(1, publisher.readySubscribers());
        assertEquals(1, publisher.stats().evictedSubscribers());
        // The node wakes up, and its subscriber sees the lost source.
        nodes.until(
                () -> {
                    other.doWork();
                    silent.poll(this::check, 10);
                    return silent.state() == Subscriber.State.SOURCE_LOST;
                },
                "source lost");
        assertTrue(silent.failure().orElseThrow().contains("lost"), () -> "" + silent.failure());
    }

    @Tag("campaign")
    @Test
    void shouldTellSourceLostWhenSourceIsSilent() {
        final Channel channel = StreamFixture.channel("udp", ALIVE_SHORT);
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        nodes.silence(source);
        nodes.until(() -> subscriber.state() == Subscriber.State.SOURCE_LOST, "source lost");
        final String failure = subscriber.failure().orElseThrow();
        assertTrue(failure.contains("silent for 2000 ms") || failure.contains("process stood still"), failure);
    }

    @Tag("campaign")
    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldServeNewSubscriberWhenSourceRestarts(final String transport) {
        final Channel channel = StreamFixture.channel(transport, ALIVE_SHORT);
        final Framecast firstLife = nodes.launch();
        final Subscriber before = sink.subscribe(channel);
        final Publisher first = firstLife.publish(channel);
        nodes.until(() -> first.readySubscribers() == 1, "ready");
        offer(first, 0, before);
        polled(before, 1);
        // Like a process that dies: it sends nothing more.
        nodes.silence(firstLife);
        final Publisher second = source.publish(channel);
        nodes.until(() -> before.state() == Subscriber.State.SOURCE_LOST, "source lost");
        final Subscriber after = sink.subscribe(channel);
        nodes.until(() -> second.readySubscribers() == 1, "ready again");
        offer(second, 0, after);
        polled(after, 1);
        assertEquals(Subscriber.State.READY, after.state());
    }

    @Test
    void shouldSayFalseWhenSubscriberDoesNotTakeAllWithinLinger() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS + "|frames-held=1");
        final Framecast other = nodes.launch();
        final Subscriber subscriber = other.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        assertTrue(publisher.offer(frame(0), FrameOptions.DEFAULT) > 0);
        nodes.silence(other);
        assertFalse(publisher.close(Duration.ofMillis(50)));
        assertFalse(publisher.close(Duration.ofMillis(50)), "the same answer once more");
        // The datagrams in its sockets are delivered before it sees the end.
        nodes.until(
                () -> {
                    other.doWork();
                    subscriber.poll(this::check, 10);
                    return subscriber.state() != Subscriber.State.READY;
                },
                "end");
        assertEquals(1, subscriber.stats().frames());
    }

    @Tag("campaign")
    @Test
    void shouldSayFalseWhenSubscriberIsEvictedDuringLinger() {
        final Channel channel = StreamFixture.channel("udp", ALIVE_SHORT);
        final Framecast other = nodes.launch();
        other.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        assertTrue(publisher.offer(frame(0), FrameOptions.DEFAULT) > 0);
        nodes.silence(other);
        assertFalse(publisher.close(Duration.ofSeconds(30)));
        assertEquals(1, publisher.stats().evictedSubscribers());
    }

    @Test
    void shouldEndStreamWhenClosedWithoutLinger() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        offer(publisher, 0, subscriber);
        polled(subscriber, 1);
        publisher.close();
        publisher.close();
        nodes.until(() -> subscriber.state() == Subscriber.State.END_OF_STREAM, "end of stream");
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldTellSourceLostWhenPublisherAbandonsItsStream(final String transport) {
        final Channel channel = StreamFixture.channel(transport, SETTINGS);
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        offer(publisher, 0, subscriber);
        polled(subscriber, 1);
        publisher.abandon();
        publisher.abandon();
        publisher.close();
        assertFalse(publisher.close(Duration.ofSeconds(1)), "abandoned: no subscriber saw the end");
        nodes.until(() -> subscriber.state() == Subscriber.State.SOURCE_LOST, "source lost");
        assertEquals(
                "source lost: it closed without end of stream",
                subscriber.failure().orElseThrow());
        assertEquals(Publisher.CLOSED, publisher.offer(frame(1), FrameOptions.DEFAULT));
    }

    @Test
    void shouldDeliverWhatWasSentWhenClosedWithoutLingerBeforeTheSubscriberLooks() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        nodes.silence(sink);
        for (int id = 0; id < 3; id++) {
            assertTrue(publisher.offer(frame(id), FrameOptions.DEFAULT) > 0);
        }
        for (int i = 0; i < 1_000; i++) {
            source.doWork();
        }
        // Data, END and the leave messages all lie in the subscriber's sockets.
        publisher.close();
        nodes.until(
                () -> {
                    sink.doWork();
                    subscriber.poll(this::check, 10);
                    return subscriber.state() == Subscriber.State.END_OF_STREAM;
                },
                "end of stream, not " + subscriber.state());
        assertEquals(3, subscriber.stats().frames());
    }

    @Test
    void shouldLoseTheSourceBehindWholeFramesWhenItClosesWithinAFrame() {
        try (StreamFixture stream = new StreamFixture(
                NodeConfig.DEFAULT.withSeed(7), "udp", "|mtu=1500|window=100k|frame-max=3000000|device=host")) {
            stream.await(() -> stream.publisher.offer(frame(0), FrameOptions.DEFAULT) > 0, "frame taken");
            final MemorySegment torn = stream.frame(1, 3_000_000);
            stream.await(
                    // Refused as a whole while the first, of 57 datagrams, is not acknowledged.
                    () -> stream.publisher.offer(torn, FrameOptions.DEFAULT) == Publisher.BACK_PRESSURED
                            && stream.publisher.stats().sentDatagrams() > 57,
                    "part of a frame taken");
            assertFalse(stream.publisher.close(Duration.ofMinutes(10)), "no end");
            stream.await(
                    () -> {
                        stream.subscriber.poll(this::check, 10);
                        return stream.subscriber.state() == Subscriber.State.SOURCE_LOST;
                    },
                    "source lost");
            assertEquals(1, stream.subscriber.stats().frames());
            assertTrue(stream.subscriber.failure().orElseThrow().contains("closed without end"));
        }
    }

    @Test
    void shouldRefuseAnotherFrameWhileOneIsTakenInParts() {
        final Channel channel = StreamFixture.channel("udp", "|mtu=1500|window=100k|frame-max=3000000|device=host");
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        final MemorySegment first = arena.allocate(2_000_000).fill((byte) 3);
        final MemorySegment other = arena.allocate(2_000_000);
        assertEquals(Publisher.BACK_PRESSURED, publisher.offer(first, FrameOptions.DEFAULT));
        final IllegalStateException shorter = assertThrows(
                IllegalStateException.class, () -> publisher.offer(first.asSlice(0, 5), FrameOptions.DEFAULT));
        assertTrue(shorter.getMessage().contains("2000000"), shorter::getMessage);
        assertThrows(IllegalStateException.class, () -> publisher.offer(other, FrameOptions.DEFAULT));
        final DeviceFrame[] frame = new DeviceFrame[1];
        nodes.until(() -> publisher.offer(first.asSlice(0), FrameOptions.DEFAULT) > 0, "frame taken");
        nodes.until(() -> (frame[0] = subscriber.poll()) != null, "frame");
        assertEquals(-1, frame[0].region().host().mismatch(first));
        frame[0].close();
    }

    @Test
    void shouldCountFramesWhenTheUserTakesThem() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        for (int id = 0; id < 3; id++) {
            offer(publisher, id);
        }
        final EngineSubscriber engine = (EngineSubscriber) subscriber;
        nodes.until(() -> engine.delivered() == 3, "three frames delivered");
        assertEquals(0, subscriber.stats().frames());
        check(subscriber.poll());
        assertEquals(1, subscriber.stats().frames());
        assertEquals(80_000, subscriber.stats().bytes());
        assertEquals(1, subscriber.stats().inPlaceFrames());
        assertEquals(2, subscriber.poll(this::check, 10));
        assertEquals(3, subscriber.stats().inPlaceFrames());
    }

    @Test
    void shouldNoticeTheJoinsItRefuses() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Publisher publisher = source.publish(channel);
        source.doWork();
        final SourceSession session = ((EnginePublisher) publisher).session();
        final MemorySegment join = arena.allocate(Wire.CONTROL_BYTES_MAX);
        final byte[] address = session.stream().controlAddress();
        final int bytes = JoinLayout.write(
                new ControlWriter(session.stream().session()).receiver(77).in(join),
                new JoinLayout.Terms(5, Delivery.RELIABLE, 1, new LaneAddresses(address, address), CoRootOffer.NONE));
        session.machine().onControl(join, 0, bytes, 1_000_000_000);
        nodes.until(
                () -> nodes.notices().stream().anyMatch(line -> line.contains("was refused: its ring= is too small")),
                "notice");
        assertEquals(1, session.machine().counts().get(SenderCount.REFUSALS));
    }

    @Test
    void shouldKeepFramesReadableAfterEndAndLeaveUntilTheyAreClosed() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        offer(publisher, 0);
        final DeviceFrame[] frame = new DeviceFrame[1];
        nodes.until(() -> (frame[0] = subscriber.poll()) != null, "frame");
        publisher.close();
        nodes.until(() -> subscriber.state() == Subscriber.State.END_OF_STREAM, "end of stream");
        subscriber.close();
        subscriber.close();
        for (int i = 0; i < 100; i++) {
            sink.doWork();
        }
        assertNull(subscriber.poll());
        final MemorySegment memory = frame[0].region().host();
        assertEquals(-1, memory.mismatch(frame(0)));
        frame[0].close();
        frame[0].close();
        for (int i = 0; i < 100; i++) {
            sink.doWork();
        }
        assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0), "freed");
    }

    @Test
    void shouldFreeFramesStillHeldWhenNodeCloses() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final Subscriber subscriber = sink.subscribe(channel);
        final Publisher publisher = source.publish(channel);
        nodes.until(() -> publisher.readySubscribers() == 1, "ready");
        offer(publisher, 0);
        final DeviceFrame[] frame = new DeviceFrame[1];
        nodes.until(() -> (frame[0] = subscriber.poll()) != null, "frame");
        final MemorySegment memory = frame[0].region().host();
        sink.close();
        sink.close();
        assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
        frame[0].close();
        assertEquals(Subscriber.State.CLOSED, subscriber.state());
        assertNull(subscriber.poll());
        nodes.silence(sink);
    }
}
