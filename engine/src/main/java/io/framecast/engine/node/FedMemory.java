package io.framecast.engine.node;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.engine.sink.Opened;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.agrona.CloseHelper;

/// A co-root's copy of the window as its source writes into it, and the word that tells how far that has come.
/// Registered apart from what members read: keys for the one are no keys for the other.
///
/// Made by the conductor, read by the receiver's thread.
final class FedMemory implements AutoCloseable {
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment word;
    private final RegisteredMemory words;
    private final RegisteredMemory headers;
    private final RegisteredMemory payload;
    private final RegisteredMemory guards;

    /// @param copy outlives this
    /// @param vouching what vouches for its slots, likewise
    /// @throws io.framecast.api.error.TransportException when the system refuses
    FedMemory(final OneSided oneSided, final SendMemory copy, final MemorySegment vouching) {
        try (Opened opened = new Opened()) {
            opened.add(arena);
            word = arena.allocate(JAVA_LONG);
            words = opened.add(oneSided.register(word, Access.PEERS_WRITE));
            headers = opened.add(oneSided.register(copy.ring().headers(), Access.PEERS_WRITE));
            payload = opened.add(oneSided.register(copy.ring().payload(), Access.PEERS_WRITE));
            guards = opened.add(oneSided.register(vouching, Access.PEERS_WRITE));
            opened.keep();
        }
    }

    /// What the source must know.
    LinkOffer offer() {
        return LinkOffer.ofCopy(
                new RemotePlace(words.address(), words.key()),
                new RemotePlace(headers.address(), headers.key()),
                new RemotePlace(payload.address(), payload.key()),
                new RemotePlace(guards.address(), guards.key()));
    }

    /// What the source wrote last; what it tells of lies in the copy.
    long word() {
        return (long) WORD.getAcquire(word, 0L);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(guards, payload, headers, words, arena);
    }
}
