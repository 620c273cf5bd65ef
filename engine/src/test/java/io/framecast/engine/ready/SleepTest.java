package io.framecast.engine.ready;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SleepTest {
    private static final long FOREVER_NS = Duration.ofDays(1).toNanos();
    private static final Duration END = Duration.ofSeconds(60);
    private static final int HANDOFFS = 20_000;

    private static final Waits NOTHING = new OtherSleeps();

    private Sleep sleep;

    @BeforeEach
    void open() {
        assumeTrue(ReadySet.isPresent(), "no epoll on this system");
        sleep = new Sleep();
    }

    @AfterEach
    void close() {
        if (sleep != null) {
            sleep.close();
        }
    }

    @Test
    void shouldNotSleepWhenWokenSinceTheIntention() {
        sleep.intend();
        sleep.wake();
        assertTimeoutPreemptively(END, () -> assertFalse(sleep.sleep(NOTHING, FOREVER_NS)));
    }

    @Test
    void shouldEndAfterTheTime() {
        sleep.intend();
        assertFalse(sleep.sleep(NOTHING, 1_000_000));
    }

    @Test
    void shouldForgetAWakeThatCameBeforeTheIntention() {
        sleep.wake();
        sleep.intend();
        final long startNs = System.nanoTime();
        assertFalse(sleep.sleep(NOTHING, 2_000_000));
        assertTrue(System.nanoTime() - startNs >= 2_000_000);
    }

    @Test
    void shouldSleepAgainAfterAnIntentionThatWasGivenUpWhileBeingWoken() {
        sleep.intend();
        sleep.wake();
        sleep.giveUp();
        // The event that was written for the given-up sleep may end one more sleep, and no second one.
        sleep.intend();
        sleep.sleep(NOTHING, 1_000_000);
        sleep.intend();
        final long startNs = System.nanoTime();
        assertFalse(sleep.sleep(NOTHING, 2_000_000));
        assertTrue(System.nanoTime() - startNs >= 2_000_000);
    }

    @Test
    void shouldEndWhenAMemberPollsReadable() {
        try (ReadySet inner = ReadySet.open();
                Sleep other = new Sleep()) {
            sleep.set().add(inner.descriptor());
            inner.add(other.set().descriptor());
            other.intend();
            other.wake();
            sleep.intend();
            assertTrue(sleep.sleep(NOTHING, FOREVER_NS));
        }
        // The closed set is no longer a member.
        sleep.intend();
        assertFalse(sleep.sleep(NOTHING, 1_000_000));
    }

    @Test
    void shouldEndWhenADescriptorOfOneSleepPollsReadable() {
        try (Sleep other = new Sleep();
                Sleep silent = new Sleep()) {
            final OtherSleeps others = new OtherSleeps();
            others.sleeps.addAll(Collections.nCopies(20, silent));
            other.intend();
            other.wake();
            sleep.intend();
            assertFalse(sleep.sleep(others, 1_000_000));
            others.sleeps.add(other);
            sleep.intend();
            assertTrue(sleep.sleep(others, FOREVER_NS));
            // The descriptor ends one sleep only.
            sleep.intend();
            assertFalse(sleep.sleep(NOTHING, 1_000_000));
        }
    }

    // Each hand-off needs a sleep and a wake-up; a lost one would block until the test's timeout.
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @Test
    void shouldLoseNoWakeBetweenTwoThreads() throws InterruptedException {
        final AtomicLong given = new AtomicLong();
        final AtomicLong taken = new AtomicLong();
        final Thread giver = Thread.ofPlatform().start(() -> {
            for (int i = 1; i <= HANDOFFS; i++) {
                given.set(i);
                sleep.wake();
                while (taken.get() < i) {
                    Thread.onSpinWait();
                }
            }
        });
        while (taken.get() < HANDOFFS) {
            if (given.get() > taken.get()) {
                taken.incrementAndGet();
                continue;
            }
            sleep.intend();
            if (given.get() > taken.get()) {
                sleep.giveUp();
                continue;
            }
            sleep.sleep(NOTHING, FOREVER_NS);
        }
        giver.join();
        assertEquals(HANDOFFS, taken.get());
    }

    @Test
    void shouldBeWokenAndClosedInAnyOrder() {
        sleep.intend();
        sleep.close();
        sleep.wake();
        sleep.close();
    }

    @Test
    void shouldArmBehindTheIntentionAndBeforeTheLastLook() {
        final List<String> calls = new ArrayList<>();
        final Waits waits = new Waits() {
            @Override
            public void arm() {
                calls.add("armed");
            }

            @Override
            public long untilTimerNs() {
                return 0;
            }

            @Override
            public boolean mustPoll() {
                return false;
            }

            @Override
            public void collectDescriptors(final IntConsumer descriptors) {
                calls.add("sleeps");
            }
        };
        try (ReadyIdle idle = new ReadyIdle(waits)) {
            for (int cycle = 0; cycle < 6; cycle++) {
                calls.add("looks");
                idle.idle(0);
            }
        }
        // The agent polls a few times first, without the intention to sleep.
        assertEquals(
                List.of("looks", "looks", "looks", "armed", "looks", "sleeps", "looks", "armed", "looks", "sleeps"),
                calls);
    }

    /// Waits for other sleepers' events.
    private static final class OtherSleeps implements Waits {
        private final List<Sleep> sleeps = new ArrayList<>();

        @Override
        public long untilTimerNs() {
            return Long.MAX_VALUE;
        }

        @Override
        public boolean mustPoll() {
            return false;
        }

        @Override
        public void collectDescriptors(final IntConsumer descriptors) {
            descriptors.accept(ReadySet.NONE);
            sleeps.forEach(each -> descriptors.accept(each.set().descriptor()));
        }
    }
}
