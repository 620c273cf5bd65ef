package io.framecast.reliability.onesided;

import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.window.SlotGuards;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A source's window, or a co-root's replica of one, that peers read over their endpoints, with a guard for each
/// slot.
///
/// Threading: one thread, but for construction. Ownership: owns its registrations and endpoints, not the window's
/// memory.
public final class ExposedWindow implements AutoCloseable {
    private final PeerEndpoints peers;
    private final SlotGuards guards;
    private final WindowRegions regions;

    ExposedWindow(final OneSidedPort port, final WindowMemory memory, final PeerEndpoints peers) {
        this.peers = peers;
        final long guardBytes = (long) memory.slots() * Long.BYTES;
        regions = WindowRegions.of(port, guardBytes, memory.headers(), memory.payload(), Access.PEERS_READ);
        guards = new SlotGuards(regions.words().memory(), memory);
    }

    /// Exposes a co-root's replica to the members of its repair group, whose endpoints only read.
    ///
    /// @param membersMax members of the group
    /// @param refusal the notice, once, when a member cannot be connected to; the reason follows it
    /// @throws RefusedException when the system refuses
    public static ExposedWindow ofReplica(
            final OneSidedPort port,
            final WindowMemory memory,
            final int membersMax,
            final String refusal,
            final Consumer<String> notices) {
        return new ExposedWindow(
                port, memory, new PeerEndpoints(port, membersMax, Access.PEERS_READ, refusal, notices));
    }

    /// Written by the owner of the window.
    public SlotGuards guards() {
        return guards;
    }

    /// Begins to connect to a peer's endpoint; its descriptor is from the wire.
    public boolean accept(final int peer, final byte[] descriptor) {
        return peers.accept(peer, descriptor, 0);
    }

    /// The values that a peer needs; null until its endpoint is up.
    ///
    /// @param word the word that the peer may write
    public @Nullable EndpointOffer offer(final int peer, final RemotePlace word) {
        final byte[] descriptor = peers.descriptor(peer);
        return descriptor == null
                ? null
                : new EndpointOffer(
                        descriptor, word, place(regions.headers()), place(regions.payload()), place(regions.words()));
    }

    /// Disconnects a peer, which reads no more when this returns.
    public void cut(final int peer) {
        peers.cut(peer);
    }

    static RemotePlace place(final Region region) {
        return new RemotePlace(region.address(), region.key());
    }

    /// Guards as the words, headers and payloads of all slots, also to write from.
    WindowRegions regions() {
        return regions;
    }

    /// Disconnects all peers.
    @Override
    public void close() {
        CloseHelper.closeAll(peers, regions);
    }
}
