package io.framecast.engine.node;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneCounter;

/// A lane that forwards all calls to another, except for the descriptor of its readiness, so that agents poll. A
/// test overrides the calls that it changes.
abstract class ForwardingLane implements Lane {
    final Lane inner;

    ForwardingLane(final Lane inner) {
        this.inner = inner;
    }

    @Override
    public LaneAddress address() {
        return inner.address();
    }

    @Override
    public int post(final int firstSlot, final int count) {
        return inner.post(firstSlot, count);
    }

    @Override
    public int poll(final Completions completions) {
        return inner.poll(completions);
    }

    @Override
    public int receiveCapacity() {
        return inner.receiveCapacity();
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        return inner.multicast(firstSlot, count);
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        return inner.unicast(peer, firstSlot, count);
    }

    @Override
    public long submitted() {
        return inner.submitted();
    }

    @Override
    public long completed() {
        return inner.completed();
    }

    @Override
    public int connect(final LaneAddress peer) {
        return inner.connect(peer);
    }

    @Override
    public void disconnect(final int peer) {
        inner.disconnect(peer);
    }

    @Override
    public long counter(final LaneCounter counter) {
        return inner.counter(counter);
    }

    @Override
    public void close() {
        inner.close();
    }
}
