package io.framecast.reliability.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.wire.Delivery;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/// Offers of device memory, and the places that members hold there.
final class DeviceWordsTest {
    private static final long SLOT_BYTES = 4096;
    private static final UUID DEVICE = new UUID(7, 7);

    private final SegmentFixture segment = new SegmentFixture(Delivery.RELIABLE);

    private static DeviceWords device(final FollowerTable member) {
        return member.deviceWords(_ -> true);
    }

    private static DeviceWords.Offer offer(final int member) {
        final DeviceWords.Handle handle = new DeviceWords.Handle(DEVICE, 8 * SLOT_BYTES, "memory");
        return new DeviceWords.Offer(member, 99, 4711, 1, handle, 8, SLOT_BYTES, 0);
    }

    @Test
    void shouldTellTheSlowestFromTheFastestOfThoseThatTakeFrames() {
        final FollowerTable slow = segment.follower();
        final FollowerTable fast = segment.follower();
        final FollowerTable host = segment.follower();
        device(host).refrain();
        assertEquals(Long.MAX_VALUE, device(slow).passed(), "no member takes frames");
        assertEquals(Long.MAX_VALUE, device(slow).passedByFastest());
        device(slow).want(DEVICE);
        device(fast).want(DEVICE);
        segment.leader.publishLoss(0, 100, LossReason.EXPIRED, 0);
        segment.leader.publishLoss(1, 100, LossReason.EXPIRED, 0);
        for (final FollowerTable member : List.of(fast, host)) {
            member.take();
            member.release(0);
        }
        host.take();
        host.release(1);
        assertEquals(0, device(slow).passed());
        assertEquals(1, device(slow).passedByFastest());
    }

    @Test
    void shouldGiveNoPlaceThatIsWrittenAnew() {
        final DeviceWords exporter = device(segment.follower());
        final DeviceWords user = device(segment.follower());
        exporter.want(DEVICE);
        exporter.offer(offer(exporter.member()));
        final DeviceWords.Offer seen = user.offered(exporter.member());
        assertNotNull(seen);
        assertEquals(offer(exporter.member()), seen);
        assertTrue(user.use(seen));
        exporter.fill(2, 5);
        assertEquals(DeviceWords.NONE, user.hold(seen, 4));
        assertEquals(2, user.hold(seen, 5));
        exporter.vacate(2);
        assertEquals(1 << 2, exporter.held(99), "who holds it is waited for");
        user.leave(2);
        assertEquals(0, exporter.held(99));
        assertEquals(DeviceWords.NONE, user.hold(seen, 5));
        exporter.fill(2, 6);
        exporter.withdraw();
        assertEquals(DeviceWords.NONE, user.hold(seen, 6));
        assertFalse(user.use(seen), "a withdrawn offer is not opened");
        assertFalse(exporter.isOpen(99));
    }

    @Test
    void shouldForgetAMemberThatIsGone() {
        final DeviceWords exporter = device(segment.follower());
        final DeviceWords user = device(segment.follower());
        exporter.want(DEVICE);
        exporter.offer(offer(exporter.member()));
        final DeviceWords.Offer seen = user.offered(exporter.member());
        assertNotNull(seen);
        assertTrue(user.use(seen));
        assertTrue(exporter.isOpen(99));
        segment.leader.dismiss(user.member());
        assertFalse(exporter.isOpen(99));
        segment.leader.dismiss(exporter.member());
        assertNull(user.offered(exporter.member()));
        assertFalse(user.isOffered(seen));
    }

    @Test
    void shouldOpenNothingThatMakesNoSense() {
        final DeviceWords exporter = device(segment.follower());
        final DeviceWords other = device(segment.follower());
        final int record = TableLayout.FULL.device(exporter.member());
        final SplittableRandom random = new SplittableRandom(5);
        for (int round = 0; round < 20_000; round++) {
            exporter.offer(offer(exporter.member()));
            for (int i = random.nextInt(4); i >= 0; i--) {
                final int at = SegmentLayout.DEVICE_ID + random.nextInt(16) * Integer.BYTES;
                segment.words.putInt(record + at, random.nextInt() >> random.nextInt(32));
            }
            segment.words.putByte(record + SegmentLayout.DEVICE_HANDLE + random.nextInt(6), (byte) random.nextInt());
            final DeviceWords.Offer seen = other.offered(exporter.member());
            if (seen != null) {
                assertTrue(seen.slots() >= 1 && seen.slots() <= SegmentLayout.DEVICE_SLOTS_MAX);
                assertTrue(seen.slotBytes() >= 1);
                assertTrue(seen.slots() <= seen.handle().bytes() / seen.slotBytes());
                assertTrue(seen.handle().text().chars().allMatch(c -> c > ' ' && c < 127));
            }
        }
    }
}
