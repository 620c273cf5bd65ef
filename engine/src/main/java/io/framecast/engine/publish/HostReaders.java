package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.MemberStats;
import io.framecast.engine.hostgroup.HostGroups;
import io.framecast.engine.hostgroup.LocalReaders;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.window.FrameReaders;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongToIntFunction;
import java.util.stream.Stream;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Subscribers on the source's host read its window. The publisher's thread frees what they released, beside the
/// sender's: a lock holds the two apart.
final class HostReaders implements WindowReaders, FrameReaders {
    private static final Duration LONGEST = Duration.ofDays(365);

    private final String name;
    private final LocalReaders readers;
    private final ReaderCounters counters;
    private final SendSession session;
    private final SendWindow window;
    private final long patienceNs;
    private final Consumer<String> notices;
    private final ReentrantLock cycle = new ReentrantLock();
    // Under the lock.
    private boolean stopped;

    private HostReaders(final LocalReaders readers, final SendSession session, final SessionContext context) {
        final StreamInfo stream = session.stream();
        name = "publisher of " + stream.channel();
        this.readers = readers;
        this.session = session;
        window = session.window();
        patienceNs = stream.aliveTimeoutNs();
        notices = context.notices();
        counters = new ReaderCounters(stream.channel(), readers, context.counters(), notices);
        session.readBy(limit -> readers.freeable(limit, window.isFormatBlocked()));
    }

    /// Shares the window with subscribers on this host. Where that is not possible a notice says why, and they
    /// get datagrams.
    ///
    /// @param sender wakes the sender's thread
    static WindowReaders share(
            final Channel channel,
            final PublisherProtection protection,
            final MirroredMemory memory,
            final SendSession session,
            final Wakeup sender,
            final SessionContext context) {
        final StreamInfo stream = session.stream();
        final String obstacle = Stream.of(protection.shareObstacle(), obstacle(memory, session.window(), stream))
                .filter(why -> !why.isEmpty())
                .findFirst()
                .orElse("");
        if (!obstacle.isEmpty()) {
            context.notices().accept("host group: subscribers on this host get datagrams: " + obstacle);
            return new NoReaders();
        }
        final long windowBytes = (long) session.window().slots() * stream.slotBytes();
        return HostGroups.share(channel, protection.hostTag(), stream, memory, windowBytes, sender, context.notices())
                .<WindowReaders>map(readers -> new HostReaders(readers, session, context))
                .orElseGet(NoReaders::new);
    }

    // A frame must lie in the window as a whole, and contiguous.
    private static String obstacle(final MirroredMemory memory, final SendWindow window, final StreamInfo stream) {
        return !memory.mirrored()
                ? "this system cannot map the window twice"
                : stream.frameMaxSlots() >= window.slots()
                        ? "a frame of frame-max=" + stream.frameMaxBytes() + " bytes does not fit the window of "
                                + (long) (window.slots() - 1) * stream.slotBytes() + "; enlarge window="
                        : "";
    }

    @Override
    public FrameReaders frames() {
        return this;
    }

    @Override
    public int count() {
        return readers.count();
    }

    @Override
    public boolean hasRoom() {
        return readers.hasRoom();
    }

    @Override
    public boolean hasRoomForFormat() {
        return readers.hasRoomForFormat();
    }

    @Override
    public void begin(
            final long sequence,
            final long frameId,
            final int flags,
            final long timestampNs,
            final byte[] metadata,
            final @Nullable StreamFormat format) {
        readers.begin(sequence, frameId, flags, timestampNs, metadata, format);
    }

    @Override
    public void publish(final long offset, final long length) {
        readers.publish(offset, length);
    }

    @Override
    public boolean reclaim() {
        if (cycle.tryLock()) {
            try {
                if (!stopped) {
                    session.reclaim();
                }
            } finally {
                cycle.unlock();
            }
        }
        return true;
    }

    @Override
    public void await(
            final BooleanSupplier condition, final Duration longest, final SessionHost host, final Waiter publisher) {
        final long longestNs = longest.compareTo(LONGEST) < 0 ? longest.toNanos() : LONGEST.toNanos();
        Waiter.repeat(condition, longestNs, leftNs -> {
            reclaim();
            readers.rest(condition, leftNs);
        });
    }

    @Override
    public boolean isHeard(final IntSupplier members) {
        // Behind the commit: a member that is ready from here on finds the frame.
        VarHandle.fullFence();
        return members.getAsInt() > 0;
    }

    @Override
    public int exclusively(final LongToIntFunction part, final long nowNs) {
        cycle.lock();
        try {
            return part.applyAsInt(nowNs);
        } finally {
            cycle.unlock();
        }
    }

    @Override
    public void stop() {
        cycle.lock();
        try {
            stopped = true;
        } finally {
            cycle.unlock();
        }
    }

    @Override
    public void wake() {
        readers.wake();
    }

    @Override
    public void end() {
        readers.end(true);
    }

    @Override
    public List<MemberStats> stats() {
        return readers.stats(window.committed(), window.slots() - 1);
    }

    @Override
    public void look(final boolean blocked, final long nowNs) {
        final String held = readers.look(blocked, nowNs, patienceNs);
        if (held != null) {
            notices.accept(name + ": " + held);
        }
        counters.look(window.committed(), window.slots() - 1);
    }

    @Override
    public String gatherRefusal() {
        return "subscribers of this host read the window";
    }

    @Override
    public void close() {
        CloseHelper.closeAll(counters, readers);
    }
}
