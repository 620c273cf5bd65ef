package io.framecast.engine.node;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.engine.sink.Opened;
import io.framecast.reliability.window.SlotGuards;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A window, or a co-root's copy of one, as peers read it, with a word for each slot that vouches for it. By
/// one thread, but for construction.
final class WindowShare implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final PeerEndpoints peers;
    private final MemorySegment vouching;
    private final SlotGuards guards;
    private final RegisteredMemory headers;
    private final RegisteredMemory payload;
    private final RegisteredMemory words;

    /// @param memory whose lanes are opened later: what they register is then part of what peers may read
    /// @throws TransportException when the system refuses
    WindowShare(final OneSided oneSided, final SendMemory memory, final PeerEndpoints peers) {
        this.peers = peers;
        try (Opened opened = new Opened()) {
            opened.add(arena);
            vouching = arena.allocate(JAVA_LONG, memory.slots());
            guards = new SlotGuards(vouching, memory.payload(), memory.lengths(), memory.slots(), memory.slotBytes());
            headers = opened.add(oneSided.register(memory.ring().headers(), Access.PEERS_READ));
            payload = opened.add(oneSided.register(memory.ring().payload(), Access.PEERS_READ));
            words = opened.add(oneSided.register(vouching, Access.PEERS_READ));
            opened.keep();
        }
    }

    /// Written by whoever fills the window.
    SlotGuards guards() {
        return guards;
    }

    /// What a peer must know; null until its endpoint is up.
    ///
    /// @param word what it may write
    @Nullable
    LinkOffer offer(final int peer, final RemotePlace word) {
        final byte[] descriptor = peers.descriptor(peer);
        return descriptor == null
                ? null
                : new LinkOffer(
                        descriptor,
                        word,
                        new RemotePlace(headers.address(), headers.key()),
                        new RemotePlace(payload.address(), payload.key()),
                        new RemotePlace(words.address(), words.key()));
    }

    /// Headers of all slots, also to write from.
    RegisteredMemory headers() {
        return headers;
    }

    /// Payloads of all slots, likewise.
    RegisteredMemory payload() {
        return payload;
    }

    /// What vouches for all slots, likewise.
    RegisteredMemory words() {
        return words;
    }

    /// The same, for one who lets others write it.
    MemorySegment vouching() {
        return vouching;
    }

    PeerEndpoints peers() {
        return peers;
    }

    /// Cuts everybody off.
    @Override
    public void close() {
        CloseHelper.closeAll(peers, words, payload, headers, arena);
    }
}
