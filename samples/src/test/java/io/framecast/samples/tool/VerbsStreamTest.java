package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
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
    private static final String FEED_TAKEN = "framecast_feed_taken_datagrams_total";
    private static final String OWN_REPAIRS = "framecast_own_repairs_total";
    private static final String SET_REPAIRS = "framecast_sent_set_repairs_total";
    private static final String REGISTRATIONS = "framecast_memory_registrations_total";
    private static final Set<String> REPORTED = Set.of(
            FEED_WRITTEN,
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
            SET_REPAIRS,
            "framecast_sent_repairs_total",
            "framecast_received_acks_total",
            "framecast_received_nacks_total");

    @TempDir
    private static Path directory;

    private static StandInVerbs standIn;

    private final StreamNodes nodes = new StreamNodes(directory, VerbsStreamTest::length);
    // Of both ends' channels.
    private String keys = "";
    private long overruns;
    private boolean waitsForCredit = true;

    @BeforeAll
    static void compile() {
        standIn = StandInVerbs.install();
    }

    /// Datagrams that found no receive until now are not counted. A probe takes a receive that was granted for
    /// data, until its member takes it up; and a member that leaves takes up nothing any more.
    @BeforeEach
    void countFromHere() {
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
        nodes.close();
        List.of("requests_max", "completions_max", "drop_every", "connect_fails")
                .forEach(name -> standIn.set(name, 0));
    }

    /// A sender with credit sends no more datagrams than receives are posted. Credit does not count datagrams of
    /// control, whose queue pairs send too, and repairs by datagram.
    private void assertNothingFoundNoReceive() {
        final long found = standIn.count("overruns_receiving") - overruns;
        if (found > 0 && waitsForCredit) {
            nodes.settle(REPORTED);
            final long repairs = count(3, "framecast_sent_repairs_total") + countAll(SET_REPAIRS);
            assertTrue(repairs > 0, () -> found + " found no receive: " + oneSided());
        }
    }

    private static NodeConfig config(final Threading threading, final double loss) {
        return NodeConfig.DEFAULT.withThreading(threading).withSeed(3).withFaults(new NodeConfig.Faults(loss));
    }

    private Channel channel(final int device) {
        return Channel.parse("framecast:verbs?group=239.77.5.9:4100|device=host|frame-max=" + FRAME_MAX
                + "|interface=standin" + device + (keys.contains("window=") ? "" : "|window=512k") + keys);
    }

    private static int length(final int id) {
        return id % 3 == 2 ? 1 + id * 7 % 300 : 1 + (int) (id * 48_611L % FRAME_MAX);
    }

    // Nodes 0 … 2 are the subscribers', 3 is the publisher's.
    private long count(final int node, final String name) {
        return nodes.count(node, name);
    }

    private long count(final int node, final String name, final String labels) {
        return nodes.count(node, name, labels);
    }

    private long countAll(final String name) {
        return count(0, name) + count(1, name) + count(2, name);
    }

    private long fallbacks(final String reason) {
        return count(0, FALLBACKS, reason) + count(1, FALLBACKS, reason) + count(2, FALLBACKS, reason);
    }

    private String oneSided() {
        return nodes.counters(REPORTED);
    }

    /// Once a stream runs, nothing is registered, however much it carries. A co-root and its members still
    /// register while the first frames are under way.
    private void publish(final Publisher publisher, final int from, final int to) {
        int next = from;
        long registrations;
        do {
            registrations = standIn.count("registrations");
            next += FIRST_FRAMES;
            nodes.publish(publisher, next - FIRST_FRAMES, next);
            countFromHere();
        } while (registrations != standIn.count("registrations") && next + FIRST_FRAMES < to);
        nodes.publish(publisher, next, to);
        assertEquals(registrations, standIn.count("registrations"));
        nodes.await(() -> countAll(REGISTRATIONS) + count(3, REGISTRATIONS) > 0, "counters");
    }

    private Publisher open(final Threading threading, final double loss) {
        for (int i = 0; i < 3; i++) {
            nodes.subscribe(config(threading, loss), channel(i));
        }
        final Publisher publisher = nodes.node(config(threading, loss)).publish(channel(0));
        nodes.await(() -> publisher.readySubscribers() == 3, "three subscribers");
        return publisher;
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"SHARED, 0", "SHARED, 0.01", "DEDICATED, 0.05"})
    void shouldTakeGrantsAndRepairsWithoutTheSourcesCpu(final Threading threading, final double loss) {
        final Publisher publisher = open(threading, loss);
        nodes.await(() -> count(3, LINKED) == 3, "three links");
        publish(publisher, 0, 150);
        nodes.await(() -> count(3, "framecast_read_grants_total") > 0, "counters");
        // How often one is due depends on how fast frames are consumed.
        nodes.await(() -> countAll(GRANTS) >= 3, "grants");
        nodes.await(() -> loss == 0 || countAll("framecast_pulled_datagrams_total") > 0, "reads");
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        nodes.settle(REPORTED);
        // A machine that stalls makes a read or a write late, which then goes by datagram.
        final long late = fallbacks("slow_grant") + fallbacks("slow_pull");
        assertEquals(late, countAll(FALLBACKS), this::oneSided);
        if (late == 0) {
            assertEquals(0, count(3, "framecast_sent_repairs_total"), this::oneSided);
            assertEquals(0, count(3, "framecast_received_nacks_total"), this::oneSided);
            assertTrue(count(3, "framecast_credit_datagrams_total") < countAll(GRANTS), this::oneSided);
        }
    }

    /// Two members of one set read what they miss out of its co-root's memory; that, and the co-root, what they
    /// do not find there out of the source's.
    @ParameterizedTest
    @ValueSource(strings = {"", "|payloads=unprotected|auth=psk:", "|auth=psk:"})
    void shouldReadRepairsOutOfACoRootsCopy(final String security) throws IOException {
        final Path key = directory.resolve("key");
        Files.writeString(key, "one " + "5a".repeat(32) + "\n");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        keys = "|co-roots=1" + (security.isEmpty() ? "" : security + key);
        final Publisher publisher = open(Threading.DEDICATED, 0.03);
        nodes.await(() -> count(3, LINKED) == 3 && countAll(SET_LINKS) >= 2, "links");
        publish(publisher, 0, 200);
        nodes.await(() -> countAll(SET_PULLED) > 0, "counters");
        nodes.await(() -> countAll("framecast_pulled_datagrams_total") > 0, "reads from the source");
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    /// Subscribers of one device share one membership. The one that receives leaves, and another goes on with its
    /// grants and reads.
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.03})
    void shouldGoOnWithAMembershipWhoseLeaderLeaves(final double loss) {
        keys = "|host-group=verbs|attach-after=20s";
        for (int i = 0; i < 3; i++) {
            nodes.subscribe(config(Threading.DEDICATED, loss), channel(1));
        }
        keys = "";
        final Publisher publisher =
                nodes.node(config(Threading.DEDICATED, loss)).publish(channel(0));
        nodes.await(() -> nodes.pollAll(0) && publisher.readySubscribers() == 3, "three subscribers");
        assertEquals(1, publisher.stats().members().size());
        nodes.await(() -> count(3, LINKED) == 1, "a link");
        nodes.publish(publisher, 0, 100);
        nodes.leave(0);
        nodes.publish(publisher, 100, 200);
        countFromHere();
        nodes.await(() -> count(3, LINKED) == 1, "its successor's link");
        nodes.publish(publisher, 200, 300);
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
        nodes.await(() -> count(3, LINKED) == 3 && countAll(SET_LINKS) >= 2, "links");
        // The co-root takes no datagram that the source writes before its first look.
        int frames = 20;
        publish(publisher, 0, frames);
        while (countAll(FEED_TAKEN) == 0 && frames < 150) {
            publish(publisher, frames, ++frames);
        }
        nodes.await(() -> countAll(FEED_TAKEN) > 0, "a feed");
        final long early = count(3, FEED_WRITTEN);
        publish(publisher, frames, 200);
        nodes.await(() -> countAll(OWN_REPAIRS) > 0 && countAll(SET_PULLED) > 0, "counters");
        nodes.await(
                () -> countAll(FEED_TAKEN) + fallbacks("late_feed") >= count(3, FEED_WRITTEN) - early,
                "what was written");
        nodes.await(
                () -> countAll(FEED_TAKEN) + fallbacks("late_feed") <= count(3, FEED_WRITTEN),
                "no more taken than written");
        assertEquals(0, fallbacks("vain_feed") + fallbacks("feed"), this::oneSided);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Tag("campaign")
    @Test
    void shouldServeWhatItReceivesWhenTheConnectionsOfItsFeedBreak() {
        keys = "|co-roots=1|feed=unicast";
        final Publisher publisher = open(Threading.DEDICATED, 0.03);
        nodes.await(() -> count(3, LINKED) == 3 && countAll(SET_LINKS) >= 2, "links");
        publish(publisher, 0, 100);
        nodes.await(() -> countAll(FEED_TAKEN) > 0, "a feed");
        standIn.set("break_connections", 0);
        publish(publisher, 100, 200);
        nodes.await(() -> countAll(SET_REPAIRS) > 0, "repairs by the co-root");
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Test
    void shouldAskTheCoRootWhenTheConnectionsToItBreak() {
        keys = "|co-roots=1";
        final Publisher publisher = open(Threading.DEDICATED, 0.03);
        nodes.await(() -> count(3, LINKED) == 3 && countAll(SET_LINKS) >= 2, "links");
        publish(publisher, 0, 60);
        standIn.set("break_connections", 0);
        publish(publisher, 60, 150);
        nodes.await(
                () -> count(0, FALLBACKS, "set_link")
                                + count(1, FALLBACKS, "set_link")
                                + count(2, FALLBACKS, "set_link")
                        == 2,
                "counters");
        nodes.await(() -> countAll(SET_REPAIRS) > 0, "repairs by the co-root");
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    /// Its slots may be used again while they read them.
    @Tag("campaign")
    @Test
    void shouldReadUnderGuardWhereTheSourceDoesNotWait() {
        keys = "|delivery=deadline=30s|window=8m";
        waitsForCredit = false;
        final Publisher publisher = open(Threading.DEDICATED, 0.03);
        nodes.takeGaps();
        for (int id = 0; id < 150; id++) {
            final MemorySegment frame = nodes.frame(id);
            nodes.await(
                    () -> {
                        nodes.pollAll(0);
                        return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
                    },
                    "room for a frame");
        }
        nodes.await(
                () -> {
                    nodes.pollAll(0);
                    return countAll("framecast_pulled_datagrams_total") > 0;
                },
                "reads");
        publisher.close(Duration.ofSeconds(30));
    }

    /// The source reports the refusal, not the end of the minute that it gives a connection that is being made.
    @Test
    void shouldKnowAtOnceThatTheSourcesEndsCannotBeConnected() {
        standIn.set("connect_fails", 113);
        final Publisher publisher = open(Threading.SHARED, 0.02);
        nodes.await(() -> count(3, FALLBACKS, "link") == 3, "three links that are given up");
        assertEquals(
                1,
                nodes.notices().stream()
                        .filter(each -> each.contains("a subscriber's credit and repair go by datagram")
                                && each.contains("ibv_modify_qp"))
                        .count(),
                () -> nodes.notices().toString());
        publish(publisher, 0, 60);
        assertEquals(0, countAll(GRANTS) + count(3, LINKED), this::oneSided);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Test
    void shouldDoEverythingByDatagramsWhereItIsToldTo() {
        keys = "|one-sided=off";
        final Publisher publisher = open(Threading.SHARED, 0.02);
        publish(publisher, 0, 60);
        nodes.await(() -> count(3, "framecast_sent_repairs_total") > 0, "counters");
        assertEquals(0, countAll(GRANTS) + countAll("framecast_pulled_datagrams_total") + count(3, LINKED));
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @Test
    void shouldGoOnByDatagramsWhenAllConnectionsBreak() {
        final Publisher publisher = open(Threading.DEDICATED, 0.02);
        nodes.await(() -> count(3, LINKED) == 3, "three links");
        publish(publisher, 0, 60);
        nodes.await(() -> countAll(GRANTS) > 0, "grants");
        standIn.set("break_connections", 0);
        publish(publisher, 60, 150);
        nodes.await(() -> fallbacks("link") == 3, "three links that broke");
        nodes.await(() -> count(3, "framecast_credit_datagrams_total") > 0, "credit by datagram");
        nodes.await(() -> count(3, "framecast_sent_repairs_total") > 0, "repairs by datagram");
        assertEquals(
                3,
                nodes.notices().stream()
                        .filter(line -> line.contains("by datagram from now on: given back"))
                        .count(),
                () -> nodes.notices().toString());
        assertTrue(publisher.close(Duration.ofSeconds(30)));
    }

    @ParameterizedTest
    @CsvSource({"SHARED, 0", "SHARED, 0.01", "DEDICATED, 0.05"})
    void shouldDeliverEveryFrameToThreeSubscribers(final Threading threading, final double loss) {
        final int frames = 150;
        final Publisher publisher = open(threading, loss);
        publish(publisher, 0, frames);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Subscriber subscriber : nodes.subscribers()) {
            nodes.await(() -> subscriber.state() == Subscriber.State.END_OF_STREAM, "the end");
            final SubscriberStats stats = subscriber.stats();
            assertEquals(frames, stats.frames());
            // A machine that stalls may ask for a repair in vain. Others are copied where they pass the ring's end.
            assertTrue(
                    loss > 0 || stats.inPlaceFrames() >= frames * 9L / 10 - stats.repairedDatagrams(),
                    () -> "" + stats);
            assertTrue(loss == 0 || stats.reassembledBytes() > 0, () -> "" + stats);
        }
        assertTrue(
                nodes.notices().contains("transport: verbs"),
                () -> nodes.notices().toString());
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
        for (final Subscriber subscriber : nodes.subscribers()) {
            nodes.await(() -> subscriber.state() == Subscriber.State.END_OF_STREAM, "the end");
            assertEquals(150, subscriber.stats().frames());
            assertTrue(subscriber.stats().repairedDatagrams() > 0, () -> "" + subscriber.stats());
        }
    }
}
