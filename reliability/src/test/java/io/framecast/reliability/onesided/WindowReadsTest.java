package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Reads out of a window whose slots are reused, or filled, between any two parts of a read.
final class WindowReadsTest {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = 64;
    private static final long SESSION = 5;
    private static final long WANTED = 3;
    private static final int PARTS = 4;

    private final StreamInfo stream =
            new StreamInfo(SESSION, "cam", SLOT_BYTES, SLOTS, SLOT_BYTES, 5_000, new byte[] {1}, new byte[] {1});
    private final ScriptedPort oneSided = new ScriptedPort();
    private final TestMemory arena = new TestMemory();
    private final WindowMemory memory = arena.window(SLOTS, SLOT_BYTES);
    private final ExposedWindow share =
            ExposedWindow.ofReplica(oneSided, memory, 4, "refused: ", line -> assertTrue(line.isEmpty(), line));
    private final Counts<ReadCount> counts = new Counts<>(ReadCount.class);
    private final SendWindow window = new SendWindow(memory, SESSION).guardedBy(share.guards());
    private final MemoryShape shape = MemoryShape.of(
            stream,
            MemoryShape.Kind.BY_ARRIVAL,
            (int) (ReceiverConfig.ringSlotsMin(stream, 1) + 63) / 64 * 64,
            0,
            true,
            2);
    private final RepairSlots repairs = new RepairSlots(shape, arena.repairs(shape));
    private final ReadBuffers buffers = new ReadBuffers(oneSided, Objects.requireNonNull(repairs.reads()));
    private final long[] tokens = new long[ReadSlots.SLOTS];
    private ScriptedPort.Endpoint endpoint;

    @BeforeEach
    void open() {
        assertTrue(share.accept(0, new byte[] {1}));
        oneSided.endpoints.getFirst().state = State.UP;
        endpoint = oneSided.open(WindowReads.OPERATIONS_MAX, Access.LOCAL);
        endpoint.state = State.UP;
    }

    @AfterEach
    void close() {
        buffers.close();
        share.close();
        arena.close();
        assertEquals(0, oneSided.leases);
    }

    private WindowReads reads(final boolean guarded) {
        final EndpointOffer offer = share.offer(0, RemotePlace.NONE);
        assertNotNull(offer);
        final WindowReads reads = new WindowReads(endpoint, buffers, stream, offer, () -> guarded, counts);
        reads.slowAfter(20_000_000);
        return reads;
    }

    private static byte value(final long sequence, final int index) {
        return (byte) (sequence * 41 + index);
    }

    // As the publisher does: payload first.
    private void write(final long sequence) {
        for (int i = 0; i < SLOT_BYTES; i++) {
            memory.payload().set(JAVA_BYTE, sequence % SLOTS * SLOT_BYTES + i, value(sequence, i));
        }
    }

    private void publish() {
        final long sequence = window.cursor();
        write(sequence);
        window.beginFrame(SLOT_BYTES, 0, 0, new byte[0]);
        window.commit(SLOT_BYTES, 1);
        window.seal(sequence, 1, true);
    }

    private void publishTo(final long end) {
        while (window.cursor() < end) {
            if (window.freeSlots() == 0) {
                window.free(window.freed() + 1);
            }
            publish();
        }
    }

    @Test
    void shouldHaveOthersAskWhenAnotherConnectionHoldsAllSlots() {
        final WindowReads window = reads(false);
        assertEquals(ReadSlots.SLOTS - 1, window.read(0, ReadSlots.SLOTS - 1, 0));
        endpoint = oneSided.open(WindowReads.OPERATIONS_MAX, Access.LOCAL);
        endpoint.state = State.UP;
        final WindowReads copy = reads(false);
        assertEquals(1, copy.read(100, 2, 0), "the last slot, and its end gives it back");
        endpoint = oneSided.open(WindowReads.OPERATIONS_MAX, Access.LOCAL);
        endpoint.state = State.UP;
        final WindowReads another = reads(false);
        assertEquals(RemoteMemory.NOT_READ, another.read(200, 2, 0));
        assertEquals(2, counts.get(ReadCount.SLOW));
    }

    private long end(final WindowReads reads) {
        endpoint.stepAll();
        assertEquals(1, endpoint.poll(tokens));
        return reads.end((int) tokens[0]);
    }

    private boolean isWanted(final int slot) {
        for (int i = 0; i < SLOT_BYTES; i++) {
            if (buffers.slots()
                            .memory()
                            .payload()
                            .get(JAVA_BYTE, buffers.slots().payloadOffset(slot) + i)
                    != value(WANTED, i)) {
                return false;
            }
        }
        return true;
    }

    @Test
    void shouldReadWhatLiesThere() {
        publishTo(10);
        for (final boolean guarded : new boolean[] {false, true}) {
            final WindowReads reads = reads(guarded);
            assertEquals(1, reads.read(WANTED, 1, 0));
            assertTrue(reads.isBusy());
            assertEquals(WindowReads.ARRIVED, end(reads));
            assertTrue(isWanted((int) tokens[0]));
            assertFalse(reads.isBusy());
        }
    }

    /// The slot is freed, written and committed after that many parts of the read.
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldNotTakeWhatWasUsedAgainUnderTheRead(final int parts) {
        publishTo(10);
        final WindowReads reads = reads(true);
        reads.read(WANTED, 1, 0);
        for (int i = 0; i < parts; i++) {
            endpoint.step();
        }
        window.free(10);
        publishTo(WANTED + SLOTS + 1);
        assertEquals(WANTED, end(reads));
    }

    /// The publisher has begun to write, and no header announces it yet.
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldNotTakeAPayloadThatIsBeingWritten(final int parts) {
        publishTo(10);
        final WindowReads reads = reads(true);
        reads.read(WANTED, 1, 0);
        for (int i = 0; i < parts; i++) {
            endpoint.step();
        }
        window.free(10);
        write(WANTED + SLOTS);
        assertEquals(WANTED, DataLayout.SEQUENCE.get(memory.headers(), WANTED * DataLayout.LENGTH));
        assertEquals(WANTED, end(reads));
    }

    /// The device reads in any order: words and header are right, and some of the payload is not.
    @Test
    void shouldNotTakeAPayloadThatItsChecksumDoesNotFit() {
        publishTo(10);
        final WindowReads reads = reads(true);
        reads.read(WANTED, 1, 0);
        endpoint.step();
        final long at = WANTED * SLOT_BYTES + SLOT_BYTES - 1;
        memory.payload().set(JAVA_BYTE, at, (byte) ~memory.payload().get(JAVA_BYTE, at));
        assertEquals(WANTED, end(reads));
    }

    @Test
    void shouldNotTakeWhatWasNeverSealed() {
        write(0);
        window.beginFrame(SLOT_BYTES, 0, 0, new byte[0]);
        window.commit(SLOT_BYTES, 1);
        final WindowReads reads = reads(true);
        reads.read(0, 1, 0);
        assertEquals(0, end(reads));
    }

    /// A co-root gets the datagram itself while a member reads it.
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4})
    void shouldTakeFromACopyWhatWasThereBeforeTheReadAndNothingElse(final int parts) {
        final RepairStore copy = new RepairStore(memory).guardedBy(share.guards());
        assertTrue(copy.guard());
        put(copy, WANTED);
        final WindowReads reads = reads(true);
        final long wanted = WANTED + SLOTS;
        reads.read(wanted, 1, 0);
        for (int i = 0; i < parts; i++) {
            assertTrue(endpoint.step());
        }
        put(copy, wanted);
        assertEquals(parts == 0 ? WindowReads.ARRIVED : wanted, end(reads));
    }

    private void put(final RepairStore copy, final long sequence) {
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        final byte[] payload = new byte[SLOT_BYTES];
        for (int i = 0; i < SLOT_BYTES; i++) {
            payload[i] = value(sequence, i);
        }
        DataLayout.write(
                header,
                0,
                new DataHeader().session(DataLayout.TYPE_DATA, SESSION).frame(0, SLOT_BYTES, 0),
                sequence,
                0);
        new HeaderChecksum().seal(header, 0, SESSION);
        copy.putPayload(sequence, MemorySegment.ofArray(payload), 0, SLOT_BYTES);
        copy.putHeader(sequence, header, 0);
    }

    @Test
    void shouldReadAsManyAsThereAreSlotsFor() {
        publishTo(SLOTS - 1);
        final WindowReads reads = reads(true);
        assertEquals(SLOTS - 1, reads.read(0, SLOTS - 1, 0));
        assertEquals(3, reads.read(5, 3, 0), "they are on their way");
        window.free(5);
        publishTo(SLOTS + 3);
        assertEquals(1, reads.read(SLOTS - 1, 3, 0), "one slot is left");
        for (int i = 0; i < PARTS; i++) {
            endpoint.step();
        }
        assertEquals(1, endpoint.poll(tokens));
        assertEquals(0, reads.end((int) tokens[0]), "overwritten: its slot is free at once");
        assertEquals(1, reads.read(SLOTS, 2, 0));
    }

    @Test
    void shouldReadNothingMoreWhereADeviceTookHalfOfARead() {
        publishTo(10);
        final WindowReads reads = reads(true);
        assertEquals(1, reads.read(0, 1, 0));
        endpoint.takes = 2;
        assertEquals(0, reads.read(1, 1, 0));
        endpoint.takes = Integer.MAX_VALUE;
        assertEquals(RemoteMemory.NOT_READ, reads.read(2, 1, 0));
        assertTrue(reads.isBusy());
        assertEquals(WindowReads.ARRIVED, end(reads));
        assertFalse(reads.isBusy());
    }

    @Test
    void shouldSayThatReadsAreSlow() {
        publishTo(10);
        final WindowReads reads = reads(true);
        reads.read(0, 1, 0);
        assertEquals(1, reads.read(1, 1, 20_000_000));
        assertEquals(RemoteMemory.NOT_READ, reads.read(2, 3, 20_000_001));
        assertEquals(3, counts.get(ReadCount.SLOW));
    }

    @Test
    void shouldHaveItsSlotsBackWhenTheEndpointBreaksUnderReads() {
        publishTo(SLOTS - 1);
        for (int round = 0; round < 3; round++) {
            endpoint = oneSided.open(WindowReads.OPERATIONS_MAX, Access.LOCAL);
            endpoint.state = State.UP;
            final WindowReads reads = reads(true);
            assertEquals(40, reads.read(0, 40, 0));
            endpoint.step();
            endpoint.fail("given back");
            assertEquals(RemoteMemory.NOT_READ, reads.read(50, 1, 0));
            endpoint.close();
            reads.abandon();
            assertFalse(reads.isBusy());
        }
    }
}
