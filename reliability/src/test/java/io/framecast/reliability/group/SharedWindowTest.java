package io.framecast.reliability.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.Delivery;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The part of a window that a publisher frees while readers read it.
final class SharedWindowTest {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = 1024;
    private static final long SPARED_SLOTS = 8;

    private final SegmentFixture segment = new SegmentFixture(Delivery.RELIABLE);
    private final SharedWindow window = new SharedWindow(segment.leader, SPARED_SLOTS);

    @BeforeEach
    void lead() {
        segment.leader.ofSource(true, 0, 0);
    }

    private void publish(final long sequence, final int bytes) {
        window.begin(sequence, sequence, 0, 5, new byte[0], null);
        window.publish(sequence % SLOTS * SLOT_BYTES, bytes);
    }

    @Test
    void shouldFreeNothingOfAFrameThatIsNotInTheTableYet() {
        assertEquals(10, window.freeable(10, false));
        window.begin(10, 0, 0, 5, new byte[0], null);
        // Its datagrams are committed, and all members have them.
        assertEquals(10, window.freeable(12, false));
        window.publish(10 * SLOT_BYTES, 2 * SLOT_BYTES);
        assertEquals(12, window.freeable(12, false), "no reader reads");
    }

    @Test
    void shouldFreeInOrderOfTheFramesWhatAllReleased() {
        final FollowerTable reader = segment.follower();
        publish(0, 2 * SLOT_BYTES);
        publish(2, SLOT_BYTES);
        publish(3, SLOT_BYTES);
        assertEquals(0, window.freeable(4, false));
        assertEquals(0, reader.take());
        assertEquals(1, reader.take());
        assertEquals(2, reader.take());
        reader.release(1);
        assertEquals(0, window.freeable(4, false));
        reader.release(0);
        assertEquals(3, window.freeable(4, false));
        assertEquals(1, window.freeable(1, false), "members lack the others");
        reader.release(2);
        assertEquals(4, window.freeable(4, false));
    }

    @Test
    void shouldTakeNoMoreThanTheTableHoldsAndGoOnWhenItIsRead() {
        final FollowerTable reader = segment.follower();
        for (int i = 0; i < SegmentLayout.ENTRIES; i++) {
            assertTrue(window.hasRoom());
            publish(i / 100, 10);
        }
        assertFalse(window.hasRoom());
        assertEquals(0, window.freeable(50, false));
        for (int i = 0; i < 150; i++) {
            reader.release(reader.take());
        }
        assertEquals(1, window.freeable(50, false));
        assertTrue(window.hasRoom());
    }

    @Test
    void shouldKeepWhatOneReadsWhateverAnotherTakesBack() {
        final FollowerTable reader = segment.follower();
        segment.follower();
        for (int sequence = 0; sequence < 10; sequence++) {
            publish(sequence, 10);
        }
        final int hostile = SegmentLayout.member(1) + SegmentLayout.MEMBER_RELEASED;
        segment.words.putLong(hostile, 10);
        for (int i = 0; i < 4; i++) {
            reader.release(reader.take());
        }
        assertEquals(4, window.freeable(10, false));
        for (final long word : new long[] {-1, -4096 + 9, Long.MIN_VALUE, 3, 0}) {
            segment.words.putLong(hostile, word);
            assertEquals(4, window.freeable(10, false), "frame 4 is read");
        }
    }

    /// Readers that hold nothing copy frames out meanwhile.
    @Test
    void shouldRetainTheNewestFramesForReadersThatHoldNothing() {
        segment.follower(Delivery.LATEST);
        for (int sequence = 0; sequence < 10; sequence++) {
            publish(sequence, 10);
        }
        assertEquals(10 - SPARED_SLOTS / 2 - 1, window.freeable(10, false));
        assertEquals(10, window.freeable(10, true), "but where a format waits for room");
    }

    @Test
    void shouldRestUntilTheLastReaderReleased() {
        final FollowerTable reader = segment.follower();
        publish(0, 10);
        reader.take();
        assertEquals(0, window.freeable(1, false));
        final long holders = window.beginRest();
        assertEquals(1, holders);
        assertTrue(window.mayRest());
        assertTrue(reader.release(0), "it wakes the publisher");
        assertFalse(window.mayRest());
        window.onSlept(holders, 100, 350);
        window.onRested();
        assertEquals(250, window.heldBackNs(0));
        assertEquals(0, window.lag(0, 1, SLOTS));
        assertEquals(-1, window.lag(1, 1, SLOTS), "no reader is there");
    }

    @Test
    void shouldNameAReaderThatHoldsThePublisherUpOnce() {
        final FollowerTable reader = segment.follower();
        publish(0, 10);
        window.freeable(1, false);
        assertEquals(SharedWindow.NONE, window.look(true, 0, 100));
        assertEquals(SharedWindow.NONE, window.look(true, 50_000_000, 100_000_000));
        assertEquals(0, window.look(true, 150_000_000, 100_000_000));
        assertEquals(150_000_000, window.stalledNs());
        assertEquals(SharedWindow.NONE, window.look(true, 250_000_000, 100_000_000));
        assertEquals(250_000_000, window.heldBackNs(0));
        reader.release(reader.take());
        window.freeable(1, false);
        assertEquals(SharedWindow.NONE, window.look(true, 300_000_000, 100_000_000));
    }

    @Test
    void shouldEndOnce() {
        final FollowerTable reader = segment.follower();
        assertEquals(1, window.count());
        assertTrue(window.end(true));
        assertFalse(window.end(false));
        assertEquals(0, window.count());
        assertEquals(SegmentLayout.END_OF_STREAM, reader.state());
    }
}
