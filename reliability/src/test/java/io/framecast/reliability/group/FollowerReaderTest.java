package io.framecast.reliability.group;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.wire.Delivery;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Each frame is given once or reported as lost once, in order.
final class FollowerReaderTest {
    private final List<String> lost = new ArrayList<>();

    private FollowerReader reader(final Delivery delivery) {
        return new FollowerReader(
                delivery, (_, firstId, count, reason) -> lost.add(firstId + "+" + count + " " + reason));
    }

    private record Words(FollowerTable table) implements FollowerReader.Entries {
        @Override
        public long peek() {
            return table.peek();
        }

        @Override
        public long take() {
            return table.take();
        }

        @Override
        public void release(final long number) {
            table.release(number);
        }
    }

    private static FollowerTable begun(final FollowerTable member) {
        member.begin();
        return member;
    }

    // Takes and gives what is there; the numbers of the frames.
    private static List<Long> read(final FollowerReader reader, final FollowerTable member) {
        final List<Long> given = new ArrayList<>();
        while (member.hasNext()) {
            final long number = reader.next(new Words(member), 0);
            if (number >= 0) {
                reader.onGiven(member.session(), member.frameId(number));
                given.add(member.frameId(number));
            }
        }
        return given;
    }

    @Test
    void shouldReportALossBetweenFrames() {
        final SegmentFixture segment = new SegmentFixture(Delivery.RELIABLE);
        final FollowerTable member = begun(segment.follower());
        final FollowerReader reader = reader(Delivery.RELIABLE);
        segment.frame(5);
        segment.leader.publishLoss(6, 3, LossReason.UNREPAIRABLE, 0);
        segment.frame(9);
        assertEquals(List.of(5L, 9L), read(reader, member));
        assertEquals(List.of("6+3 UNREPAIRABLE"), lost);
    }

    @Test
    void shouldPassWhatItReadInTheTableOfAnEarlierLeader() {
        final SegmentFixture segment = new SegmentFixture(Delivery.RELIABLE);
        final FollowerReader reader = reader(Delivery.RELIABLE);
        final FollowerTable before = begun(segment.follower());
        segment.frame(5);
        segment.frame(6);
        assertEquals(List.of(5L, 6L), read(reader, before));
        final SegmentFixture successor = new SegmentFixture(Delivery.RELIABLE, 2, 1, () -> true);
        final FollowerTable member = begun(successor.follower());
        successor.frame(6);
        successor.frame(7);
        assertEquals(List.of(7L), read(reader, member));
        assertEquals(List.of(), lost);
    }

    /// A successor reports a run of which the member has read a part.
    @Test
    void shouldReportOnlyTheUnknownPartOfALoss() {
        final SegmentFixture segment = new SegmentFixture(Delivery.RELIABLE);
        final FollowerReader reader = reader(Delivery.RELIABLE);
        final FollowerTable before = begun(segment.follower());
        segment.frame(5);
        segment.frame(6);
        assertEquals(List.of(5L, 6L), read(reader, before));
        final SegmentFixture successor = new SegmentFixture(Delivery.RELIABLE, 2, 1, () -> true);
        final FollowerTable member = begun(successor.follower());
        successor.leader.publishLoss(5, 4, LossReason.UNREPAIRABLE, 0);
        successor.frame(9);
        assertEquals(List.of(9L), read(reader, member));
        assertEquals(List.of("7+2 UNREPAIRABLE"), lost);
    }

    @Test
    void shouldReportWhatANewerFrameReplaces() {
        final SegmentFixture segment = new SegmentFixture(Delivery.LATEST);
        final FollowerTable member = segment.follower(Delivery.LATEST);
        final FollowerReader reader = reader(Delivery.LATEST);
        reader.begin(member);
        segment.frame(5);
        segment.frame(6);
        segment.frame(7);
        assertEquals(List.of(7L), read(reader, member));
        // The leader joined at frame 0, which it did not say: the member begins with the first entry.
        assertEquals("5+2 SUPERSEDED", lost.getLast());
    }

    /// A frame that was written again while it was copied is missing in front of the next one.
    @Test
    void shouldReportATornFrameInFrontOfTheNextOne() {
        final SegmentFixture segment = new SegmentFixture(Delivery.LATEST);
        final FollowerTable member = segment.follower(Delivery.LATEST);
        final FollowerReader reader = reader(Delivery.LATEST);
        reader.begin(member);
        segment.frame(0);
        assertEquals(List.of(0L), read(reader, member));
        segment.frame(1);
        assertEquals(1, member.frameId(reader.next(new Words(member), 0)));
        reader.onTorn();
        segment.frame(2);
        assertEquals(List.of(2L), read(reader, member));
        assertEquals(List.of("1+1 SUPERSEDED"), lost);
    }
}
