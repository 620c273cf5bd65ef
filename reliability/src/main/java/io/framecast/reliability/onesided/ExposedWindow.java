package io.framecast.reliability.onesided;

import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.window.SlotGuards;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.util.ArrayList;
import java.util.List;
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
    private final Region headers;
    private final Region payload;
    private final Region guardRegion;

    ExposedWindow(final OneSidedPort port, final WindowMemory memory, final PeerEndpoints peers) {
        this.peers = peers;
        final List<Region> made = new ArrayList<>();
        try {
            made.add(port.allocate((long) memory.slots() * Long.BYTES, Access.PEERS_READ));
            made.add(port.register(memory.headers(), Access.PEERS_READ));
            made.add(port.register(memory.payload(), Access.PEERS_READ));
        } catch (final RuntimeException | Error e) {
            CloseHelper.closeAll(made);
            throw e;
        }
        guardRegion = made.get(0);
        headers = made.get(1);
        payload = made.get(2);
        guards = new SlotGuards(
                guardRegion.memory(), memory.payload(), memory.lengths(), memory.slots(), memory.slotBytes());
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
                port, memory, new PeerEndpoints(port, membersMax, Access.PEERS_READ, 0, refusal, notices));
    }

    /// Written by the owner of the window.
    public SlotGuards guards() {
        return guards;
    }

    /// Begins to connect to a peer's endpoint; its descriptor is from the wire.
    public boolean accept(final int peer, final byte[] descriptor) {
        return peers.accept(peer, descriptor);
    }

    /// The values that a peer needs; null until its endpoint is up.
    ///
    /// @param word the word that the peer may write
    public @Nullable EndpointOffer offer(final int peer, final RemotePlace word) {
        final byte[] descriptor = peers.descriptor(peer);
        return descriptor == null
                ? null
                : new EndpointOffer(descriptor, word, place(headers), place(payload), place(guardRegion));
    }

    /// Disconnects a peer, which reads no more when this returns.
    public void cut(final int peer) {
        peers.cut(peer);
    }

    static RemotePlace place(final Region region) {
        return new RemotePlace(region.address(), region.key());
    }

    /// Headers of all slots, also to write from.
    Region headers() {
        return headers;
    }

    /// Payloads of all slots, also to write from.
    Region payload() {
        return payload;
    }

    /// Guards of all slots, also to write from.
    Region guardRegion() {
        return guardRegion;
    }

    /// Disconnects all peers.
    @Override
    public void close() {
        CloseHelper.closeAll(peers, guardRegion, payload, headers);
    }
}
