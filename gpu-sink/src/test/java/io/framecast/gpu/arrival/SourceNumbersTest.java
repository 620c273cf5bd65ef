package io.framecast.gpu.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.framecast.api.SourceEvent;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedDevice;
import org.junit.jupiter.api.Test;

class SourceNumbersTest {
    private static final long OURS = 5;

    private final SourceNumbers numbers = new SourceNumbers();

    private void others(final long first, final int count) {
        for (long session = first; session < first + count; session++) {
            assertNotEquals(numbers.of(OURS), numbers.of(session), "session " + session);
            numbers.retire(session);
        }
    }

    @Test
    void shouldKeepANumberWhileOthersComeAndGo() {
        final int ours = numbers.of(OURS);
        others(1000, 3 * SourceNumbers.NUMBERS);
        assertEquals(ours, numbers.of(OURS));
    }

    @Test
    void shouldKeepTheNumberOfOneThatEndedAndCameBack() {
        final int ours = numbers.of(OURS);
        numbers.retire(OURS);
        assertEquals(ours, numbers.of(OURS));
        for (long session = 1000; session < 1000 + 3L * SourceNumbers.NUMBERS; session++) {
            assertNotEquals(ours, numbers.of(session));
            numbers.retire(session);
        }
    }

    @Test
    void shouldGiveNumbersOfLostSourcesToOthersAndNotThoseOfLiveOnes() {
        try (DeviceBackend device = new EmulatedDevice(6, EmulatedConfig.DEFAULT);
                ScriptedSubscriber subscriber = new ScriptedSubscriber(device, OURS, 64, 2);
                PlainMemory memory = new PlainMemory(8, 64)) {
            final Attachment attachment = new Attachment(subscriber, 0);
            final ArrivalRing ring = new ArrivalRing(memory.area(), 8, 0);
            ring.resume(1, 0);
            final int ours = written(attachment, ring, memory, SourceEvent.Kind.JOINED, OURS);
            for (long session = 1000; session < 1000 + 3L * SourceNumbers.NUMBERS; session++) {
                assertNotEquals(ours, written(attachment, ring, memory, SourceEvent.Kind.JOINED, session));
                assertNotEquals(ours, written(attachment, ring, memory, SourceEvent.Kind.LOST, session));
            }
            attachment.close();
        }
    }

    // The number that the device gets.
    private static int written(
            final Attachment attachment,
            final ArrivalRing ring,
            final PlainMemory memory,
            final SourceEvent.Kind kind,
            final long session) {
        attachment.onSource(new SourceEvent(session, kind, 0, ""));
        attachment.work(ring, new ArrivalRecord(), new io.framecast.api.DeviceFrame[8]);
        final EmulatedArrivals device =
                EmulatedArrivals.open(memory, memory.area().address());
        final ArrivalRecord seen = new ArrivalRecord();
        if (!device.test(ArrivalMatch.ANY, seen)) {
            throw new AssertionError("no entry was written");
        }
        device.release(seen);
        ring.collect(_ -> {});
        ring.resume(1, 0);
        return seen.source;
    }
}
