package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SendPacerTest {
    private static final int HEADER_BYTES = 40;
    private static final int SLOTS = 4096;
    private static final long SECOND_NS = 1_000_000_000;

    private final int[] lengths = new int[SLOTS];

    /// Sends all that the pacer permits, as a source with much to send does.
    ///
    /// @return bytes sent
    private long send(final SendPacer pacer, final SplittableRandom random, final long nowNs) {
        long sent = 0;
        while (true) {
            final int first = random.nextInt(SLOTS);
            final int most = random.nextInt(1, Math.min(800, SLOTS - first) + 1);
            final int count = pacer.datagrams(lengths, HEADER_BYTES, first, most, nowNs);
            if (count == 0) {
                return sent;
            }
            assertTrue(count <= most);
            long bytes = 0;
            for (int i = 0; i < count; i++) {
                bytes += HEADER_BYTES + lengths[first + i];
            }
            pacer.onSent(bytes, nowNs);
            sent += bytes;
        }
    }

    private SplittableRandom fill(final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final int longest = random.nextInt(64, 8960);
        for (int i = 0; i < SLOTS; i++) {
            lengths[i] = random.nextInt(1, longest + 1);
        }
        return random;
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000, 999_983, 10_000_000, 123_456_789, 1_000_000_000, 12_500_000_000L})
    void shouldSendExactlyTheRateWhenTheThreadComesInTime(final long rateBytes) {
        final SplittableRandom random = fill(rateBytes);
        final SendPacer pacer = new SendPacer(rateBytes);
        final long start = 5 * SECOND_NS;
        long nowNs = start;
        long sent = send(pacer, random, nowNs);
        final long burst = madeUp(rateBytes) + SendPacer.QUANTUM_BYTES_MAX + 9_000;
        assertTrue(sent <= burst, "burst of " + sent);
        final long spanNs = Math.max(SECOND_NS, 2_000 * SECOND_NS / rateBytes * 9_000);
        while (nowNs < start + spanNs) {
            // The due time, or as late as may be made up for.
            final long lateNs = madeUp(rateBytes) * SECOND_NS / rateBytes;
            nowNs = Math.max(nowNs, pacer.nextNs()) + (random.nextBoolean() ? 0 : random.nextLong(lateNs + 1));
            sent += send(pacer, random, nowNs);
            final double due = (double) rateBytes * (nowNs - start) / SECOND_NS;
            assertTrue(sent <= due + burst, "sent " + sent + " of " + due);
            assertTrue(sent >= due - burst, "sent " + sent + " of " + due);
        }
    }

    private static long madeUp(final long rateBytes) {
        return Math.min(rateBytes / 100, SendPacer.CATCH_UP_BYTES);
    }

    @Test
    void shouldNotMakeUpForMoreThanItsCatchUp() {
        // 10 ms, half a millisecond more, a datagram more.
        assertAfterPause(50_000_000, 500_000, 25_000 + 9_000);
        // No more than may be made up for at once, a quantum, a datagram.
        assertAfterPause(1_000_000_000, SendPacer.CATCH_UP_BYTES, SendPacer.QUANTUM_BYTES_MAX + 9_000);
    }

    private void assertAfterPause(final long rateBytes, final long madeUp, final long more) {
        final SplittableRandom random = fill(1);
        final SendPacer pacer = new SendPacer(rateBytes);
        send(pacer, random, SECOND_NS);
        final long afterPause = send(pacer, random, 60 * SECOND_NS);
        assertTrue(afterPause >= madeUp - 2 && afterPause <= madeUp + more, "sent " + afterPause);
    }

    @Test
    void shouldLoseNothingInRounding() {
        // A byte takes 333 333.3 µs.
        final SendPacer pacer = new SendPacer(3_000);
        for (int i = 0; i < 3_000_000; i++) {
            pacer.onSent(1, 0);
        }
        assertEquals(1_000 * SECOND_NS, pacer.nextNs());
    }

    @Test
    void shouldTellWhenItIsDueSoon() {
        final SendPacer pacer = new SendPacer(1_000_000);
        pacer.onSent(1_000, SECOND_NS);
        final long dueNs = pacer.nextNs();
        assertTrue(dueNs > SECOND_NS - SendPacer.CATCH_UP_NS && dueNs <= SECOND_NS + 1_000_000);
        pacer.onSent(10_000, SECOND_NS);
        assertEquals(dueNs + 10_000_000, pacer.nextNs());
        assertEquals(0, pacer.budgetBytes(pacer.nextNs() - 1));
        assertTrue(pacer.budgetBytes(pacer.nextNs()) > 0);
        assertFalse(pacer.isDueSoon(SECOND_NS));
        assertTrue(pacer.isDueSoon(pacer.nextNs() - 10_000));
    }

    @Test
    void shouldNotOverflowWhateverTheRate() {
        for (final long rateBytes : new long[] {1_000, 1_000_000_000_000L}) {
            final SendPacer pacer = new SendPacer(rateBytes);
            pacer.onSent(Long.MAX_VALUE, Long.MAX_VALUE / 2);
            assertTrue(pacer.nextNs() > Long.MAX_VALUE / 2 - SendPacer.CATCH_UP_NS);
            assertTrue(pacer.budgetBytes(Long.MAX_VALUE) > 0);
        }
    }

    @Test
    void shouldHoldNobodyWithoutARate() {
        final SendPacer pacer = new SendPacer(0);
        pacer.onSent(Long.MAX_VALUE, 0);
        assertEquals(77, pacer.datagrams(lengths, HEADER_BYTES, 0, 77, 0));
        assertFalse(pacer.isDueSoon(0));
    }
}
