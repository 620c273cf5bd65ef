package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The product over the `verbs` transport, found as users find it, on a libibverbs without devices: three
/// subscribers in nodes of their own, each on another of its devices.
final class VerbsStreamTest {
    private static final int FIRST_FRAMES = 10;
    private static final int FRAME_MAX = 200_000;
    private static final String GRANTS = "framecast_written_grants_total";
    private static final String LINKED = "framecast_linked_members";
    private static final String FALLBACKS = "framecast_one_sided_fallbacks_total";
    private static final String SET_PULLED = "framecast_set_pulled_datagrams_total";
    private static final String SET_LINKS = "framecast_set_links_total";
    private static final String FEED_WRITTEN = "framecast_feed_written_datagrams_total";
    private static final String FEED_SENT = "framecast_feed_sent_datagrams_total";
    private static final String FEED_TAKEN = "framecast_feed_taken_datagrams_total";
    private static final String OWN_REPAIRS = "framecast_own_repairs_total";
    private static final String SET_REPAIRS = "framecast_sent_set_repairs_total";
    private static final String REGISTRATIONS = "framecast_memory_registrations_total";
    private static final Set<String> REPORTED = Set.of(
            FEED_WRITTEN,
            FEED_SENT,
            FEED_TAKEN,
            OWN_REPAIRS,
            GRANTS,
            LINKED,
            FALLBACKS,
            "framecast_read_grants_total",
            "framecast_credit_datagrams_total",
            "framecast_pulled_datagrams_total",
            SET_PULLED,
            SET_LINKS,
            "framecast_sent_repairs_total",
            "framecast_received_acks_total",
            "framecast_received_nacks_total");
    private static final long WAIT_NS = 60_000_000_000L;

    private static final AtomicInteger FILES = new AtomicInteger();

    @TempDir
    private static Path directory;

    private static StandInVerbs standIn;

    private final Arena arena = Arena.ofShared();
    private final List<Framecast> nodes = new ArrayList<>();
    private final List<Subscriber> subscribers = new ArrayList<>();
    private final List<Path> counters = new ArrayList<>();
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private int[] polled = {};
    // Of both ends' channels.
    private String keys = "";
    private long overruns;
    // As datagrams, by the source and by co-roots.
    private long sentRepairs;
    private boolean waitsForCredit = true;

    @BeforeAll
    static void compile() {
        standIn = StandInVerbs.install();
    }

    @BeforeEach
    void look() {
        overruns = standIn.count("overruns_receiving");
    }

    @AfterAll
    static void forget() {
        StandInVerbs.uninstall();
    }

    @AfterEach
    void close() {
        try {
            assertNothingFoundNoReceive();
        } finally {
            closeAll();
        }
    }

    private void closeAll() {
        nodes.forEach(Framecast::close);
        List.of("requests_max", "completions_max", "drop_every", "connect_fails")
                .forEach(name -> standIn.set(name, 0));
        arena.close();
    }

    /// A sender with credit sends no more datagrams than receives are posted. Credit does not count datagrams of
    /// control, whose queue pairs send too, probes to a lane without receives, and repairs by datagram.
    private void assertNothingFoundNoReceive() {
        final long found = standIn.count("overruns_receiving") - overruns;
        assertTrue(found == 0 || sentRepairs > 0 || !waitsForCredit, () -> found + " found no receive: " + oneSided());
    }

    private Framecast node(final Threading threading, final double loss) {
        final Path file = directory.resolve(nodes.size() + "-" + FILES.incrementAndGet() + ".counters");
        counters.add(file);
        final Framecast node = Framecast.launch(NodeConfig.DEFAULT
                .withCountersFile(file)
                .withThreading(threading)
                .withSeed(3)
                .withFaults(new NodeConfig.Faults(loss))
                .withNotices(notices::add));
        nodes.add(node);
        return node;
    }

    private Channel channel(final int device) {
        return Channel.parse("framecast:verbs?group=239.77.5.9:4100|device=host|frame-max=" + FRAME_MAX
                + "|interface=standin" + device + (keys.contains("window=") ? "" : "|window=512k") + keys);
    }

    private void await(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                throw new AssertionError("waited in vain for " + what + ": "
                        + subscribers.stream()
                                .map(each -> each.state() + " " + each.failure() + " " + each.stats())
                                .toList()
                        + notices);
            }
            LockSupport.parkNanos(20_000);
        }
    }

    private static int length(final int id) {
        return id % 3 == 2 ? 1 + id * 7 % 300 : 1 + (int) (id * 48_611L % FRAME_MAX);
    }

    private static byte value(final int id, final long index) {
        return (byte) (index * 31 + (index >>> 11) + id * 131L);
    }

    private MemorySegment frame(final int id) {
        final MemorySegment frame = arena.allocate(length(id));
        for (long i = 0; i < frame.byteSize(); i++) {
            frame.set(ValueLayout.JAVA_BYTE, i, value(id, i));
        }
        return frame;
    }

    private void check(final int subscriber, final DeviceFrame frame) {
        final int id = polled[subscriber]++;
        assertEquals(id, frame.frameId());
        assertEquals(length(id), frame.length());
        frame.awaitReady();
        final MemorySegment bytes = frame.region().host();
        for (long i = 0; i < frame.length(); i++) {
            if (bytes.get(ValueLayout.JAVA_BYTE, i) != value(id, i)) {
                throw new AssertionError("subscriber " + subscriber + ": frame " + id + " differs at byte " + i);
            }
        }
        frame.close();
    }

    private boolean pollAll(final int frames) {
        boolean done = true;
        for (int s = 0; s < subscribers.size(); s++) {
            final int subscriber = s;
            subscribers.get(s).poll(frame -> check(subscriber, frame), 10);
            done &= polled[s] == frames;
        }
        return done;
    }

    private long count(final int node, final String name) {
        return count(node, name, "");
    }

    // Nodes 0 … 2 are the subscribers', 3 is the publisher's.
    private long count(final int node, final String name, final String labels) {
        try (CounterReader reader = CounterReader.open(counters.get(node))) {
            return reader.samples().stream()
                    .filter(sample ->
                            sample.name().equals(name) && sample.labels().contains(labels))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    private long countAll(final String name) {
        return count(0, name) + count(1, name) + count(2, name);
    }

    private long fallbacks(final String reason) {
        return count(0, FALLBACKS, reason) + count(1, FALLBACKS, reason) + count(2, FALLBACKS, reason);
    }

    private String oneSided() {
        final StringBuilder text = new StringBuilder();
        for (int node = 0; node < counters.size(); node++) {
            try (CounterReader reader = CounterReader.open(counters.get(node))) {
                for (final CounterSample sample : reader.samples()) {
                    if (sample.value() != 0 && REPORTED.contains(sample.name())) {
                        text.append(node)
                                .append(' ')
                                .append(sample.name())
                                .append(sample.labels())
                                .append(' ')
                                .append(sample.value())
                                .append('\n');
                    }
                }
            }
        }
        return text.toString();
    }

    /// Once a stream runs, nothing is registered, however much it carries. A co-root and its members still register
    /// while the first frames are under way.
    private void publish(final Publisher publisher, final int from, final int to) {
        int next = from;
        long registrations;
        long counted;
        do {
            registrations = standIn.count("registrations");
            counted = registrations();
            next += FIRST_FRAMES;
            carry(publisher, next - FIRST_FRAMES, next);
        } while (registrations != standIn.count("registrations") && next + FIRST_FRAMES < to);
        carry(publisher, next, to);
        sentRepairs = count(3, "framecast_sent_repairs_total") + countAll(SET_REPAIRS);
        assertEquals(registrations, standIn.count("registrations"));
        assertTrue(counted > 0, this::oneSided);
        assertEquals(counted, registrations(), this::oneSided);
    }

    private long registrations() {
        return countAll(REGISTRATIONS) + count(3, REGISTRATIONS);
    }

    private void carry(final Publisher publisher, final int from, final int to) {
        for (int id = from; id < to; id++) {
            final MemorySegment frame = frame(id);
            await(
                    () -> {
                        pollAll(to);
                        return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
                    },
                    "room for a frame");
        }
        await(() -> pollAll(to), "all frames");
    }

    private Publisher open(final Threading threading, final double loss) {
        for (int i = 0; i < 3; i++) {
            subscribers.add(node(threading, loss).subscribe(channel(i)));
        }
        polled = new int[3];
        final Publisher publisher = node(threading, loss).publish(channel(0));
        await(() -> publisher.readySubscribers() == 3, "three subscribers");
        return publisher;
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"SHARED, 0", "SHARED, 0.01", "DEDICATED, 0.05"})
    void shouldTakeGrantsAndRepairsWithoutTheSourcesCpu(final Threading threading, final double loss) {
        final Publisher publisher = open(threading, loss);
        await(() -> count(3, LINKED) == 3, "three links");
        publish(publisher, 0, 150);
        await(() -> count(3, "framecast_read_grants_total") > 0, "counters");
        // How often one is due depends on how fast frames are consumed.
        assertTrue(countAll(GRANTS) >= 3, this::oneSided);
        assertTrue(loss == 0 || countAll("framecast_pulled_datagrams_total") > 0, this::oneSided);
        // A machine that stalls makes a read or a write late, which then goes by datagram.
        final long late = fallbacks("slow_grant") + fallbacks("slow_pull");
        assertEquals(late, countAll(FALLBACKS), this::oneSided);
        if (late == 0) {
            assertEquals(0, count(3, "framecast_sent_repairs_total"), this::oneSided);
            assertEquals(0, count(3, "framecast_received_nacks_total"), this::oneSided);
            assertTrue(count(3, "framecast_credit_datagrams_total") < countAll(GRANTS), this::oneSided);
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    /// Two members of one set read what they miss out of its co-root's memory; that, and the co-root, what they
    /// do not find there out of the source's.
    @Test
    void shouldReadRepairsOutOfACoRootsCopy() {
        keys = "|co-roots=1";
        final Publisher publisher = open(Threading.DEDICATED, 0.03);
        await(() -> count(3, LINKED) == 3 && countAll(SET_LINKS) >= 2, "links");
        publish(publisher, 0, 200);
        await(() -> countAll(SET_PULLED) > 0, "counters");
        assertTrue(countAll("framecast_pulled_datagrams_total") > 0, this::oneSided);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    /// Subscribers of one device share one membership. The one that receives leaves, and another goes on with its
    /// grants and reads.
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.03})
    void shouldGoOnWithAMembershipWhoseLeaderLeaves(final double loss) {
        keys = "|host-group=verbs|attach-after=20s";
        for (int i = 0; i < 3; i++) {
            subscribers.add(node(Threading.DEDICATED, loss).subscribe(channel(1)));
        }
        polled = new int[3];
        keys = "";
        final Publisher publisher = node(Threading.DEDICATED, loss).publish(channel(0));
        await(() -> pollAll(0) && publisher.readySubscribers() == 3, "three subscribers");
        assertEquals(1, publisher.stats().members().size());
        await(() -> count(3, LINKED) == 1, "a link");
        carry(publisher, 0, 100);
        subscribers.remove(0).close();
        polled = new int[] {100, 100};
        carry(publisher, 100, 200);
        await(() -> count(3, LINKED) == 1, "its successor's link");
        carry(publisher, 200, 300);
        sentRepairs = count(3, "framecast_sent_repairs_total");
        assertEquals(0, publisher.stats().evictedSubscribers());
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    /// The co-root copies nothing itself, and takes what it missed out of its own copy.
    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"SHARED", "DEDICATED"})
    void shouldWriteIntoACoRootsCopyWhatItKeeps(final Threading threading) {
        keys = "|co-roots=1|feed=unicast";
        final Publisher publisher = open(threading, 0.03);
        await(() -> count(3, LINKED) == 3 && countAll(SET_LINKS) >= 2, "links");
        publish(publisher, 0, 20);
        await(() -> countAll(FEED_TAKEN) > 0 || count(3, FEED_SENT) > 0, "a feed");
        publish(publisher, 20, 200);
        await(() -> countAll(OWN_REPAIRS) > 0 && countAll(SET_PULLED) > 0, "counters");
        await(() -> count(3, FEED_WRITTEN) == countAll(FEED_TAKEN), "all that was written");
        assertTrue(count(3, FEED_WRITTEN) > 50 * count(3, FEED_SENT), this::oneSided);
        assertEquals(0, fallbacks("vain_feed") + fallbacks("feed"), this::oneSided);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Tag("campaign")
    @Test
    void shouldSendWhatItCannotWriteWhenTheConnectionsBreak() {
        keys = "|co-roots=1|feed=unicast";
        final Publisher publisher = open(Threading.DEDICATED, 0.03);
        await(() -> count(3, LINKED) == 3 && countAll(SET_LINKS) >= 2, "links");
        publish(publisher, 0, 100);
        await(() -> countAll(FEED_TAKEN) > 0, "a feed");
        standIn.set("break_connections", 0);
        publish(publisher, 100, 200);
        await(() -> count(3, FEED_SENT) > 0, "datagrams");
        assertTrue(countAll(SET_REPAIRS) > 0, this::oneSided);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Test
    void shouldAskTheCoRootWhenTheConnectionsToItBreak() {
        keys = "|co-roots=1";
        final Publisher publisher = open(Threading.DEDICATED, 0.03);
        await(() -> count(3, LINKED) == 3 && countAll(SET_LINKS) >= 2, "links");
        publish(publisher, 0, 60);
        standIn.set("break_connections", 0);
        publish(publisher, 60, 150);
        await(
                () -> count(0, FALLBACKS, "set_link")
                                + count(1, FALLBACKS, "set_link")
                                + count(2, FALLBACKS, "set_link")
                        == 2,
                "counters");
        assertTrue(countAll(SET_REPAIRS) > 0, this::oneSided);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    /// Its slots may be used again while they read them.
    @Tag("campaign")
    @Test
    void shouldReadUnderGuardWhereTheSourceDoesNotWait() {
        keys = "|delivery=deadline=30s|window=8m";
        waitsForCredit = false;
        final Publisher publisher = open(Threading.DEDICATED, 0.03);
        for (int id = 0; id < 150; id++) {
            final MemorySegment frame = frame(id);
            await(
                    () -> {
                        pollContents();
                        return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
                    },
                    "room for a frame");
        }
        await(
                () -> {
                    pollContents();
                    return countAll("framecast_pulled_datagrams_total") > 0;
                },
                "reads");
        publisher.close(Duration.ofSeconds(30));
    }

    // Each frame that comes is as it was published.
    private void pollContents() {
        for (int s = 0; s < subscribers.size(); s++) {
            final int subscriber = s;
            subscribers
                    .get(s)
                    .poll(
                            frame -> {
                                polled[subscriber] = (int) frame.frameId();
                                check(subscriber, frame);
                            },
                            10);
        }
    }

    /// A minute is what the source gives a connection that is being made.
    @Test
    void shouldKnowAtOnceThatTheSourcesEndsCannotBeConnected() {
        standIn.set("connect_fails", 113);
        final Publisher publisher = open(Threading.SHARED, 0.02);
        final long startNs = System.nanoTime();
        await(() -> count(3, FALLBACKS, "link") == 3, "three links that are given up");
        assertTrue(System.nanoTime() - startNs < 20_000_000_000L, this::oneSided);
        assertEquals(
                1,
                notices.stream()
                        .filter(each -> each.contains("a subscriber's credit and repair go by datagram"))
                        .count(),
                notices::toString);
        publish(publisher, 0, 60);
        assertEquals(0, countAll(GRANTS) + count(3, LINKED), this::oneSided);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Test
    void shouldDoEverythingByDatagramsWhereItIsToldTo() {
        keys = "|one-sided=off";
        final Publisher publisher = open(Threading.SHARED, 0.02);
        publish(publisher, 0, 60);
        await(() -> count(3, "framecast_sent_repairs_total") > 0, "counters");
        assertEquals(0, countAll(GRANTS) + countAll("framecast_pulled_datagrams_total") + count(3, LINKED));
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Test
    void shouldGoOnByDatagramsWhenAllConnectionsBreak() {
        final Publisher publisher = open(Threading.DEDICATED, 0.02);
        await(() -> count(3, LINKED) == 3, "three links");
        publish(publisher, 0, 60);
        final long grants = countAll(GRANTS);
        standIn.set("break_connections", 0);
        publish(publisher, 60, 150);
        await(() -> fallbacks("link") == 3, "three links that broke");
        assertTrue(grants > 0);
        await(() -> count(3, "framecast_credit_datagrams_total") > 0, "credit by datagram");
        await(() -> count(3, "framecast_sent_repairs_total") > 0, "repairs by datagram");
        assertEquals(
                3,
                notices.stream()
                        .filter(line -> line.contains("by datagram from now on: given back"))
                        .count(),
                notices::toString);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @ParameterizedTest
    @CsvSource({"SHARED, 0", "SHARED, 0.01", "DEDICATED, 0.05"})
    void shouldDeliverEveryFrameToThreeSubscribers(final Threading threading, final double loss) {
        final int frames = 150;
        final Publisher publisher = open(threading, loss);
        publish(publisher, 0, frames);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Subscriber subscriber : subscribers) {
            await(() -> subscriber.state() == Subscriber.State.END_OF_STREAM, "the end");
            final SubscriberStats stats = subscriber.stats();
            assertEquals(frames, stats.frames());
            // A machine that stalls may ask for a repair in vain.
            assertTrue(loss > 0 || stats.inPlaceFrames() >= frames * 9L / 10, () -> "" + stats);
            assertTrue(loss == 0 || stats.reassembledBytes() > 0, () -> "" + stats);
        }
        assertTrue(notices.contains("transport: verbs"), notices::toString);
    }

    /// Each ring is longer than that: only part of it is posted at a time. A datagram without a receive is lost,
    /// like a datagram that the fabric loses.
    @Test
    void shouldDeliverEveryFrameOverQueuesShorterThanRings() {
        standIn.set("requests_max", 96);
        standIn.set("completions_max", 80);
        standIn.set("drop_every", 97);
        final Publisher publisher = open(Threading.SHARED, 0);
        publish(publisher, 0, 150);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Subscriber subscriber : subscribers) {
            await(() -> subscriber.state() == Subscriber.State.END_OF_STREAM, "the end");
            assertEquals(150, subscriber.stats().frames());
            assertTrue(subscriber.stats().repairedDatagrams() > 0, () -> "" + subscriber.stats());
        }
    }
}
