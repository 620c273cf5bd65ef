package io.framecast.reliability.window;

import static io.framecast.reliability.window.BundleFixture.content;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.window.BundleFixture.Frame;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Every order of the producer's steps and the consumer's taking, with one thread in both roles.
final class SmallFramesTest {
    private final BundleFixture fixture = new BundleFixture(8, 1408);
    private final SendWindow window = fixture.window;
    private final SmallFrames small = fixture.small;

    private void expect(final long sequence, final int... numbers) {
        final List<Frame> frames = fixture.frames(sequence);
        assertEquals(numbers.length, frames.size());
        for (int i = 0; i < numbers.length; i++) {
            assertEquals(numbers[i], frames.get(i).id());
            assertEquals(1000 + numbers[i], frames.get(i).timestampNs());
            assertArrayEquals(
                    content(numbers[i], frames.get(i).bytes().length),
                    frames.get(i).bytes());
        }
    }

    private void publish(final int... numbers) {
        for (final int number : numbers) {
            assertTrue(fixture.publish(number, 64, 1000 + number));
        }
    }

    @Test
    void shouldSendALoneFrameAsAnOrdinaryDatagramWhenTaken() {
        publish(0);
        assertEquals(0, window.committed());
        assertTrue(window.takeBundle());
        assertEquals(1, window.committed());
        assertEquals(64, fixture.lengths[0]);
        assertFalse(DataLayout.isBundle(fixture.headers, 0));
        expect(0, 0);
        assertEquals(1, window.frameIdFrom(1));
    }

    @Test
    void shouldTakeWhatIsThereWhenSeveralFramesWait() {
        publish(0, 1, 2);
        assertTrue(window.takeBundle());
        assertFalse(window.takeBundle());
        expect(0, 0, 1, 2);
        assertEquals(3 * 64 + 3 * 8 + 8, fixture.lengths[0]);
        assertEquals(1, window.boundaryFrom(1));
        assertEquals(3, window.frameIdFrom(1));
        publish(3, 4);
        assertTrue(window.takeBundle());
        expect(1, 3, 4);
    }

    @Test
    void shouldCloseTheBundleByItselfWhenNoMoreFits() {
        for (int number = 0; number < 20; number++) {
            publish(number);
        }
        assertEquals(1, window.committed());
        assertEquals(19, fixture.frames(0).size());
        // As long as any full datagram, so that the kernel joins it with others and it lands in place.
        assertEquals(1408, fixture.lengths[0]);
        assertTrue(window.takeBundle());
        expect(1, 19);
    }

    @Test
    void shouldMoveTheFrameWhenItsBundleIsTakenBetweenClaimAndCommit() {
        publish(0, 1);
        assertTrue(fixture.claim(2, 100));
        assertTrue(window.takeBundle());
        small.commit(DataLayout.FLAG_KEYFRAME, 1002);
        expect(0, 0, 1);
        publish(3);
        assertTrue(window.takeBundle());
        expect(1, 2, 3);
        assertEquals(DataLayout.FLAG_KEYFRAME, fixture.frames(1).get(0).flags());
        assertEquals(0, fixture.frames(1).get(1).flags());
    }

    @Test
    void shouldNotHurtTheTableWhenTheClaimIsWrittenAfterTheTaking() {
        publish(0, 1);
        final long at = small.claim(200);
        assertTrue(window.takeBundle());
        fixture.payload.asSlice(at, 200).fill((byte) 0x77);
        expect(0, 0, 1);
        small.abort();
        publish(2);
        assertTrue(window.takeBundle());
        expect(1, 2);
    }

    // Encrypts, so to speak.
    private void invert(final long sequence) {
        window.seal(sequence, 1, false);
    }

    @Test
    void shouldKeepAFrameThatIsWrittenWhileItsBundleIsEncrypted() {
        window.sealedBy((_, _, payload, at, bytes) -> {
            for (long i = at; i < at + bytes; i++) {
                payload.set(ValueLayout.JAVA_BYTE, i, (byte) ~payload.get(ValueLayout.JAVA_BYTE, i));
            }
        });
        publish(0, 1);
        final long at = small.claim(200);
        fixture.payload.asSlice(at, 200).copyFrom(MemorySegment.ofArray(content(2, 200)));
        assertTrue(window.takeBundle());
        final List<byte[]> plain = fixture.frames(0).stream().map(Frame::bytes).toList();
        assertArrayEquals(content(0, 64), plain.get(0));
        invert(0);
        small.commit(0, 1002);
        publish(3);
        assertTrue(window.takeBundle());
        expect(1, 2, 3);
    }

    @Test
    void shouldShareADatagramThoughItIsEncrypted() {
        window.sealedBy((_, _, _, _, _) -> {});
        for (int number = 0; number < 20; number++) {
            publish(number);
        }
        assertEquals(1, window.committed());
        assertEquals(19, fixture.frames(0).size());
        assertTrue(window.takeBundle());
        expect(1, 19);
        publish(20, 21);
        // One that is claimed and given back, and one that lies too far in time.
        assertTrue(fixture.claim(9, 500));
        small.abort();
        assertTrue(fixture.claim(22, 64));
        small.commit(0, 1022 + (1L << 33));
        assertEquals(3, window.committed());
        expect(2, 20, 21);
        assertTrue(window.takeBundle());
        assertArrayEquals(content(22, 64), fixture.frames(3).getFirst().bytes());
    }

    @Test
    void shouldStayEmptyWhenTheOnlyClaimIsAborted() {
        assertTrue(fixture.claim(0, 64));
        assertFalse(window.takeBundle());
        small.abort();
        assertFalse(window.takeBundle());
        small.close();
        assertEquals(0, window.committed());
        publish(0);
        assertTrue(window.takeBundle());
        expect(0, 0);
    }

    @Test
    void shouldLeaveNoBundleOpenWhenTheOnlyClaimIsAborted() {
        final WindowMemory memory = window.memory();
        final OpenBundle bundle = new OpenBundle();
        final BundleSealer sealer = new BundleSealer(memory, BundleFixture.SESSION);
        final SmallFrames frames = new SmallFrames(window, bundle, sealer, memory);
        assertEquals(0, frames.claim(64));
        assertTrue(OpenBundle.isOpen(bundle.word(), 0));
        frames.abort();
        assertEquals(OpenBundle.NONE, bundle.word());
    }

    @Test
    void shouldReuseTheRoomWhenAClaimInTheMiddleIsAborted() {
        publish(0, 1);
        assertTrue(fixture.claim(9, 500));
        small.abort();
        publish(2);
        assertTrue(window.takeBundle());
        expect(0, 0, 1, 2);
        assertEquals(3 * 64 + 3 * 8 + 8, fixture.lengths[0]);
    }

    @Test
    void shouldKeepTheOrderWhenALargerFrameFollows() {
        publish(0, 1);
        small.close();
        window.beginFrame(3000, 0, 1002, new byte[0]);
        window.commit(3000, 3);
        publish(3);
        assertEquals(4, window.committed());
        expect(0, 0, 1);
        assertEquals(2, DataLayout.FRAME_ID.get(fixture.headers, DataLayout.LENGTH));
        assertTrue(window.takeBundle());
        expect(4, 3);
    }

    @Test
    void shouldCloseNothingTwiceWhenTheBundleWasTakenMeanwhile() {
        publish(0);
        assertTrue(window.takeBundle());
        small.close();
        small.close();
        assertEquals(1, window.committed());
        assertEquals(1, window.cursor());
        window.beginFrame(1408, 0, 1001, new byte[0]);
        window.commit(1408, 1);
        assertEquals(2, window.committed());
        expect(0, 0);
    }

    @Test
    void shouldTakeADatagramOfItsOwnWhenTheFrameHasMetadata() {
        publish(0, 1);
        assertTrue(fixture.claim(2, 70));
        small.commit(0, 1002, new byte[] {5, 6});
        publish(3);
        assertTrue(fixture.claim(4, 80));
        assertTrue(window.takeBundle());
        small.commit(0, 1004, new byte[] {7});
        assertTrue(fixture.claim(5, 80));
        small.commit(0, 1005, new byte[] {8});
        assertEquals(5, window.committed());
        expect(0, 0, 1);
        expect(1, 2);
        expect(2, 3);
        expect(3, 4);
        expect(4, 5);
        assertNull(window.metadata(0));
        assertArrayEquals(new byte[] {5, 6}, window.metadata(1));
        assertNull(window.metadata(2));
        assertArrayEquals(new byte[] {7}, window.metadata(3));
    }

    @Test
    void shouldShareADatagramWhenTheMetadataIsEmpty() {
        publish(0);
        assertTrue(fixture.claim(1, 64));
        small.commit(0, 1001, new byte[0]);
        publish(2);
        assertEquals(0, window.committed());
        assertTrue(window.takeBundle());
        expect(0, 0, 1, 2);
    }

    @Test
    void shouldUseATableAgainWhenTheBundleTakenWithItIsSealed() {
        publish(0);
        assertTrue(window.takeBundle());
        for (int number = 1; number <= 8; number++) {
            publish(number);
            small.close();
            expect(number, number);
            window.free(number);
        }
        assertEquals(9, window.committed());
    }

    @Test
    void shouldBeginAnotherBundleWhenTheTimestampIsFarAway() {
        assertTrue(fixture.publish(0, 64, 1000));
        assertTrue(fixture.publish(1, 64, 1000L + Integer.MAX_VALUE));
        assertTrue(fixture.publish(2, 64, 1001L + Integer.MAX_VALUE));
        assertTrue(fixture.publish(3, 64, 5));
        assertTrue(window.takeBundle());
        assertEquals(3, window.committed());
        assertEquals(1000L + Integer.MAX_VALUE, fixture.frames(0).get(1).timestampNs());
        assertEquals(1001L + Integer.MAX_VALUE, fixture.frames(1).get(0).timestampNs());
        assertEquals(5, fixture.frames(2).get(0).timestampNs());
        assertArrayEquals(content(2, 64), fixture.frames(1).get(0).bytes());
    }

    @Test
    void shouldRefuseWhenTheNextSlotIsNotFreeEither() {
        for (int sequence = 0; sequence < 6; sequence++) {
            publish(sequence);
            assertTrue(window.takeBundle());
        }
        publish(6);
        // The seventh slot is the last: a frame whose bundle was taken would have nowhere to go.
        assertFalse(fixture.claim(7, 64));
        assertEquals(7, window.committed());
        assertTrue(window.isFull());
        window.free(2);
        publish(7, 8);
        assertTrue(window.takeBundle());
        expect(7, 7, 8);
    }

    @Test
    void shouldCloseTheBundleWhenItHasAsManyFramesAsATableTells() {
        final BundleFixture long64 = new BundleFixture(8, 8192);
        for (int number = 0; number < 64; number++) {
            assertTrue(long64.publish(number, 8, 1000 + number));
        }
        assertEquals(0, long64.window.committed());
        assertTrue(long64.publish(64, 8, 1064));
        assertEquals(1, long64.window.committed());
        final List<Frame> frames = long64.frames(0);
        assertEquals(64, frames.size());
        assertArrayEquals(content(63, 8), frames.get(63).bytes());
        assertEquals(64, long64.window.nextFrameId() - 1);
    }

    @Test
    void shouldFillTheSlotWhenAnEighthOrLessIsLeft() {
        assertTrue(fixture.publish(0, 640, 1000));
        assertTrue(fixture.publish(1, 568, 1001));
        assertTrue(window.takeBundle());
        assertEquals(1408, fixture.lengths[0]);
        assertTrue(fixture.publish(2, 640, 1002));
        assertTrue(fixture.publish(3, 560, 1003));
        assertTrue(window.takeBundle());
        assertEquals(640 + 560 + 2 * 8 + 8, fixture.lengths[1]);
        expect(0, 0, 1);
        expect(1, 2, 3);
    }

    @Test
    void shouldNumberTheNextFrameBehindABundle() {
        publish(0);
        assertTrue(window.hasBundle());
        assertTrue(window.takeBundle());
        assertFalse(window.hasBundle());
        publish(1, 2, 3);
        assertTrue(window.takeBundle());
        assertEquals(1, window.frameIdFrom(1));
        assertEquals(4, window.frameIdFrom(2));
        publish(4);
        assertTrue(window.takeBundle());
        assertEquals(5, window.frameIdFrom(3));
    }

    @Test
    void shouldForgetMetadataWhenABundleTakesItsSlot() {
        assertTrue(fixture.claim(0, 70));
        small.commit(0, 1000, new byte[] {5});
        for (int number = 1; number < 8; number++) {
            publish(number);
            assertTrue(window.takeBundle());
            window.free(number);
        }
        assertArrayEquals(new byte[] {5}, window.metadata(0));
        publish(8, 9);
        assertTrue(window.takeBundle());
        expect(8, 8, 9);
        assertNull(window.metadata(8));
    }

    @Test
    void shouldTakeOnlyFramesOfWhichTwoFit() {
        assertTrue(small.takes(680));
        assertFalse(small.takes(681));
        assertTrue(fixture.publish(0, 680, 1000));
        assertTrue(fixture.publish(1, 680, 1001));
        assertTrue(window.takeBundle());
        expect(0, 0, 1);
        assertFalse(new BundleFixture(8, 64).small.takes(1));
    }
}
