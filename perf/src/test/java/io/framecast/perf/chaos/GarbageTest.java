package io.framecast.perf.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.Records;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class GarbageTest {
    private static final int CHECKED_BYTES = 32;

    @Test
    void shouldNeverPassForTheRealDatagram() {
        final Garbage garbage = new Garbage(5);
        final byte[] real = new byte[Garbage.BYTES_MAX];
        new Random(6).nextBytes(real);
        int changed = 0;
        int cut = 0;
        for (int i = 0; i < 20_000; i++) {
            final byte[] made = garbage.next(real);
            assertTrue(made.length <= Garbage.BYTES_MAX);
            if (made.length < real.length && Arrays.equals(made, 0, made.length, real, 0, made.length)) {
                cut++;
            } else {
                final int compared = Math.min(CHECKED_BYTES, made.length);
                assertFalse(
                        made.length >= CHECKED_BYTES && Arrays.equals(made, 0, compared, real, 0, compared),
                        "a datagram with the real one's header");
                changed++;
            }
        }
        assertTrue(cut > 1_000 && changed > 10_000, () -> "not every kind was made");
    }

    @Test
    void shouldMakeNoiseWhenNothingWasHeard() {
        final Garbage garbage = new Garbage(5);
        for (int i = 0; i < 100; i++) {
            assertTrue(garbage.next(new byte[0]).length <= Garbage.BYTES_MAX);
        }
    }

    @Test
    void shouldTellPathsInWords() {
        final UdpPath open = new UdpPath("239.78.30.39", 24_326, "0.0.0.0", 0);
        final Attacker.Order order = new Attacker.Order(5, 500, List.of(open));
        assertEquals(order, Records.read(Attacker.Order.class, Records.write(order)));
        assertEquals(new UdpPath("239.78.30.39", 24_326, "10.78.0.8", 24_326), open.seenFrom("10.78.0.8"));
        final UdpPath connected = new UdpPath("10.78.0.2", 5, "10.78.0.1", 6);
        assertEquals(connected, connected.seenFrom("10.78.0.8"));
    }
}
