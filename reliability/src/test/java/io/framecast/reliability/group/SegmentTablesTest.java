package io.framecast.reliability.group;

import static io.framecast.reliability.group.SegmentFixture.RING_BYTES;
import static io.framecast.reliability.group.SegmentFixture.STREAM;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.Delivery;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The words that leader and members share, and how either takes words that make no sense.
final class SegmentTablesTest {
    private final SegmentFixture segment = new SegmentFixture(Delivery.RELIABLE);
    private final LeaderTable leader = segment.leader;
    private final ArrayMemory words = segment.words;

    private static StreamFormat format(final int serial) {
        return new StreamFormat(serial, 1 + serial % 15, serial, ("format " + serial).getBytes(StandardCharsets.UTF_8));
    }

    /// A place is written again only when no member can read an entry that names it.
    @Test
    void shouldKeepTheFormatsOfFramesThatAreNotReleased() {
        final FollowerTable one = segment.follower();
        final int last = SegmentLayout.FORMATS - 1;
        for (int i = 0; i < last; i++) {
            assertTrue(leader.hasRoom(0));
            leader.publish(i, 0, 64, 0, 0, true, null, format(i + 1), 0);
        }
        // The one that is left is a checkpoint's.
        assertFalse(leader.hasRoom(0));
        assertEquals(1, leader.sparingFormats());
        assertTrue(leader.hasRoom(1));
        leader.publish(last, 0, 64, 0, 0, true, null, format(last + 1), 0);
        assertFalse(leader.hasRoom(1));
        assertEquals(2, leader.sparingFormats());
        assertTrue(leader.hasRoom(2));
        leader.publish(SegmentLayout.FORMATS, 0, 64, 0, 0, true, null, format(1000), 1);
        for (int i = 1; i < SegmentLayout.FORMATS; i++) {
            assertArrayEquals(format(i + 1).bytes(), one.format(i));
        }
        assertArrayEquals(format(1000).bytes(), one.format(SegmentLayout.FORMATS));
        assertSame(one.format(5), one.format(5));
    }

    @Test
    void shouldTellLossesInOrderAndFreeNothingBeforeItIsReleased() {
        final FollowerTable one = segment.follower();
        final FollowerTable other = segment.follower();
        assertEquals(0, leader.publishLoss(5, 2, LossReason.EXPIRED, 0));
        assertEquals(1, leader.publishLoss(7, 1, LossReason.DAMAGED, 0));
        assertEquals(0, leader.released());
        assertTrue(one.hasNext());
        assertEquals(0, one.take());
        assertTrue(one.isLoss(0));
        assertEquals(5, one.frameId(0));
        assertEquals(2, one.length(0));
        assertEquals(LossReason.EXPIRED, one.lossReason(0));
        assertEquals(1, one.take());
        assertEquals(-1, one.take());
        // Out of order.
        one.release(1);
        assertEquals(0, leader.released());
        one.release(0);
        assertEquals(0, leader.released(), "the other one has not");
        other.take();
        other.release(0);
        assertEquals(1, leader.released());
        leader.dismiss(1);
        assertEquals(2, leader.released());
    }

    @Test
    void shouldHoldNothingForOneWhoDropsAndTellItWhatIsWrittenAgain() {
        final FollowerTable every = segment.follower();
        final FollowerTable newest = segment.follower(Delivery.LATEST);
        assertTrue(leader.isReadUnheld());
        assertEquals(Delivery.RELIABLE, leader.strongest());
        for (int i = 0; i < 5; i++) {
            leader.publishLoss(i, 1, LossReason.EXPIRED, 0);
        }
        assertEquals(0, leader.released());
        for (int i = 0; i < 4; i++) {
            every.release(every.take());
        }
        assertEquals(4, leader.released(), "the other one holds nothing");
        assertEquals(0, newest.take());
        assertTrue(newest.isIntact(0));
        leader.free(1);
        assertFalse(newest.isIntact(0), "it was given back while it was read");
        assertTrue(newest.isIntact(1));
        leader.free(3);
        assertEquals(3, newest.take(), "the first that is still there");
        assertEquals(0, newest.firstFrameId());
    }

    @Test
    void shouldCountTheStrongestPolicyOfThoseWhoAreThere() {
        final int every = segment.admit(Delivery.RELIABLE);
        final int young = segment.admit(Delivery.deadline(40));
        segment.admit(Delivery.LATEST);
        segment.admit(Delivery.deadline(20));
        assertEquals(Delivery.RELIABLE, leader.strongest());
        leader.dismiss(every);
        assertEquals(Delivery.deadline(40), leader.strongest());
        leader.dismiss(young);
        assertEquals(Delivery.deadline(20), leader.strongest());
        leader.dismiss(3);
        assertEquals(Delivery.LATEST, leader.strongest());
        assertEquals(1, leader.members());
    }

    @Test
    void shouldBeginOnlyWhenTheSourceWaits() {
        leader.become(SegmentLayout.RUNNING);
        leader.askToWait(false);
        final FollowerTable every = segment.follower();
        final FollowerTable newest = segment.follower(Delivery.LATEST);
        leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
        assertFalse(begins(every));
        assertTrue(begins(newest));
        assertEquals(1, leader.released(), "what came before the source was asked is released");
        leader.askToWait(true);
        segment.frame(1);
        assertFalse(begins(every));
        assertEquals(1, leader.released(), "what comes then is kept");
        leader.publishLoss(2, 1, LossReason.EXPIRED, 0);
        assertFalse(begins(every));
        assertEquals(3, leader.released(), "but for what comes in front of a loss");
        segment.frame(3);
        leader.onWaitedFor();
        segment.frame(4);
        assertTrue(begins(every));
        assertEquals(3, every.take());
        assertEquals(3, leader.released());
        assertEquals(4, newest.published() - 1);
    }

    private static boolean begins(final FollowerTable member) {
        return status(member) != StreamStatus.NONE;
    }

    @Test
    void shouldKeepEverythingUntilAllWhoAreAwaitedCame() {
        leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
        leader.dismiss(segment.admit(Delivery.RELIABLE));
        assertEquals(0, leader.released());
        final FollowerTable awaited = segment.follower();
        final FollowerTable late = segment.follower();
        assertEquals(0, awaited.take());
        assertFalse(late.hasNext());
    }

    @Test
    void shouldBeginAtTheNextEntryAndHoldBackFromThereOn() {
        leader.dismiss(segment.admit(Delivery.RELIABLE));
        leader.onHandoverComplete();
        leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
        assertEquals(1, leader.released());
        final FollowerTable late = segment.follower();
        assertFalse(late.hasNext());
        leader.publishLoss(1, 1, LossReason.EXPIRED, 0);
        assertEquals(1, leader.released());
        assertEquals(1, late.take());
    }

    @Test
    void shouldWakeAMemberThatSleepsOnce() {
        final FollowerTable one = segment.follower();
        segment.frame(0);
        assertEquals(List.of(), segment.woken, "it is awake");
        assertFalse(one.sleeps(one.state()), "an entry waits");
        one.take();
        assertTrue(one.sleeps(one.state()));
        segment.frame(1);
        segment.frame(2);
        assertEquals(List.of(0), segment.woken);
        one.take();
        one.take();
        assertTrue(one.sleeps(one.state()));
        one.wakes();
        segment.frame(3);
        assertEquals(List.of(0), segment.woken, "it woke by itself");
    }

    @Test
    void shouldWakeTheLeaderByTheLastMemberThatReleasesWhatItWants() {
        final FollowerTable one = segment.follower();
        final FollowerTable other = segment.follower();
        segment.frame(0);
        segment.frame(1);
        one.take();
        assertFalse(one.release(0), "it wants nothing");
        leader.want(2);
        one.take();
        assertFalse(one.release(1), "the other one has not");
        other.take();
        other.take();
        assertFalse(other.release(0));
        assertTrue(other.release(1));
        assertEquals(-1, leader.shortAt(), "only once");
    }

    private static Checkpoint checkpoint(final long first, final long frameId, final long acknowledged) {
        final Checkpoint made = new Checkpoint();
        made.secret = 4711;
        made.firstSequence = first;
        made.frameId = frameId;
        made.acknowledged = acknowledged;
        made.granted = acknowledged + 10;
        made.frameBytes = 5_000;
        made.attributes = 3 << 8;
        made.metadata = new byte[] {7, 8, 9};
        return made;
    }

    private static @Nullable Promise promise(final FollowerTable member) {
        member.claim();
        return member.promise("test");
    }

    @Test
    void shouldLeaveASuccessorWhatWasPromised() {
        leader.become(SegmentLayout.RUNNING);
        final FollowerTable member = segment.follower();
        assertNull(promise(member), "nothing was promised");
        assertFalse(member.hasPromise());
        leader.checkpoint(checkpoint(6, 9, 8), 2048);
        assertTrue(leader.isClaimed());
        assertTrue(member.hasPromise());
        final Promise found = promise(member);
        assertNotNull(found);
        assertEquals(STREAM.session(), found.stream().session());
        assertEquals(STREAM.slotBytes(), found.stream().slotBytes());
        assertEquals(6, found.checkpoint().firstSequence);
        assertEquals(9, found.checkpoint().frameId);
        assertEquals(8, found.checkpoint().acknowledged);
        assertEquals(4711, found.checkpoint().secret);
        assertArrayEquals(new byte[] {7, 8, 9}, found.checkpoint().metadata);
        assertEquals(2048, found.offset());
        assertEquals(2L * STREAM.slotBytes(), found.bytes());
        assertTrue(found.waitedFor());
    }

    @Test
    void shouldKnowTheNewestClaim() {
        final FollowerTable one = segment.follower();
        final FollowerTable other = segment.follower();
        final int first = one.claim();
        assertTrue(one.isNewest(first));
        final int second = other.claim();
        assertFalse(one.isNewest(first));
        assertTrue(other.isNewest(second));
    }

    @Test
    void shouldNameASuccessorTheMembersThatLiveAndStay() {
        final int lives = segment.admit(Delivery.RELIABLE);
        final int died = segment.admit(Delivery.RELIABLE);
        final int own = segment.admit(Delivery.RELIABLE);
        leader.name(lives, 11, false);
        leader.name(died, 12, false);
        leader.name(own, 13, true);
        final FollowerTable leaves = segment.follower();
        leader.name(leaves.place(), 14, false);
        leaves.leave();
        final FollowerTable successor = segment.follower();
        leader.name(successor.place(), 15, false);
        successor.claim();
        try (FollowersToAwait awaited = successor.followersToAwait(place -> place != died, () -> {})) {
            assertEquals(
                    List.of(11L),
                    LongStream.rangeClosed(11, 15)
                            .filter(awaited::lives)
                            .boxed()
                            .toList());
        }
    }

    @Test
    void shouldBeginBehindTheLastEntryWhereThatIsFurther() {
        leader.become(SegmentLayout.RUNNING);
        final FollowerTable member = segment.follower();
        leader.checkpoint(checkpoint(6, 9, 8), 2048);
        leader.publishLoss(9, 2, LossReason.DAMAGED, 11);
        final Promise found = promise(member);
        assertNotNull(found);
        assertEquals(11, found.checkpoint().firstSequence);
        assertEquals(11, found.checkpoint().frameId);
        assertEquals(11, found.checkpoint().acknowledged);
        assertEquals(0, found.bytes());
    }

    @Test
    void shouldTakeTheOlderCheckpointWhereTheNewerIsIncomplete() {
        leader.become(SegmentLayout.RUNNING);
        final FollowerTable member = segment.follower();
        leader.checkpoint(checkpoint(6, 9, 7), 0);
        leader.checkpoint(checkpoint(6, 9, 8), 0);
        words.putLong(SegmentLayout.checkpoint(2), 3);
        final Promise found = promise(member);
        assertNotNull(found);
        assertEquals(7, found.checkpoint().acknowledged);
    }

    @Test
    void shouldEndWithTheStreamThatWasPromisedToBeOver() {
        leader.become(SegmentLayout.RUNNING);
        final FollowerTable member = segment.follower();
        member.begin();
        final Checkpoint last = checkpoint(6, 9, 6);
        last.complete = true;
        leader.checkpoint(last, 0);
        assertFalse(member.hasPromise());
        assertEquals(StreamStatus.STREAMING, member.status(member.state()));
        member.lookForEnd();
        assertEquals(StreamStatus.ENDED, member.status(member.state()));
    }

    @Test
    void shouldNotGoOnFromACheckpointThatCannotBe() {
        leader.become(SegmentLayout.RUNNING);
        final SplittableRandom random = new SplittableRandom(11);
        final FollowerTable member = segment.follower();
        for (int round = 0; round < 2_000; round++) {
            leader.checkpoint(checkpoint(6, 9, 8), 2048);
            final int at = SegmentLayout.checkpoint(round + 1L)
                    + SegmentLayout.CHECKPOINT_FIRST_SEQUENCE
                    + 8 * random.nextInt(8);
            words.putLong(at, random.nextLong());
            final Promise found = promise(member);
            // A value that is accepted lies in the ring, and in the frame.
            assertTrue(found == null || (found.offset() < RING_BYTES && found.bytes() <= RING_BYTES));
        }
    }

    @Test
    void shouldCountSubscribersAlone() {
        segment.admit(Delivery.RELIABLE);
        leader.admit(1, 1, null);
        assertEquals(1, leader.members());
        leader.dismiss(1);
        assertEquals(1, leader.members());
    }

    @Test
    void shouldNotReadOutsideTheRingWhateverTheTableSays() {
        final SplittableRandom random = new SplittableRandom(7);
        final FollowerTable member = segment.follower();
        for (int round = 0; round < 2_000; round++) {
            final long number = leader.publishLoss(round, 1, LossReason.EXPIRED, 0);
            final int entry = TableLayout.FULL.entry(number);
            words.putInt(entry + SegmentLayout.ENTRY_KIND, random.nextInt(4));
            words.putLong(entry + SegmentLayout.ENTRY_OFFSET, random.nextLong());
            words.putLong(entry + SegmentLayout.ENTRY_LENGTH, random.nextLong());
            words.putInt(entry + SegmentLayout.ENTRY_METADATA, random.nextInt());
            words.putInt(entry + SegmentLayout.ENTRY_DETAIL, random.nextInt());
            assertEquals(number, member.take());
            assertThrows(IllegalStateException.class, () -> offset(member, number));
            assertTrue(member.metadata(number).length <= SegmentLayout.METADATA_BYTES_MAX);
            assertNotNull(member.lossReason(number));
            member.release(number);
        }
        words.putLong(TableLayout.FULL.entry(2_000) + SegmentLayout.ENTRY_LENGTH, RING_BYTES + 1);
        assertThrows(IllegalStateException.class, () -> offset(member, 2_000));
    }

    private static long offset(final FollowerTable member, final long number) {
        return member.offset(number, member.length(number));
    }

    /// Memory that frames are copied to is as long as the longest frame was when the segment was mapped.
    @Test
    void shouldTakeNoLongerFrameWhenTheLeaderChangesTheLongest() {
        final FollowerTable member = segment.follower();
        words.putLong(SegmentLayout.FRAME_MAX_AT, RING_BYTES);
        leader.publish(0, 128, STREAM.frameMaxBytes(), 0, 0, true, null, null, 0);
        leader.publish(1, 128, STREAM.frameMaxBytes() + 1, 0, 0, true, null, null, 0);
        assertEquals(STREAM.frameMaxBytes(), member.frameMaxBytes());
        assertEquals(128, offset(member, 0));
        assertThrows(IllegalStateException.class, () -> offset(member, 1));
    }

    @Test
    void shouldLookAtNoMoreEntriesThanTheTableHas() {
        final FollowerTable newest = segment.follower(Delivery.LATEST);
        final DropChoice choice = new DropChoice(Delivery.LATEST);
        choice.begin(newest);
        segment.frame(0);
        for (final long published : new long[] {Long.MAX_VALUE, 1L << 40, Long.MIN_VALUE}) {
            words.putLong(SegmentLayout.PUBLISHED_AT, published);
            assertTimeoutPreemptively(Duration.ofSeconds(60), () -> choice.outdated(newest, 0, 0));
        }
    }

    @Test
    void shouldRefuseALossOfNoFrames() {
        final FollowerTable member = segment.follower();
        leader.publishLoss(0, 2, LossReason.EXPIRED, 0);
        assertEquals(2, member.lost(0));
        for (final long count : new long[] {0, -1, Long.MIN_VALUE}) {
            words.putLong(TableLayout.FULL.entry(0) + SegmentLayout.ENTRY_LENGTH, count);
            assertThrows(IllegalStateException.class, () -> member.lost(0));
        }
    }

    @Test
    void shouldLeaveNothingToASuccessorWhenNoHeartbeatCouldAnnounceTheStream() {
        leader.become(SegmentLayout.RUNNING);
        leader.checkpoint(checkpoint(6, 9, 8), 2048);
        final FollowerTable member = segment.follower();
        for (final int at : new int[] {
            SegmentLayout.SLOT_BYTES_AT,
            SegmentLayout.WINDOW_SLOTS_AT,
            SegmentLayout.ALIVE_MS_AT,
            SegmentLayout.CONTROL_ADDRESS_AT,
            SegmentLayout.DATA_ADDRESS_AT
        }) {
            final int before = words.getInt(at);
            words.putInt(at, 0);
            assertNull(promise(member), "at " + at);
            words.putInt(at, before);
        }
        words.putInt(SegmentLayout.ALIVE_MS_AT, -1);
        assertNull(promise(member), "a timeout in the past");
        words.putInt(SegmentLayout.ALIVE_MS_AT, STREAM.aliveTimeoutMs());
        words.putInt(SegmentLayout.SLOT_BYTES_AT, 1000);
        assertNull(promise(member), "slots that are no multiple of 64 bytes");
        words.putInt(SegmentLayout.SLOT_BYTES_AT, STREAM.slotBytes());
        assertNotNull(promise(member));
    }

    @Test
    void shouldRefuseATornEntry() {
        final FollowerTable member = segment.follower();
        leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
        words.putLong(TableLayout.FULL.entry(0), SegmentLayout.version(0) - 1);
        assertThrows(IllegalStateException.class, member::take);
    }

    @Test
    void shouldFreeNothingThatWasNotPublishedWhateverAMemberSays() {
        segment.follower();
        leader.publishLoss(0, 1, LossReason.EXPIRED, 0);
        words.putLong(SegmentLayout.member(0) + SegmentLayout.MEMBER_RELEASED, Long.MAX_VALUE);
        assertEquals(1, leader.released());
        words.putLong(SegmentLayout.member(0) + SegmentLayout.MEMBER_RELEASED, -5);
        assertTrue(leader.released() <= 0);
    }

    @Test
    void shouldRefuseWhatIsNoSegment() {
        assertTrue(FollowerTable.isSound(words, TableLayout.FULL));
        for (final int at : new int[] {
            SegmentLayout.MAGIC_AT, SegmentLayout.VERSION_AT, SegmentLayout.WORDS_BYTES_AT, SegmentLayout.ENTRIES_AT
        }) {
            final long before = words.getLong(at);
            words.putLong(at, before + 13);
            assertFalse(FollowerTable.isSound(words, TableLayout.FULL), "at " + at);
            words.putLong(at, before);
        }
        words.putLong(SegmentLayout.RING_BYTES_AT, 0);
        assertFalse(FollowerTable.isSound(words, TableLayout.FULL));
    }

    @Test
    void shouldStayWithSuccessorsThatClaimedTheSegmentBeforeLast() {
        final AtomicBoolean newest = new AtomicBoolean();
        final SegmentFixture successor = new SegmentFixture(Delivery.RELIABLE, 2, 1, newest::get);
        final FollowerTable member = successor.follower();
        assertTrue(member.continues());
        assertFalse(member.isOpen());
        assertFalse(successor.leader.open(), "another claimed what this one goes on from");
        newest.set(true);
        assertTrue(successor.leader.open());
        assertTrue(member.isOpen());
        newest.set(false);
        assertTrue(successor.leader.open(), "once open, it is what others go on from");
    }

    /// A successor that does not go on yet, and may never, is waited for only where the next one depends on it.
    @Test
    void shouldReadTheSegmentOfASuccessorThatGoesOn() {
        leader.become(SegmentLayout.RUNNING);
        final FollowerTable present = segment.follower();
        final SegmentFixture first = new SegmentFixture(Delivery.RELIABLE, 2, 1, () -> true);
        final SegmentFixture second = new SegmentFixture(Delivery.RELIABLE, 3, 2, () -> true);
        final FollowerTable next = first.follower();
        final FollowerTable behind = second.follower();
        assertEquals(
                SegmentOrder.Step.MOVE,
                SegmentOrder.step(null, StreamStatus.NONE, present, StreamStatus.NONE, List.of(), true));
        assertEquals(SegmentOrder.Step.STAY, step(present, next));
        assertEquals(SegmentOrder.Step.SKIP, step(present, next, behind), "neither is open");
        first.leader.open();
        assertEquals(SegmentOrder.Step.STAY, step(present, next, behind), "the second may go on from the first");
        final SegmentFixture third = new SegmentFixture(Delivery.RELIABLE, 3, 2, () -> true);
        final FollowerTable last = third.follower();
        assertEquals(SegmentOrder.Step.STAY, step(present, next, behind, last), "the third is not open either");
        third.leader.open();
        assertEquals(SegmentOrder.Step.SKIP, step(present, next, behind, last), "the second died before it was open");
        assertEquals(SegmentOrder.Step.SKIP, step(present, behind, last));
        second.leader.open();
        assertEquals(SegmentOrder.Step.SKIP, step(present, next, behind));
        first.leader.start(0);
        assertEquals(SegmentOrder.Step.MOVE, step(present, next, behind));
    }

    private static SegmentOrder.Step step(
            final FollowerTable present, final FollowerTable next, final FollowerTable... behind) {
        return SegmentOrder.step(present, status(present), next, status(next), List.of(behind), true);
    }

    private static StreamStatus status(final FollowerTable member) {
        member.begin();
        return member.status(member.state());
    }

    @Test
    void shouldRefuseAnotherStreamBehindASourceThatWasLostForGood() {
        leader.become(SegmentLayout.RUNNING);
        final FollowerTable present = segment.follower();
        present.onLost();
        final FollowerTable another = new SegmentFixture(Delivery.RELIABLE).follower();
        final FollowerTable same = new SegmentFixture(Delivery.RELIABLE, 2, 1, () -> true).follower();
        final StreamStatus lost = status(present);
        assertEquals(StreamStatus.LOST, lost);
        assertEquals(
                SegmentOrder.Step.REFUSE,
                SegmentOrder.step(present, lost, another, StreamStatus.NONE, List.of(), false));
        assertEquals(
                SegmentOrder.Step.MOVE, SegmentOrder.step(present, lost, another, StreamStatus.NONE, List.of(), true));
        assertEquals(
                SegmentOrder.Step.MOVE, SegmentOrder.step(present, lost, same, StreamStatus.NONE, List.of(), false));
    }
}
