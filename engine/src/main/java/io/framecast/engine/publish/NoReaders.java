package io.framecast.engine.publish;

import io.framecast.api.MemberStats;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.window.FrameReaders;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongToIntFunction;

/// The network alone reads the window: only the sender frees its datagrams.
final class NoReaders implements WindowReaders {
    @Override
    public FrameReaders frames() {
        return FrameReaders.NONE;
    }

    @Override
    public int count() {
        return 0;
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
    public void stop() {
        // The publisher's thread frees nothing.
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
