package io.framecast.reliability.sim;

import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.GrantWord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// What a source writes into one co-root's copy of the window: one part after the other, but now and then in any
/// order, each read out of the window only when it is carried out, which takes its time and may be slow or end for
/// good.
final class SimFeed {
    private static final int WRITES_MAX = 24;
    private static final long SLOW_NS = 60_000_000;
    // Payloads, a half each; headers behind them; what vouches for them; and the word.
    private static final int PARTS = 4;
    private static final int GUARD = 3;

    /// Datagrams whose word is the last of them.
    private record Run(long first, int count) {}

    private final SimSource source;
    private final SimWorld world;
    private final RandomGenerator random;
    private final SimConnection copy;
    private final boolean restless;
    private final ArrayDeque<Run> runs = new ArrayDeque<>();
    private int epoch;
    private int pending;
    private long lastNs;
    private boolean over;

    SimFeed(final SimSource source, final SimWorld world, final RandomGenerator random, final SimConnection copy) {
        this.source = source;
        this.world = world;
        this.random = random;
        this.copy = copy;
        restless = world.options().faults().unrest() > 0;
    }

    /// Has the word say how far it has come.
    ///
    /// @return false when there is no room for that
    boolean tell(final int wordEpoch, final long end) {
        if (over || (restless && random.nextInt(4) == 0)) {
            return false;
        }
        epoch = wordEpoch;
        begin(new Run(end, 0));
        return true;
    }

    /// As [SenderOutput#feed].
    int write(final long first, final int count) {
        if (over) {
            return SenderOutput.NO_FEED;
        }
        final int taken = Math.min(count, Math.min(1 + random.nextInt(8), WRITES_MAX - pending));
        if (taken > 0) {
            begin(new Run(first, taken));
        }
        return taken;
    }

    private void begin(final Run run) {
        pending += run.count;
        runs.add(run);
        final List<Runnable> parts = new ArrayList<>();
        for (int part = 0; part < PARTS; part++) {
            for (int i = 0; i < run.count; i++) {
                final int at = part;
                final long sequence = run.first + i;
                parts.add(() -> put(sequence, at));
            }
        }
        final int told = epoch;
        parts.add(() -> tellEnd(told, run));
        if (restless && random.nextInt(32) == 0) {
            Collections.shuffle(parts, new Random(random.nextLong()));
        }
        parts.forEach(this::later);
        later(() -> finish(run));
    }

    private void later(final Runnable part) {
        final long delayNs = world.options().link().delayNs();
        final boolean slow = restless && random.nextInt(400) == 0;
        lastNs = Math.max(
                lastNs + 1,
                world.events().nowNs()
                        + delayNs
                        + random.nextLong(delayNs + 1)
                        + (slow ? random.nextLong(SLOW_NS) : 0));
        world.events().at(lastNs, () -> {
            if (!over) {
                part.run();
            }
        });
    }

    private void put(final long sequence, final int part) {
        if (source.isStopped() || (restless && random.nextInt(4000) == 0)) {
            end();
            return;
        }
        source.checkHeld(sequence);
        if (part == GUARD) {
            if (!copy.vouch(sequence, source.guard(sequence))) {
                end();
            }
            return;
        }
        final int half = DataLayout.LENGTH + world.options().stream().slotBytes() / 2;
        final int from = part == 0 ? DataLayout.LENGTH : part == 1 ? half : 0;
        final int to = part == 0
                ? half
                : part == 1 ? DataLayout.LENGTH + world.options().stream().slotBytes() : DataLayout.LENGTH;
        if (!copy.put(sequence, source.slot(sequence), from, to)) {
            end();
        }
    }

    private void tellEnd(final int told, final Run run) {
        if (!copy.write(GrantWord.of(told, run.first + run.count))) {
            end();
        }
    }

    private void finish(final Run run) {
        if (!runs.remove().equals(run)) {
            throw new IllegalStateException("writes of one connection ended out of order");
        }
        pending -= run.count;
        source.wakeAfter(0);
    }

    /// The connection is gone: nothing reads the window any more.
    void end() {
        if (!over) {
            over = true;
            runs.clear();
            pending = 0;
            source.wakeAfter(0);
        }
    }

    /// Slots from here on must not change.
    long freeable(final long limit) {
        long least = limit;
        for (final Run run : runs) {
            least = Math.min(least, run.first);
        }
        return least;
    }

    /// Whether it goes there.
    boolean isOf(final @Nullable SimConnection other) {
        return copy == other;
    }
}
