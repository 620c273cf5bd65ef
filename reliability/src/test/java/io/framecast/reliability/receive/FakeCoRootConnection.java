package io.framecast.reliability.receive;

import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.EndpointOffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A member's side of the connection to its co-root, under a test's control: the actions, in order.
final class FakeCoRootConnection {
    static final byte[] MEMBER = {6, 7};

    final List<String> done = new ArrayList<>();
    final ArrayDeque<MemorySegment> toCoRoot = new ArrayDeque<>();
    final ArrayDeque<Long> pulls = new ArrayDeque<>();
    boolean opens = true;
    boolean slow;

    byte @Nullable [] descriptor = MEMBER;

    @Nullable
    EndpointOffer opened;

    boolean make() {
        done.add("make");
        return true;
    }

    boolean open(final EndpointOffer offer) {
        done.add("open");
        opened = offer;
        return opens;
    }

    void cut() {
        done.add("cut");
    }

    // A datagram was sent to the source.
    void said(final MemorySegment datagram) {
        if (ControlLayout.EPOCH.get(datagram, 0) > 0) {
            done.add("said " + ControlLayout.EPOCH.get(datagram, 0));
        }
    }

    int pull(final long first, final int count) {
        if (slow) {
            return RemoteMemory.NOT_READ;
        }
        for (int i = 0; i < count; i++) {
            pulls.add(first + i);
        }
        return count;
    }
}
