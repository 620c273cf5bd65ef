package io.framecast.reliability.sim;

import io.framecast.reliability.SenderMachine;
import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A source's memory as members reach it without its process: its status vector, and its window as that is at
/// the moment, paused or not. A connection serves until it is cut or the process is gone.
final class SimMemory {
    private static final long CONNECTING_MAX_NS = 30_000_000;

    private final SimSource source;
    private final SimWorld world;
    private final RandomGenerator random;
    private final @Nullable SimConnection[] connections;
    private final @Nullable SimFeed[] feeds;
    private final long[] words;
    private final long[] seen;

    /// A member's way into the memory.
    private static final class Connection extends SimConnection {
        private final SimMemory memory;
        private final int member;

        private Connection(final SimMemory memory, final int member, final int number, final long readyNs) {
            super(number, readyNs);
            this.memory = memory;
            this.member = member;
        }

        @Override
        boolean isAlive() {
            return !memory.source.isStopped();
        }

        @Override
        boolean write(final long word) {
            if (!isServed()) {
                return false;
            }
            memory.words[member] = word;
            memory.source.wakeAfter(0);
            return true;
        }

        @Override
        @Nullable
        MemorySegment slot(final long sequence) {
            return isServed() ? memory.source.slot(sequence) : null;
        }

        @Override
        long guard(final long sequence) {
            return memory.source.guard(sequence);
        }
    }

    SimMemory(final SimSource source, final SimWorld world, final RandomGenerator random, final int members) {
        this.source = source;
        this.world = world;
        this.random = random;
        connections = new SimConnection[members];
        feeds = new SimFeed[members];
        words = new long[members];
        seen = new long[members];
    }

    void accept(final int member) {
        final long readyNs = world.events().nowNs() + random.nextLong(CONNECTING_MAX_NS);
        connections[member] = world.connect(number -> new Connection(this, member, number, readyNs));
    }

    @Nullable
    LinkOffer offer(final int member) {
        final SimConnection connection = connections[member];
        if (connection == null || !connection.isReady(world.events().nowNs())) {
            return null;
        }
        final RemotePlace place = new RemotePlace(8L * member, member);
        return new LinkOffer(connection.descriptor(), place, place, place, place);
    }

    boolean openFeed(final int member, final LinkOffer copy, final int epoch, final long first) {
        final SimConnection to = world.connection((int) copy.word().address() / 8);
        if (connections[member] == null || to == null) {
            return false;
        }
        final SimFeed current = feeds[member];
        final SimFeed feed = current != null && current.isOf(to) ? current : new SimFeed(source, world, random, to);
        feeds[member] = feed;
        return feed.tell(epoch, first);
    }

    int feed(final int member, final long first, final int count) {
        final SimFeed feed = feeds[member];
        final int taken = feed == null ? SenderOutput.NO_FEED : feed.write(first, count);
        world.tally().written += Math.max(0, taken);
        return taken;
    }

    /// Slots from here on must not change.
    long freeable(final long limit) {
        long least = limit;
        for (final SimFeed feed : feeds) {
            least = feed == null ? least : feed.freeable(least);
        }
        return least;
    }

    void cut(final int member) {
        final SimFeed feed = feeds[member];
        if (feed != null) {
            feed.end();
            feeds[member] = null;
        }
        final SimConnection connection = connections[member];
        if (connection != null) {
            connection.cut();
            connections[member] = null;
            words[member] = 0;
            seen[member] = 0;
        }
    }

    /// Shows the machine what has changed.
    void poll(final SenderMachine machine) {
        for (int m = 0; m < words.length; m++) {
            if (words[m] != seen[m]) {
                seen[m] = words[m];
                world.tally().words++;
                machine.onWord(m, words[m]);
            }
        }
    }
}
