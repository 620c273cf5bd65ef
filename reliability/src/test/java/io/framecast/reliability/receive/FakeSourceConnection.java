package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// A connection between a receiver's machine and its source's, whose writes and reads a test carries, or not.
final class FakeSourceConnection {
    static final byte[] RECEIVER = {1, 2, 3};
    static final byte[] SOURCE = {4, 5};
    static final long WORDS = 0x1000;
    static final RemotePlace HEADERS = new RemotePlace(0x2000, 8);
    static final RemotePlace PAYLOAD = new RemotePlace(0x3000, 9);
    static final RemotePlace GUARDS = new RemotePlace(0x4000, 10);

    final ArrayDeque<Long> writes = new ArrayDeque<>();
    final ArrayDeque<Long> pulls = new ArrayDeque<>();
    boolean accepts = true;
    boolean up = true;
    boolean broken;
    boolean opens = true;
    boolean writable = true;
    int pullRoom = Integer.MAX_VALUE;
    int accepted;
    int cuts;

    @Nullable
    EndpointOffer opened;

    boolean accept(final int member, final byte[] descriptor) {
        assertEquals(0, member);
        assertArrayEquals(RECEIVER, descriptor);
        accepted++;
        return accepts;
    }

    @Nullable
    EndpointOffer offer(final int member) {
        return up ? new EndpointOffer(SOURCE, new RemotePlace(WORDS + 8L * member, 7), HEADERS, PAYLOAD, GUARDS) : null;
    }

    void cut(final int member) {
        assertEquals(0, member);
        cuts++;
    }

    boolean open(final EndpointOffer offer) {
        opened = offer;
        return opens;
    }

    boolean write(final long word) {
        if (writable) {
            writes.add(word);
        }
        return writable;
    }

    int pull(final long first, final int count) {
        if (pullRoom < 0) {
            return RemoteMemory.NOT_READ;
        }
        final int taken = Math.min(count, pullRoom);
        for (int i = 0; i < taken; i++) {
            pulls.add(first + i);
        }
        return taken;
    }
}
