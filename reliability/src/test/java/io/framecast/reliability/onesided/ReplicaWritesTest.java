package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.send.SenderOutput;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.CreditWord;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.EndpointOffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A source that writes its window into a co-root's replica, one operation carried out at a time.
final class ReplicaWritesTest {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = 64;
    private static final int EPOCH = 5;

    private final List<String> notices = new ArrayList<>();
    private final ScriptedPort oneSided = new ScriptedPort();
    private final TestMemory arena = new TestMemory();
    private final WindowMemory window = arena.window(SLOTS, SLOT_BYTES);
    private final WindowMemory copy = arena.window(SLOTS, SLOT_BYTES);
    private ExposedWindow exposedCopy;
    private ExposedWindow share;
    private ReplicaMemory fed;
    private EndpointOffer offer;

    @BeforeEach
    void open() {
        share = ExposedWindow.ofReplica(oneSided, window, 4, "refused: ", notices::add);
        exposedCopy = ExposedWindow.ofReplica(oneSided, copy, 4, "refused: ", notices::add);
        fed = new ReplicaMemory(oneSided, copy, exposedCopy);
        offer = fed.offer();
        for (int slot = 0; slot < SLOTS; slot++) {
            slice(window, slot, SLOT_BYTES).fill((byte) (slot + 1));
            window.headers()
                    .asSlice((long) slot * DataLayout.LENGTH, DataLayout.LENGTH)
                    .fill((byte) (100 + slot));
            flags(slot, 0);
            window.lengths()[slot] = SLOT_BYTES;
            guards(share).setAtIndex(JAVA_LONG, slot, 1000 + slot);
        }
    }

    @AfterEach
    void close() {
        fed.close();
        exposedCopy.close();
        share.close();
        arena.close();
        assertEquals(0, oneSided.leases);
        assertEquals(List.of(), notices);
    }

    private ScriptedPort.Endpoint endpoint(final int operationsMax) {
        oneSided.accept(new byte[] {1}, Access.PEERS_WRITE, operationsMax);
        final ScriptedPort.Endpoint made = oneSided.endpoints.getLast();
        made.state = State.UP;
        return made;
    }

    private ReplicaWrites begun(final ScriptedPort.Endpoint endpoint, final long first) {
        final ReplicaWrites writes = new ReplicaWrites(endpoint, window, share, offer);
        writes.begin(offer, EPOCH, first);
        endpoint.stepAll();
        assertTrue(writes.poll());
        assertEquals(CreditWord.of(EPOCH, first), fed.word());
        return writes;
    }

    // The second byte of a header.
    private void flags(final int slot, final int value) {
        window.headers().set(JAVA_BYTE, (long) slot * DataLayout.LENGTH + 1, (byte) value);
    }

    private boolean isCopied(final int slot, final int bytes) {
        final long at = (long) slot * DataLayout.LENGTH;
        return slice(window, slot, bytes).mismatch(slice(copy, slot, bytes)) == -1
                && window.headers()
                                .asSlice(at, DataLayout.LENGTH)
                                .mismatch(copy.headers().asSlice(at, DataLayout.LENGTH))
                        == -1
                && guards(exposedCopy).getAtIndex(JAVA_LONG, slot) == 1000 + slot;
    }

    private static MemorySegment guards(final ExposedWindow of) {
        return of.regions().words().memory();
    }

    private static MemorySegment slice(final WindowMemory of, final int slot, final long bytes) {
        return of.payload().asSlice(of.payloadOffset(slot), bytes);
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
        final ScriptedPort.Endpoint endpoint = endpoint(64);
        final ReplicaWrites writes = begun(endpoint, 3);
        assertEquals(10, writes.write(3, 10));
        assertTrue(endpoint.step());
        assertEquals(-1, slice(window, 3, 10 * SLOT_BYTES).mismatch(slice(copy, 3, 10 * SLOT_BYTES)));
        assertTrue(isBlank(copy.headers()));
        assertTrue(endpoint.step());
        assertTrue(isBlank(guards(exposedCopy)));
        assertTrue(endpoint.step());
        assertEquals(CreditWord.of(EPOCH, 3), fed.word());
        assertEquals(3, writes.freeable());
        assertTrue(endpoint.step());
        assertEquals(CreditWord.of(EPOCH, 13), fed.word());
        assertFalse(endpoint.step());
        assertTrue(writes.poll());
        assertEquals(Long.MAX_VALUE, writes.freeable());
        for (int slot = 3; slot < 13; slot++) {
            assertTrue(isCopied(slot, SLOT_BYTES), "slot " + slot);
        }
        assertTrue(isBlank(slice(copy, 13, SLOT_BYTES)) && isBlank(slice(copy, 2, SLOT_BYTES)));
    }

    /// The window has no payload of a frame that is sent from elsewhere.
    @Test
    void shouldWriteOnlyTheWordForGatheredDatagrams() {
        flags(3, DataLayout.FLAG_GATHERED);
        flags(4, DataLayout.FLAG_GATHERED | DataLayout.FLAG_KEYFRAME);
        flags(5, DataLayout.FLAG_KEYFRAME);
        final ScriptedPort.Endpoint endpoint = endpoint(64);
        final ReplicaWrites writes = begun(endpoint, 1);
        assertEquals(2, writes.write(1, 6));
        assertEquals(2, writes.write(3, 4));
        assertEquals(2, writes.write(5, 2));
        endpoint.stepAll();
        assertTrue(writes.poll());
        assertEquals(CreditWord.of(EPOCH, 7), fed.word());
        assertEquals(Long.MAX_VALUE, writes.freeable());
        for (final int slot : new int[] {1, 2, 5, 6}) {
            assertTrue(isCopied(slot, SLOT_BYTES), "slot " + slot);
        }
        assertTrue(isBlank(slice(copy, 3, 2 * SLOT_BYTES)));
        assertTrue(isBlank(copy.headers().asSlice(3L * DataLayout.LENGTH, 2L * DataLayout.LENGTH)));
        assertEquals(0, guards(exposedCopy).getAtIndex(JAVA_LONG, 3));
    }

    @Test
    void shouldWriteOfShortPayloadsOnlyWhatTheyHave() {
        window.lengths()[1] = 5;
        window.lengths()[2] = 7;
        final ScriptedPort.Endpoint endpoint = endpoint(64);
        final ReplicaWrites writes = begun(endpoint, 0);
        assertEquals(4, writes.write(0, 4));
        endpoint.stepAll();
        assertTrue(isCopied(0, SLOT_BYTES) && isCopied(1, 5) && isCopied(2, 7) && isCopied(3, SLOT_BYTES));
        assertTrue(isBlank(slice(copy, 1, SLOT_BYTES).asSlice(5))
                && isBlank(slice(copy, 2, SLOT_BYTES).asSlice(7)));
    }

    @Test
    void shouldEndARunWithTheWindow() {
        final ScriptedPort.Endpoint endpoint = endpoint(64);
        final ReplicaWrites writes = begun(endpoint, SLOTS - 2);
        assertEquals(2, writes.write(SLOTS - 2, 5));
        assertEquals(3, writes.write(SLOTS, 3));
        endpoint.stepAll();
        assertTrue(isCopied(SLOTS - 1, SLOT_BYTES) && isCopied(0, SLOT_BYTES) && isCopied(2, SLOT_BYTES));
        assertEquals(CreditWord.of(EPOCH, SLOTS + 3), fed.word());
    }

    @Test
    void shouldTakeAsMuchAsThereIsRoomFor() {
        for (int slot = 0; slot < SLOTS; slot++) {
            window.lengths()[slot] = 8;
        }
        final ScriptedPort.Endpoint endpoint = endpoint(9);
        final ReplicaWrites writes = begun(endpoint, 0);
        assertEquals(6, writes.write(0, 20));
        assertEquals(0, writes.write(6, 14));
        endpoint.stepAll();
        writes.poll();
        assertEquals(6, writes.write(6, 14));
        endpoint.stepAll();
        assertEquals(CreditWord.of(EPOCH, 12), fed.word());
        assertTrue(isCopied(11, 8));
    }

    @Test
    void shouldHoldForGoodWhatTheDeviceTookOnlyAPartOf() {
        for (int parts = 0; parts < 4; parts++) {
            final ScriptedPort.Endpoint endpoint = endpoint(64);
            final ReplicaWrites writes = begun(endpoint, 10L * parts);
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
        final ScriptedPort.Endpoint endpoint = endpoint(4);
        final ReplicaWrites writes = begun(endpoint, 0);
        assertEquals(4, writes.write(0, 4));
        assertFalse(writes.begin(offer, EPOCH + 1, 9));
        endpoint.stepAll();
        writes.poll();
        assertEquals(Long.MAX_VALUE, writes.freeable(), "what was never begun holds nothing");
        assertTrue(writes.begin(offer, EPOCH + 1, 9));
    }

    @Test
    void shouldHoldSlotsUntilTheyWereWrittenAlthoughItBeginsAnew() {
        final ScriptedPort.Endpoint endpoint = endpoint(64);
        final ReplicaWrites writes = begun(endpoint, 0);
        writes.write(0, 4);
        writes.begin(offer, EPOCH + 1, 9);
        assertEquals(0, writes.freeable());
        endpoint.stepAll();
        assertTrue(writes.poll());
        assertEquals(CreditWord.of(EPOCH + 1, 9), fed.word());
        assertEquals(Long.MAX_VALUE, writes.freeable());
    }

    @Test
    void shouldWriteNothingMoreAndHoldWhatMayStillBeReadWhenTheConnectionIsGone() {
        final ScriptedPort.Endpoint endpoint = endpoint(64);
        final ReplicaWrites writes = begun(endpoint, 0);
        writes.write(0, 4);
        endpoint.fail("no answer");
        assertEquals(0, writes.freeable());
        assertEquals(SenderOutput.NO_FEED, writes.write(4, 1));
    }
}
