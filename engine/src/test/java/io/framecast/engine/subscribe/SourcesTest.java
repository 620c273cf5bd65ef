package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.LossCounts;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceEvent.Kind;
import io.framecast.api.Subscriber;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.node.FramecastNode;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.engine.testing.SourceLog;
import io.framecast.engine.testing.SourceLog.Feeder;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.testing.FrameBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// One subscriber, several publishers on one channel.
@Execution(ExecutionMode.CONCURRENT)
class SourcesTest {
    private static final String SETTINGS = "|mtu=1500|frame-max=60000|window=200k|device=host";

    private final InvokedNodes nodes = new InvokedNodes();

    @AfterEach
    void close() {
        nodes.close();
    }

    private static Channel with(final Channel channel, final String keys) {
        return Channel.parse(channel + keys);
    }

    private List<Feeder> feeders(final Channel channel, final int count) {
        final List<Feeder> feeders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            feeders.add(feeder(channel, i));
        }
        return feeders;
    }

    private Feeder feeder(final Channel channel, final int number) {
        final Framecast node = nodes.launch();
        return new Feeder(node, node.publish(channel), number);
    }

    // Its own thread runs its node meanwhile.
    private void end(final Feeder feeder) {
        nodes.silence(feeder.node);
        final boolean[] drained = new boolean[1];
        final Thread closing =
                Thread.ofPlatform().daemon().start(() -> drained[0] = feeder.publisher.close(Duration.ofSeconds(30)));
        nodes.until(() -> !closing.isAlive(), "closed");
        assertTrue(drained[0], "everything was acknowledged");
        nodes.resume(feeder.node);
    }

    private void publish(final List<Feeder> feeders, final int frames, final SourceLog log) {
        for (final Feeder feeder : feeders) {
            nodes.until(() -> feeder.publisher.readySubscribers() == 1, "member");
        }
        final int[] wanted = feeders.stream().mapToInt(f -> f.frames() + frames).toArray();
        nodes.until(
                () -> {
                    boolean done = true;
                    for (int i = 0; i < wanted.length; i++) {
                        final Feeder feeder = feeders.get(i);
                        done &= feeder.frames() == wanted[i] || (feeder.offer() && feeder.frames() == wanted[i]);
                    }
                    log.poll();
                    return done;
                },
                "frames taken");
    }

    private void take(final SourceLog log, final int frames) {
        nodes.until(
                () -> {
                    log.poll();
                    return log.frames == frames;
                },
                "all " + frames + " frames");
    }

    @ParameterizedTest
    @CsvSource({"udp, 2", "udp, 3", "aeron, 2", "aeron, 3"})
    void shouldGiveEveryFrameOfEachSourceInOrderWhenDatagramsAreLost(final String transport, final int publishers) {
        final Channel channel = StreamFixture.channel(transport, SETTINGS);
        final Subscriber subscriber = nodes.launchLossy(0.03).subscribe(with(channel, "|sources=3"));
        final SourceLog log = new SourceLog(subscriber);
        final List<Feeder> feeders = feeders(channel, publishers);
        publish(feeders, 60, log);
        take(log, 60 * publishers);
        assertEquals(publishers, log.sessions.size());
        for (int i = 0; i < publishers; i++) {
            assertEquals(60, log.of(i).frames);
        }
        nodes.until(() -> subscriber.stats().repairedDatagrams() > 20, "repaired");
        // One source ends, and the log shows only its end.
        final Feeder first = feeders.removeFirst();
        end(first);
        nodes.until(
                () -> {
                    log.poll();
                    return log.count(Kind.ENDED) == 1;
                },
                "end of one");
        assertEquals(Subscriber.State.READY, subscriber.state());
        publish(feeders, 40, log);
        take(log, 60 * publishers + 40 * (publishers - 1));
        // Another source takes its place.
        feeders.add(feeder(channel, publishers));
        publish(feeders, 10, log);
        take(log, 60 * publishers + 40 * (publishers - 1) + 10 * publishers);
        assertEquals(publishers + 1, log.count(Kind.JOINED));
        assertEquals(0, log.count(Kind.LOST));
        assertEquals(0, subscriber.stats().droppedFrames());
    }

    @Tag("campaign")
    @Test
    void shouldCountEachSessionByItselfAndRejoinsOfAll() {
        final Path counters = StreamFixture.countersFile();
        final Channel channel = StreamFixture.channel("udp", SETTINGS + "|alive-timeout=2500");
        final SourceLog log = new SourceLog(nodes.launch(counters).subscribe(with(channel, "|sources=2|rejoin=20s")));
        final List<Feeder> feeders = feeders(channel, 2);
        publish(feeders, 10, log);
        take(log, 20);
        nodes.until(() -> counter(counters, "framecast_joined_sources", "") == 2, "two sources");
        final long sent = feeders.getFirst().publisher.stats().sentDatagrams();
        log.sessions.keySet().forEach(session -> {
            final String labels = "session=\"" + SourceEvent.sessionText(session) + "\",lane=\"data\"";
            nodes.until(() -> counter(counters, "framecast_received_datagrams_total", labels) >= sent / 2, labels);
        });
        // One source is cut off until both sides dropped the session, and comes back as the same session.
        nodes.silence(feeders.getFirst().node);
        nodes.until(
                () -> {
                    log.poll();
                    return log.count(Kind.LOST) == 1;
                },
                "lost");
        nodes.until(() -> counter(counters, "framecast_joined_sources", "") == 1, "one source");
        nodes.resume(feeders.getFirst().node);
        nodes.until(() -> counter(counters, "framecast_rejoins_total", "") == 1, "back");
        publish(feeders, 10, log);
        take(log, 40);
        assertEquals(1, log.count(Kind.REJOINED));
        assertEquals(2, log.sessions.size());
        assertEquals(20, log.of(0).frames);
        nodes.until(() -> counter(counters, "framecast_delivered_frames_total", "") == 40, "all counted");
    }

    private static long counter(final Path file, final String name, final String labels) {
        try (CounterReader reader = CounterReader.open(file)) {
            return reader.samples().stream()
                    .filter(sample ->
                            sample.name().equals(name) && sample.labels().contains(labels))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    @Test
    void shouldListenToNoMoreSourcesThanItMay() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final SourceLog log = new SourceLog(nodes.launch().subscribe(with(channel, "|sources=2")));
        final List<Feeder> feeders = feeders(channel, 3);
        nodes.until(
                () -> feeders.stream()
                                .mapToInt(f -> f.publisher.readySubscribers())
                                .sum()
                        == 2,
                "two joined");
        final List<Feeder> heard = new ArrayList<>(feeders.stream()
                .filter(f -> f.publisher.readySubscribers() == 1)
                .toList());
        publish(heard, 20, log);
        take(log, 40);
        assertEquals(2, log.sessions.size());
        // One source stops without an end of stream; the third gets its place.
        final Feeder gone = heard.removeFirst();
        gone.publisher.abandon();
        final Feeder third = feeders.stream()
                .filter(f -> f != gone && f != heard.getFirst())
                .findFirst()
                .orElseThrow();
        heard.add(third);
        publish(heard, 5, log);
        take(log, 50);
        assertEquals(1, log.count(Kind.LOST));
        assertEquals(Subscriber.State.READY, log.subscriber.state());
    }

    @Test
    void shouldGoOnListeningWhenAllSourcesAreGone() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final SourceLog log = new SourceLog(nodes.launch().subscribe(with(channel, "|sources=2")));
        for (int i = 0; i < 6; i++) {
            final List<Feeder> one = new ArrayList<>(List.of(feeder(channel, i)));
            publish(one, 3, log);
            take(log, 3 * (i + 1));
            end(one.getFirst());
            nodes.until(
                    () -> {
                        log.poll();
                        return log.events.getLast().kind() == Kind.ENDED;
                    },
                    "end");
            nodes.until(() -> log.subscriber.state() == Subscriber.State.JOINING, "alone");
        }
        assertEquals(6, log.sessions.size());
    }

    @Tag("campaign")
    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldJoinSourceThatIsStartedAgainWhenItWasKilled(final String transport) {
        final Channel channel = StreamFixture.channel(transport, SETTINGS + "|alive-timeout=2500");
        final Subscriber subscriber = nodes.launch().subscribe(with(channel, "|rejoin=20s"));
        final SourceLog log = new SourceLog(subscriber);
        final Framecast killed = nodes.launch();
        final List<Feeder> before = List.of(new Feeder(killed, killed.publish(channel), 0));
        publish(before, 15, log);
        take(log, 15);
        nodes.silence(killed);
        nodes.until(() -> subscriber.state() == Subscriber.State.JOINING, "lost");
        final String failure = subscriber.failure().orElseThrow();
        assertTrue(failure.contains("silent") || failure.contains("process stood still"), failure);
        final List<Feeder> after = List.of(feeder(channel, 1));
        publish(after, 15, log);
        take(log, 30);
        assertEquals(Subscriber.State.READY, subscriber.state());
        assertEquals(
                List.of(Kind.JOINED, Kind.LOST, Kind.REJOINED),
                log.events.stream().map(e -> e.kind()).toList());
        assertEquals(0, log.of(1).firstFrameId);
        assertEquals(15, log.of(1).frames);
        assertEquals(1, subscriber.stats().rejoins());
        // The killed source comes back: its session is over for this subscriber, which has another source.
        nodes.resume(killed);
        publish(after, 15, log);
        take(log, 45);
        assertEquals(2, log.sessions.size());
        // A session that ended is never joined again.
        end(after.getFirst());
        nodes.until(
                () -> {
                    log.poll();
                    return subscriber.state() == Subscriber.State.END_OF_STREAM;
                },
                "end of stream");
    }

    @Tag("campaign")
    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldJoinAgainByItselfWhenItWasEvictedForSilence(final String transport) {
        final Channel channel = StreamFixture.channel(transport, SETTINGS + "|alive-timeout=2500");
        final Framecast sink = nodes.launch();
        final SourceLog log = new SourceLog(sink.subscribe(with(channel, "|rejoin=20s")));
        final Feeder feeder = feeder(channel, 0);
        publish(List.of(feeder), 15, log);
        take(log, 15);
        // A frame is in flight when the source falls silent, and others follow meanwhile.
        nodes.until(feeder::offer, "one more");
        nodes.silence(sink);
        nodes.until(() -> feeder.publisher.stats().evictedSubscribers() == 1, "evicted");
        nodes.resume(sink);
        publish(List.of(feeder), 15, log);
        final SourceLog.Session session = log.of(0);
        nodes.until(
                () -> {
                    log.poll();
                    return session.nextFrameId == feeder.frames();
                },
                "the rest");
        assertEquals(2, session.lives);
        assertEquals(1, feeder.publisher.stats().evictedSubscribers());
        assertEquals(1, feeder.publisher.readySubscribers());
        assertEquals(1, log.subscriber.stats().rejoins());
        assertTrue(session.frames >= 30, () -> "frames " + session.frames);
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"udp, 1, reliable", "udp, 2, reliable", "aeron, 1, reliable", "udp, 1, latest", "udp, 2, evict=20s"})
    void shouldReportFramesThatWerePublishedWhileItWasNoMember(
            final String transport, final int sources, final String delivery) {
        final Channel channel = StreamFixture.channel(transport, SETTINGS + "|alive-timeout=2500");
        final Path counters = StreamFixture.countersFile();
        final Framecast sink = nodes.launch(counters);
        final SourceLog log = new SourceLog(
                sink.subscribe(with(channel, "|rejoin=20s|sources=" + sources + "|delivery=" + delivery)));
        final SourceLog steady = new SourceLog(nodes.launch().subscribe(channel));
        final Feeder feeder = feeder(channel, 0);
        nodes.until(() -> feeder.publisher.readySubscribers() == 2, "two members");
        publishTo(feeder, 15, steady, log);
        for (int life = 2; life <= 3; life++) {
            final int evictions = life - 1;
            nodes.silence(sink);
            nodes.until(() -> feeder.publisher.stats().evictedSubscribers() == evictions, "evicted");
            publishTo(feeder, 40, steady);
            nodes.resume(sink);
            nodes.until(() -> feeder.publisher.readySubscribers() == 2, "a member again");
            publishTo(feeder, 10, steady, log);
            final SourceLog.Session session = log.of(0);
            assertEquals(life, session.lives);
            assertEquals(feeder.frames(), session.frames + session.lost, "given or reported, each of them once");
        }
        final SourceLog.Session session = log.of(0);
        final LossCounts lost = log.subscriber.stats().lost();
        // Datagrams that were in the socket when the node was stopped are delivered.
        assertTrue(delivery.equals("latest") || lost.notAMember() > 20, lost::toString);
        assertEquals(session.lost, lost.total());
        nodes.until(
                () -> counter(counters, "framecast_dropped_frames_total", "reason=\"not_a_member\"")
                        == lost.notAMember(),
                "counted");
    }

    private void publishTo(final Feeder feeder, final int frames, final SourceLog... logs) {
        final int wanted = feeder.frames() + frames;
        nodes.until(
                () -> {
                    boolean done = feeder.frames() == wanted || (feeder.offer() && feeder.frames() == wanted);
                    for (final SourceLog log : logs) {
                        log.poll();
                        done &= log.sessions.values().stream().anyMatch(session -> session.nextFrameId == wanted);
                    }
                    return done;
                },
                "frames taken");
    }

    @Test
    void shouldJoinAgainWhenItWasEvictedForBeingSlow() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final SourceLog log =
                new SourceLog(nodes.launch().subscribe(with(channel, "|delivery=evict=100ms|rejoin=20s")));
        final Feeder feeder = feeder(channel, 0);
        publish(List.of(feeder), 5, log);
        take(log, 5);
        // Nothing is polled until it is evicted; the source then goes on.
        nodes.until(
                () -> {
                    feeder.offer();
                    return feeder.publisher.stats().evictedSubscribers() >= 1;
                },
                "evicted");
        nodes.until(
                () -> {
                    log.poll();
                    return log.count(Kind.REJOINED) == 1;
                },
                "back");
        publish(List.of(feeder), 25, log);
        final SourceLog.Session session = log.of(0);
        nodes.until(
                () -> {
                    log.poll();
                    return session.nextFrameId == feeder.frames();
                },
                "the rest");
        assertEquals(session.lives - 1, log.subscriber.stats().rejoins());
        assertEquals(session.lives - 1, feeder.publisher.stats().evictedSubscribers());
    }

    @Test
    void shouldTellSourceLostWhenItDoesNotComeBackInTime() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS + "|alive-timeout=2500");
        final Subscriber subscriber = nodes.launch().subscribe(with(channel, "|rejoin=300ms"));
        final SourceLog log = new SourceLog(subscriber);
        final Feeder feeder = feeder(channel, 0);
        publish(List.of(feeder), 5, log);
        take(log, 5);
        feeder.publisher.abandon();
        nodes.until(
                () -> {
                    log.poll();
                    return subscriber.state() == Subscriber.State.SOURCE_LOST;
                },
                "lost for good");
        assertTrue(subscriber.failure().orElseThrow().contains("waited 300 ms"), () -> "" + subscriber.failure());
        assertEquals(
                List.of(Kind.JOINED, Kind.LOST),
                log.events.stream().map(e -> e.kind()).toList());
        assertEquals(0, subscriber.stats().rejoins());
    }

    @Test
    void shouldHoldMemoryOfTwoSessionsAtMostWhenFramesAreHeld() {
        final Channel channel = StreamFixture.channel("udp", SETTINGS);
        final FramecastNode sink = (FramecastNode) nodes.launch();
        final Subscriber subscriber = sink.subscribe(with(channel, "|rejoin=20s"));
        final List<io.framecast.api.DeviceFrame> held = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            final Feeder feeder = feeder(channel, i);
            nodes.until(() -> feeder.publisher.readySubscribers() == 1, "member");
            nodes.until(feeder::offer, "taken");
            nodes.until(
                    () -> {
                        final var frame = subscriber.poll();
                        return frame != null && held.add(frame);
                    },
                    "frame");
            feeder.publisher.abandon();
            nodes.until(() -> subscriber.state() == Subscriber.State.JOINING, "lost");
        }
        final Feeder third = feeder(channel, 2);
        final long startNs = System.nanoTime();
        nodes.until(() -> System.nanoTime() - startNs > 400_000_000L, "heartbeats of the third");
        assertEquals(0, third.publisher.readySubscribers());
        held.forEach(frame -> assertEquals(
                FrameBytes.value(7 * held.indexOf(frame), 0),
                frame.region().host().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0)));
        held.forEach(io.framecast.api.DeviceFrame::close);
        nodes.until(() -> third.publisher.readySubscribers() == 1, "joined once there is room");
        subscriber.close();
    }

    @ParameterizedTest
    @CsvSource({"udp, 1", "udp, 2", "aeron, 1"})
    void shouldFollowSourceThatIsStartedAgainWithOtherSizes(final String transport, final int sources) {
        final Channel channel = Channel.parse(StreamFixture.uri(transport));
        final Subscriber subscriber =
                nodes.launch().subscribe(with(channel, "|device=host|rejoin=20s|sources=" + sources));
        final SourceLog log = new SourceLog(subscriber);
        final List<String> sizes = List.of(
                "|mtu=1500|frame-max=60000|window=200k",
                "|mtu=9000|frame-max=500000|window=2m",
                "|mtu=1300|frame-max=60001|window=64k",
                "|mtu=1500|frame-max=3000000|window=8m");
        for (int i = 0; i < 2 * sizes.size(); i++) {
            final Feeder feeder = feeder(with(channel, sizes.get(i % sizes.size())), i);
            nodes.until(() -> feeder.publisher.readySubscribers() == 1, "member");
            // From every other source, frames wait to be polled when the source is gone.
            final boolean polls = i % 2 == 0;
            nodes.until(
                    () -> {
                        feeder.offer();
                        if (polls) {
                            log.poll();
                        }
                        return feeder.frames() == 3;
                    },
                    "frames taken");
            final int wanted = 3 * (i + 1);
            nodes.until(
                    () -> {
                        if (polls) {
                            log.poll();
                        }
                        return log.frames + ((EngineSubscriber) subscriber).delivered() == wanted;
                    },
                    "frames delivered");
            feeder.publisher.abandon();
            nodes.until(
                    () -> {
                        log.poll();
                        return log.events.getLast().kind() == Kind.LOST;
                    },
                    "lost");
        }
        assertEquals(2 * sizes.size(), log.sessions.size());
        assertEquals(3 * 2 * sizes.size(), log.frames);
    }
}
