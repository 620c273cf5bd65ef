package io.framecast.engine.node;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.GrantWord;
import io.framecast.reliability.wire.LinkOffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A source that writes its window into a co-root's copy, one operation carried out at a time.
final class CopyWritesTest {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = 64;
    private static final int EPOCH = 5;

    private final List<String> notices = new ArrayList<>();
    private final ScriptedOneSided oneSided = new ScriptedOneSided();
    private final SendMemory window = new SendMemory(SLOTS, SLOT_BYTES);
    private final SendMemory copy = new SendMemory(SLOTS, SLOT_BYTES);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment vouching = arena.allocate(JAVA_LONG, SLOTS);
    private WindowShare share;
    private FedMemory fed;
    private LinkOffer offer;

    @BeforeEach
    void open() {
        share = new WindowShare(
                oneSided, window, new PeerEndpoints(oneSided, 4, PeerEndpoints.Ways.READ, "refused: ", notices::add));
        fed = new FedMemory(oneSided, copy, vouching);
        offer = fed.offer();
        for (int slot = 0; slot < SLOTS; slot++) {
            window.slice(slot, SLOT_BYTES).fill((byte) (slot + 1));
            window.headers()
                    .asSlice((long) slot * DataLayout.LENGTH, DataLayout.LENGTH)
                    .fill((byte) (100 + slot));
            window.lengths()[slot] = SLOT_BYTES;
            share.vouching().setAtIndex(JAVA_LONG, slot, 1000 + slot);
        }
    }

    @AfterEach
    void close() {
        fed.close();
        share.close();
        copy.close();
        arena.close();
        window.close();
        assertEquals(0, oneSided.leases);
        assertEquals(List.of(), notices);
    }

    private ScriptedOneSided.Endpoint endpoint(final int operationsMax) {
        oneSided.accept(new byte[] {1}, Access.PEERS_WRITE, operationsMax);
        final ScriptedOneSided.Endpoint made = oneSided.endpoints.getLast();
        made.state = State.UP;
        return made;
    }

    private CopyWrites begun(final ScriptedOneSided.Endpoint endpoint, final long first) {
        final CopyWrites writes = new CopyWrites(endpoint, window, share, offer);
        writes.begin(offer, EPOCH, first);
        endpoint.stepAll();
        assertTrue(writes.poll());
        assertEquals(GrantWord.of(EPOCH, first), fed.word());
        return writes;
    }

    private boolean isCopied(final int slot, final int bytes) {
        final long at = (long) slot * DataLayout.LENGTH;
        return window.slice(slot, bytes).mismatch(copy.slice(slot, bytes)) == -1
                && window.headers()
                                .asSlice(at, DataLayout.LENGTH)
                                .mismatch(copy.headers().asSlice(at, DataLayout.LENGTH))
                        == -1
                && vouching.getAtIndex(JAVA_LONG, slot) == 1000 + slot;
    }

    private static boolean isBlank(final MemorySegment memory) {
        for (long i = 0; i < memory.byteSize(); i++) {
            if (memory.get(JAVA_BYTE, i) != 0) {
                return false;
            }
        }
        return true;
    }

    @Test
    void shouldWritePayloadsThenHeadersThenTheWord() {
        final ScriptedOneSided.Endpoint endpoint = endpoint(64);
        final CopyWrites writes = begun(endpoint, 3);
        assertEquals(10, writes.write(3, 10));
        assertTrue(endpoint.step());
        assertEquals(-1, window.slice(3, 10 * SLOT_BYTES).mismatch(copy.slice(3, 10 * SLOT_BYTES)));
        assertTrue(isBlank(copy.headers()));
        assertTrue(endpoint.step());
        assertTrue(isBlank(vouching));
        assertTrue(endpoint.step());
        assertEquals(GrantWord.of(EPOCH, 3), fed.word());
        assertEquals(3, writes.freeable());
        assertTrue(endpoint.step());
        assertEquals(GrantWord.of(EPOCH, 13), fed.word());
        assertFalse(endpoint.step());
        assertTrue(writes.poll());
        assertEquals(Long.MAX_VALUE, writes.freeable());
        for (int slot = 3; slot < 13; slot++) {
            assertTrue(isCopied(slot, SLOT_BYTES), "slot " + slot);
        }
        assertTrue(isBlank(copy.slice(13, SLOT_BYTES)) && isBlank(copy.slice(2, SLOT_BYTES)));
    }

    @Test
    void shouldWriteOfShortPayloadsOnlyWhatTheyHave() {
        window.lengths()[1] = 5;
        window.lengths()[2] = 7;
        final ScriptedOneSided.Endpoint endpoint = endpoint(64);
        final CopyWrites writes = begun(endpoint, 0);
        assertEquals(4, writes.write(0, 4));
        endpoint.stepAll();
        assertTrue(isCopied(0, SLOT_BYTES) && isCopied(1, 5) && isCopied(2, 7) && isCopied(3, SLOT_BYTES));
        assertTrue(isBlank(copy.slice(1, SLOT_BYTES).asSlice(5))
                && isBlank(copy.slice(2, SLOT_BYTES).asSlice(7)));
    }

    @Test
    void shouldEndARunWithTheWindow() {
        final ScriptedOneSided.Endpoint endpoint = endpoint(64);
        final CopyWrites writes = begun(endpoint, SLOTS - 2);
        assertEquals(2, writes.write(SLOTS - 2, 5));
        assertEquals(3, writes.write(SLOTS, 3));
        endpoint.stepAll();
        assertTrue(isCopied(SLOTS - 1, SLOT_BYTES) && isCopied(0, SLOT_BYTES) && isCopied(2, SLOT_BYTES));
        assertEquals(GrantWord.of(EPOCH, SLOTS + 3), fed.word());
    }

    @Test
    void shouldTakeAsMuchAsThereIsRoomFor() {
        for (int slot = 0; slot < SLOTS; slot++) {
            window.lengths()[slot] = 8;
        }
        final ScriptedOneSided.Endpoint endpoint = endpoint(9);
        final CopyWrites writes = begun(endpoint, 0);
        assertEquals(6, writes.write(0, 20));
        assertEquals(0, writes.write(6, 14));
        endpoint.stepAll();
        writes.poll();
        assertEquals(6, writes.write(6, 14));
        endpoint.stepAll();
        assertEquals(GrantWord.of(EPOCH, 12), fed.word());
        assertTrue(isCopied(11, 8));
    }

    @Test
    void shouldHoldForGoodWhatTheDeviceTookOnlyAPartOf() {
        for (int parts = 0; parts < 4; parts++) {
            final ScriptedOneSided.Endpoint endpoint = endpoint(64);
            final CopyWrites writes = begun(endpoint, 10L * parts);
            assertFalse(writes.isOver());
            endpoint.takes = parts;
            assertEquals(SenderOutput.NO_FEED, writes.write(10L * parts, 10), parts + " parts");
            endpoint.takes = Integer.MAX_VALUE;
            assertEquals(SenderOutput.NO_FEED, writes.write(10L * parts, 10));
            assertFalse(writes.begin(offer, EPOCH, 99));
            endpoint.stepAll();
            writes.poll();
            assertEquals(10L * parts, writes.freeable());
            assertTrue(writes.isOver(), "so that it is cut");
        }
    }

    @Test
    void shouldNotBeginWhenThereIsNoRoomToSaySo() {
        final ScriptedOneSided.Endpoint endpoint = endpoint(4);
        final CopyWrites writes = begun(endpoint, 0);
        assertEquals(4, writes.write(0, 4));
        assertFalse(writes.begin(offer, EPOCH + 1, 9));
        endpoint.stepAll();
        writes.poll();
        assertEquals(Long.MAX_VALUE, writes.freeable(), "what was never begun holds nothing");
        assertTrue(writes.begin(offer, EPOCH + 1, 9));
    }

    @Test
    void shouldHoldSlotsUntilTheyWereWrittenAlthoughItBeginsAnew() {
        final ScriptedOneSided.Endpoint endpoint = endpoint(64);
        final CopyWrites writes = begun(endpoint, 0);
        writes.write(0, 4);
        writes.begin(offer, EPOCH + 1, 9);
        assertEquals(0, writes.freeable());
        endpoint.stepAll();
        assertTrue(writes.poll());
        assertEquals(GrantWord.of(EPOCH + 1, 9), fed.word());
        assertEquals(Long.MAX_VALUE, writes.freeable());
    }

    @Test
    void shouldWriteNothingMoreAndHoldWhatMayStillBeReadWhenTheConnectionIsGone() {
        final ScriptedOneSided.Endpoint endpoint = endpoint(64);
        final CopyWrites writes = begun(endpoint, 0);
        writes.write(0, 4);
        endpoint.fail("no answer");
        assertEquals(0, writes.freeable());
        assertEquals(SenderOutput.NO_FEED, writes.write(4, 1));
    }
}
