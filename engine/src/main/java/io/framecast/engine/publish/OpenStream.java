package io.framecast.engine.publish;

import io.framecast.engine.session.CounterBoard;

/// A stream without `auth=`: everybody may take part.
final class OpenStream implements StreamSecurity {
    @Override
    public int doWork(final long nowNs) {
        return 0;
    }

    @Override
    public long nextDeadlineNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public void onEvicted(final long receiverId) {
        // There is no key to change.
    }

    @Override
    public void look(final long nowNs) {
        // There are no strangers.
    }

    @Override
    public void countOn(final CounterBoard board) {
        // There is nothing to count.
    }

    @Override
    public String hostTag() {
        return "";
    }

    @Override
    public String shareObstacle() {
        return "";
    }

    @Override
    public void close() {
        // It owns nothing.
    }
}
