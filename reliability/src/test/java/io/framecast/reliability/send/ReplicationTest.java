package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.send.CoRootConfig.Feed;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The writes that a source sends to its co-roots besides the multicast.
final class ReplicationTest implements SenderOutput {
    private static final int CO_ROOT = 3;
    private static final int LED = 7;
    private static final int WORD = 21;

    private boolean settled = true;
    private boolean fedOnly;
    private final List<String> done = new ArrayList<>();
    private final Counts<SenderCount> counts = new Counts<>(SenderCount.class);
    private final List<ServedGroup> sets = new ArrayList<>(List.of(new ServedGroup(CO_ROOT, LED, 0)));
    private final Replication feeds = new Replication(Feed.UNICAST, sets, _ -> settled, _ -> fedOnly, this, counts);
    private final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private boolean linked = true;
    private int room = Integer.MAX_VALUE;

    private Verdict deliver(final Replication replication, final int epoch, final int word, final long next) {
        final RemotePlace place = new RemotePlace(64, 9);
        final ControlWriter ids = new ControlWriter(77).receiver(103).epoch(epoch);
        RcConnectLayout.writeFeed(ids.in(datagram), word, EndpointOffer.ofCopy(place, place, place, place));
        return replication.onCopy(sets.getFirst(), datagram, 0, next);
    }

    private List<String> done() {
        final List<String> all = List.copyOf(done);
        done.clear();
        return all;
    }

    @Test
    void shouldDoNothingUntilACopyIsKnown() {
        feeds.push(5);
        assertEquals(List.of(), done());
        assertEquals(Long.MAX_VALUE, feeds.written());
    }

    @Test
    void shouldWriteWhatIsSentOnceACopyIsKnown() {
        assertEquals(Verdict.GOOD, deliver(feeds, LED, WORD, 5));
        feeds.push(8);
        feeds.push(9);
        assertEquals(List.of("open 3: 5, epoch 21", "write 3: 5 + 3", "write 3: 8 + 1"), done());
        assertEquals(4, counts.get(SenderCount.WRITTEN_DATAGRAMS));
        assertEquals(9, feeds.written());
    }

    @Test
    void shouldWriteWithoutAGapWhenThereIsRoomAgain() {
        deliver(feeds, LED, WORD, 0);
        room = 2;
        feeds.push(3);
        feeds.push(7);
        assertEquals(2, feeds.written(), "what is not written yet must stay");
        room = 9;
        feeds.push(7);
        assertEquals(List.of("open 3: 0, epoch 21", "write 3: 0 + 2", "write 3: 2 + 5"), done());
        assertEquals(7, feeds.written());
        feeds.push(7);
        assertEquals(List.of(), done());
    }

    @Test
    void shouldWaitWhileACoRootMayServeOneWhoIsGone() {
        deliver(feeds, LED, WORD, 0);
        settled = false;
        feeds.push(3);
        assertEquals(List.of("open 3: 0, epoch 21"), done());
        assertEquals(0, feeds.written());
        assertTrue(feeds.isAny());
        settled = true;
        feeds.push(3);
        assertEquals(List.of("write 3: 0 + 3"), done());
    }

    @Test
    void shouldHoldNothingBackWhenTheLinkIsGone() {
        deliver(feeds, LED, WORD, 0);
        feeds.push(3);
        linked = false;
        feeds.push(7);
        assertEquals(List.of("open 3: 0, epoch 21", "write 3: 0 + 3"), done());
        assertEquals(1, counts.get(SenderCount.FEED_FAILURES));
        assertEquals(Long.MAX_VALUE, feeds.written(), "nothing is held back for a link that is gone");
    }

    @Test
    void shouldSayAgainHowFarItIsWhenItIsToldAgain() {
        deliver(feeds, LED, WORD, 0);
        feeds.push(3);
        deliver(feeds, LED, WORD, 3);
        deliver(feeds, LED + 2, WORD, 3);
        assertEquals(
                List.of("open 3: 0, epoch 21", "write 3: 0 + 3", "open 3: 3, epoch 21", "open 3: 3, epoch 21"), done());
    }

    @Test
    void shouldBeginAnewWhenTheWordIsAnother() {
        deliver(feeds, LED, WORD, 0);
        feeds.push(3);
        deliver(feeds, LED + 1, WORD + 1, 9);
        feeds.push(10);
        assertEquals(List.of("open 3: 0, epoch 21", "write 3: 0 + 3", "open 3: 3, epoch 22", "write 3: 3 + 7"), done());
    }

    @Test
    void shouldNotBelieveWhatWasSaidAsACoRootOfAnEarlierEpoch() {
        assertEquals(Verdict.STALE_EPOCH, deliver(feeds, LED - 1, WORD, 0));
        assertEquals(List.of(), done());
        assertFalse(sets.getFirst().isFed());
    }

    @Test
    void shouldForgetTheCopyOfACoRootThatWasReplaced() {
        deliver(feeds, LED, WORD, 0);
        sets.getFirst().lead(CO_ROOT + 1, LED + 1, 0);
        done.clear();
        feeds.push(2);
        assertEquals(List.of(), done());
        assertEquals(Long.MAX_VALUE, feeds.written());
    }

    @Test
    void shouldRefuseWhatIsNoWordOfACopy() {
        final ControlWriter ids = new ControlWriter(77).receiver(103).epoch(LED);
        final EndpointOffer withDescriptor = EndpointOffer.ofMember(new byte[] {1});
        RcConnectLayout.writeFeed(ids.in(datagram), WORD, withDescriptor);
        assertEquals(Verdict.IMPOSSIBLE, feeds.onCopy(sets.getFirst(), datagram, 0, 0));
        assertEquals(Verdict.IMPOSSIBLE, deliver(feeds, LED, 0, 0));
        assertEquals(Verdict.IMPOSSIBLE, deliver(feeds, 0, WORD, 0));
        assertEquals(List.of(), done());
    }

    @Test
    void shouldDoNothingWhereCoRootsAreFedByMulticast() {
        final Replication multicast = new Replication(Feed.MULTICAST, sets, _ -> settled, _ -> fedOnly, this, counts);
        assertEquals(Verdict.GOOD, deliver(multicast, LED, WORD, 0));
        multicast.push(3);
        assertEquals(List.of(), done());
    }

    /// Its payloads land where it cannot read them: writes alone fill its replica, whatever the feed of others.
    @Test
    void shouldWriteForCoRootsThatKeepNothingThemselves() {
        fedOnly = true;
        final Replication multicast = new Replication(Feed.MULTICAST, sets, _ -> settled, _ -> fedOnly, this, counts);
        multicast.push(3);
        assertEquals(List.of(), done());
        assertEquals(Verdict.GOOD, deliver(multicast, LED, WORD, 3));
        multicast.push(5);
        assertEquals(List.of("open 3: 3, epoch 21", "write 3: 3 + 2"), done());
        linked = false;
        multicast.push(6);
        assertEquals(List.of(), done());
    }

    @Override
    public boolean openFeed(final int member, final EndpointOffer copy, final int epoch, final long first) {
        assertEquals(64, copy.word().address());
        done.add("open " + member + ": " + first + ", epoch " + epoch);
        return linked;
    }

    @Override
    public int feed(final int member, final long firstSequence, final int count) {
        if (!linked) {
            return NO_FEED;
        }
        final int taken = Math.min(count, room);
        room -= taken;
        if (taken > 0) {
            done.add("write " + member + ": " + firstSequence + " + " + taken);
        }
        return taken;
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MemorySegment control() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void multicastControl(final int bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void probe(final int token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOneHost(final LaneAddresses addresses) {
        return true;
    }

    @Override
    public boolean connect(final int member, final byte[] controlAddress, final byte[] repairAddress) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void disconnect(final int member) {
        throw new UnsupportedOperationException();
    }
}
