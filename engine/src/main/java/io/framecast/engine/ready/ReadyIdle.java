package io.framecast.engine.ready;

import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.IdleStrategy;
import org.jspecify.annotations.Nullable;

/// Idles an agent: runs a few more duty cycles, then sleeps until a descriptor polls readable, another thread wakes
/// it, or a timer is due. Where no descriptor shows the work, and on systems without epoll, it polls at growing
/// intervals instead.
///
/// Threading: the agent's thread, except for [#wake] and [#watch]. Ownership: the thread that stopped the agent
/// closes it.
public final class ReadyIdle implements IdleStrategy, Wakeup, AutoCloseable {
    // Duty cycles without work before the agent intends to sleep.
    private static final int LOOKS = 2;
    private static final long LOOK_MIN_NS = 1_000;
    private static final int LOOK_DOUBLINGS_MAX = 8;
    // The first sleep after much work ends in time to publish counters and statistics. A heartbeat is not much.
    private static final long FIRST_SLEEP_MAX_NS = 20_000_000;
    private static final int MUCH_WORK = 4;
    private static final long SLEEP_MAX_NS = 250_000_000;

    private final Waits waits;
    private final @Nullable Sleep sleep;
    private int idles;
    private boolean intends;
    // Sleeps in a row that a descriptor ended and that no work followed.
    private int fruitless;
    // Duty cycles with work since the last sleep.
    private int worked;

    /// @throws io.framecast.api.error.TransportException when the system is out of descriptors
    public ReadyIdle(final Waits waits) {
        this.waits = waits;
        sleep = ReadySet.isPresent() ? new Sleep() : null;
    }

    /// Lets a descriptor end every sleep for as long as it is open; [ReadySet#NONE] is ignored.
    public void watch(final int descriptor) {
        if (sleep != null && descriptor != ReadySet.NONE) {
            sleep.set().add(descriptor);
        }
    }

    @Override
    public void idle(final int workCount) {
        if (workCount > 0) {
            worked++;
            reset();
        } else {
            idle();
        }
    }

    // The scheduler may ignore the hint.
    @SuppressWarnings("ThreadPriorityCheck")
    @Override
    public void idle() {
        idles++;
        if (idles <= LOOKS) {
            // A thread that has work for this agent may need its core.
            Thread.yield();
            return;
        }
        final Sleep own = sleep;
        if (own == null) {
            LockSupport.parkNanos(lookNs());
        } else if (!intends) {
            // After the intention, the agent checks for work once more.
            intends = true;
            own.intend();
            waits.arm();
        } else {
            intends = false;
            sleep(own);
        }
    }

    private void sleep(final Sleep own) {
        final long idleNs = worked < MUCH_WORK ? SLEEP_MAX_NS : FIRST_SLEEP_MAX_NS;
        final long longestNs = Math.min(waits.untilTimerNs(), waits.mustPoll() ? lookNs() : idleNs);
        worked = 0;
        if (own.sleep(waits, Math.max(0, longestNs))) {
            fruitless++;
            // The agent has no credit to read a readable descriptor: that must not keep it awake.
            if (fruitless > LOOKS) {
                LockSupport.parkNanos(LOOK_MIN_NS << Math.min(fruitless - LOOKS, LOOK_DOUBLINGS_MAX));
            }
        }
    }

    private long lookNs() {
        return LOOK_MIN_NS << Math.min(Math.max(0, idles - LOOKS) / 2, LOOK_DOUBLINGS_MAX);
    }

    @Override
    public void reset() {
        idles = 0;
        fruitless = 0;
        if (intends) {
            intends = false;
            Objects.requireNonNull(sleep).giveUp();
        }
    }

    @Override
    public void wake() {
        if (sleep != null) {
            sleep.wake();
        }
    }

    @Override
    public String alias() {
        return "ready";
    }

    @Override
    public void close() {
        if (sleep != null) {
            sleep.close();
        }
    }
}
