package io.framecast.reliability.group;

import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// A segment in the memory of one process: its leader, and members of it.
final class SegmentFixture {
    static final long RING_BYTES = 1 << 16;
    static final StreamInfo STREAM =
            new StreamInfo(77, "test", 1024, 64, 10_000, 1000, new byte[] {1, 2}, new byte[] {3});

    final ArrayMemory words = new ArrayMemory(TableLayout.FULL.wordsBytes());
    final LeaderTable leader;
    /// Places of members that were woken.
    final List<Integer> woken = new ArrayList<>();

    SegmentFixture(final Delivery delivery) {
        this(delivery, 1, 0, () -> true);
    }

    SegmentFixture(
            final Delivery delivery, final long generation, final long predecessor, final BooleanSupplier mayOpen) {
        final LeaderTable.Header header =
                new LeaderTable.Header(STREAM, RING_BYTES, generation, predecessor, 4711, 1_000);
        leader = new LeaderTable(words, TableLayout.FULL, header, delivery, mayOpen, woken::add);
    }

    /// A member at the first free place.
    int admit(final Delivery delivery) {
        int place = 0;
        while (leader.isTaken(place)) {
            place++;
        }
        leader.admit(place, 1, delivery);
        return place;
    }

    /// A member at the first free place, which reads from now on.
    FollowerTable follower(final Delivery delivery) {
        final int place = admit(delivery);
        leader.onHandoverComplete();
        return new FollowerTable(words, TableLayout.FULL, place, !delivery.isWaitedFor());
    }

    FollowerTable follower() {
        return follower(Delivery.RELIABLE);
    }

    /// Publishes a frame of 64 bytes.
    void frame(final long frameId) {
        leader.publish(frameId, 0, 64, 0, 0, true, null, null, 0);
    }
}
