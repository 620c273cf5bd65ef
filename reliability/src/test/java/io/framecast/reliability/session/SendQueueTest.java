package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SendQueueTest {
    private static final long MS = 1_000_000;
    private static final long STEP_NS = 20_000;
    private static final int BATCH_BYTES = 64 << 10;

    /// A link that sends what waits at a rate, in order.
    private static final class Link {
        // The bytes that the kernel counts for a byte of a datagram.
        private double charge = 1;
        private double bytesPerNs;
        private double queued;
        private double sent;
        private long idleNs;
        private long longest;

        Link(final long bytesPerSecond) {
            bytesPerNs = bytesPerSecond / 1e9;
        }

        void advance(final long ns) {
            final double gone = Math.min(queued, bytesPerNs * ns);
            idleNs += queued < bytesPerNs * ns ? ns : 0;
            queued -= gone;
            sent += gone;
        }

        void add(final long bytes) {
            queued += bytes;
            longest = Math.max(longest, queuedBytes());
        }

        long queuedBytes() {
            return (long) (charge * queued);
        }
    }

    private long nowNs;

    /// A source that always has more to send, and a socket that takes `socketBytes`.
    private void run(final SendQueue queue, final Link link, final long ns, final long socketBytes) {
        for (final long endNs = nowNs + ns; nowNs < endNs; nowNs += STEP_NS) {
            for (int i = 0; i < 16; i++) {
                final long bytes = Math.min(
                        Math.min(queue.room(nowNs), BATCH_BYTES), Math.max(0, socketBytes - link.queuedBytes()));
                if (bytes == 0) {
                    break;
                }
                link.add(bytes);
                queue.onSent(bytes);
            }
            link.advance(STEP_NS);
        }
    }

    @ParameterizedTest
    @CsvSource({"5000000", "52000000", "125000000", "1250000000"})
    void shouldKeepTheQueueOfALinkShortAndTheLinkBusy(final long bytesPerSecond) {
        final Link link = new Link(bytesPerSecond);
        final SendQueue queue = new SendQueue(link::queuedBytes);
        run(queue, link, 500 * MS, 16 << 20);
        link.longest = 0;
        link.idleNs = 0;
        final double before = link.sent;
        run(queue, link, 500 * MS, 16 << 20);
        final long target = Math.max(SendQueue.LEAST_BYTES, bytesPerSecond / 1_000 * (SendQueue.TARGET_NS / MS));
        assertTrue(link.longest <= 1.3 * target + BATCH_BYTES, () -> link.longest + " of " + target);
        assertTrue(link.idleNs < 5 * MS, () -> "idle for " + link.idleNs + " ns");
        assertTrue(link.sent - before > 0.49 * bytesPerSecond, () -> "sent " + (link.sent - before));
    }

    @Test
    void shouldKeepALinkBusyWhoseKernelCountsMoreThanBytes() {
        final Link link = new Link(125_000_000);
        link.charge = 1.7;
        final SendQueue queue = new SendQueue(link::queuedBytes);
        run(queue, link, 300 * MS, 4 << 20);
        link.longest = 0;
        final double before = link.sent;
        run(queue, link, 300 * MS, 4 << 20);
        assertTrue(link.longest < 1 << 20, () -> "queue of " + link.longest);
        assertTrue(link.sent - before > 0.98 * 37_500_000, () -> "sent " + (link.sent - before));
    }

    @Test
    void shouldNotLimitALinkWhoseQueueNeverStands() {
        final Link link = new Link(100_000_000_000L);
        final SendQueue queue = new SendQueue(link::queuedBytes);
        run(queue, link, 200 * MS, 16 << 20);
        assertEquals(Long.MAX_VALUE, queue.room(nowNs));
        assertTrue(queue.nextNs() < nowNs);
    }

    @Test
    void shouldFollowALinkThatGetsSlowerAndFaster() {
        final Link link = new Link(1_000_000_000);
        final SendQueue queue = new SendQueue(link::queuedBytes);
        run(queue, link, 300 * MS, 16 << 20);
        link.bytesPerNs = 0.05;
        run(queue, link, 1000 * MS, 16 << 20);
        link.longest = 0;
        run(queue, link, 300 * MS, 16 << 20);
        assertTrue(link.longest < 512 << 10, () -> "queue of " + link.longest);
        link.bytesPerNs = 1;
        run(queue, link, 300 * MS, 16 << 20);
        final double before = link.sent;
        run(queue, link, 300 * MS, 16 << 20);
        assertTrue(link.sent - before > 0.97 * 300_000_000, () -> "sent " + (link.sent - before));
    }

    /// Frames of half a megabyte, 60 a second, over a link that takes 10 ms for each.
    @Test
    void shouldSendEachFrameAsFastAsTheLinkTakesIt() {
        final Link link = new Link(50_000_000);
        final SendQueue queue = new SendQueue(link::queuedBytes);
        for (int frame = 0; frame < 200; frame++) {
            final long beginNs = nowNs;
            long left = 500_000;
            while (left > 0 || link.queuedBytes() > 0) {
                final long bytes = left == 0 ? 0 : Math.min(left, Math.min(queue.room(nowNs), BATCH_BYTES));
                link.add(bytes);
                queue.onSent(bytes);
                left -= bytes;
                link.advance(STEP_NS);
                nowNs += STEP_NS;
            }
            final long tookNs = nowNs - beginNs;
            // The rate is learned from the first ones.
            final int number = frame;
            assertTrue(tookNs < (frame < 10 ? 12 : 10.2) * MS, () -> "frame " + number + " took " + tookNs + " ns");
            link.advance(beginNs + 16_666_667 - nowNs);
            nowNs = beginNs + 16_666_667;
        }
    }

    /// A source that had nothing to send for a while has the link's queue to itself, and what it learned holds.
    @Test
    void shouldHoldBurstsShortAfterAPause() {
        final Link link = new Link(50_000_000);
        final SendQueue queue = new SendQueue(link::queuedBytes);
        run(queue, link, 300 * MS, 16 << 20);
        link.advance(1000 * MS);
        nowNs += 1000 * MS;
        link.longest = 0;
        run(queue, link, 100 * MS, 16 << 20);
        assertTrue(link.longest < 512 << 10, () -> "queue of " + link.longest);
    }
}
