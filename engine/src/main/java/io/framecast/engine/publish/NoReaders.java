package io.framecast.engine.publish;

import io.framecast.api.MemberStats;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.window.StreamFormat;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;

/// The network alone reads the window: only the sender frees its datagrams.
final class NoReaders implements WindowReaders {
    @Override
    public int count() {
        return 0;
    }

    @Override
    public boolean hasRoom() {
        return true;
    }

    @Override
    public boolean hasRoomForFormat() {
        return true;
    }

    @Override
    public void begin(
            final long sequence,
            final long frameId,
            final int flags,
            final long timestampNs,
            final byte[] metadata,
            final @Nullable StreamFormat format) {
        // The datagrams say it all.
    }

    @Override
    public void publish(final long offset, final long length) {
        // The datagrams say it all.
    }

    @Override
    public boolean reclaim() {
        return false;
    }

    @Override
    public void await(
            final BooleanSupplier condition, final Duration longest, final SessionHost host, final Waiter publisher) {
        host.await(publisher, condition, longest);
    }

    @Override
    public boolean isHeard(final IntSupplier members) {
        return true;
    }

    @Override
    public int exclusively(final LongToIntFunction part, final long nowNs) {
        return part.applyAsInt(nowNs);
    }

    @Override
    public void wake() {
        // The publisher sleeps at its own waiter.
    }

    @Override
    public void end() {
        // Members hear of it in the next cycle.
    }

    @Override
    public List<MemberStats> stats() {
        return List.of();
    }

    @Override
    public void look(final boolean blocked, final long nowNs) {
        // No reader holds the publisher up.
    }

    @Override
    public String gatherRefusal() {
        return "";
    }

    @Override
    public void close() {
        // It owns nothing.
    }
}
