package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.send.SenderOutput;
import io.framecast.reliability.window.SlotGuards;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// The one-sided endpoints of a source's members, one for each. A member writes its credit into its word of the
/// status vector and reads the window; the source writes the window into co-roots' replicas.
///
/// Threading: the sender's thread, but for construction. Ownership: owns endpoints and registrations, not the
/// window's memory.
public final class MemberEndpoints implements AutoCloseable {
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final WindowMemory memory;
    private final Region vector;
    private final PeerEndpoints peers;
    private final ExposedWindow window;
    private final long[] seen;
    private final @Nullable ReplicaWrites[] replicas;

    private MemberEndpoints(
            final OneSidedPort port,
            final WindowMemory memory,
            final int membersMax,
            final String channel,
            final Consumer<String> notices) {
        this.memory = memory;
        seen = new long[membersMax];
        replicas = new ReplicaWrites[membersMax];
        vector = port.allocate((long) membersMax * Long.BYTES, Access.PEERS_WRITE);
        peers = new PeerEndpoints(
                port,
                membersMax,
                Access.PEERS_WRITE,
                "publisher of " + channel + ": a subscriber's credit and repair go by datagram: ",
                notices);
        try {
            window = new ExposedWindow(port, memory, peers);
        } catch (final RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    /// Registers the window and its members' words.
    ///
    /// @param membersMax members of the session
    /// @param notices takes single lines for the operator
    /// @return null where the system refuses: then everything goes by datagram, and a notice says why
    public static @Nullable MemberEndpoints open(
            final OneSidedPort port,
            final WindowMemory memory,
            final int membersMax,
            final String channel,
            final Consumer<String> notices) {
        try {
            return new MemberEndpoints(port, memory, membersMax, channel, notices);
        } catch (final RefusedException e) {
            notices.accept("publisher of " + channel + ": credit and repair go by datagram: " + e.getMessage());
            return null;
        }
    }

    /// For members whose slots may be reused while they read them.
    public SlotGuards guards() {
        return window.guards();
    }

    /// See [SenderOutput#link].
    public boolean accept(final int member, final byte[] descriptor, final boolean feeds) {
        return peers.accept(member, descriptor, feeds ? ReplicaWrites.OPERATIONS_MAX : 0);
    }

    /// See [SenderOutput#endpointOffer].
    public @Nullable EndpointOffer offer(final int member) {
        return window.offer(member, new RemotePlace(vector.address() + (long) member * Long.BYTES, vector.key()));
    }

    /// See [SenderOutput#isEndpointBroken]; a notice reports the first failure.
    public boolean isBroken(final int member) {
        final ReplicaWrites replica = replicas[member];
        return peers.isBroken(member) || (replica != null && replica.isOver());
    }

    /// See [SenderOutput#openFeed].
    public boolean openFeed(final int member, final EndpointOffer replica, final int epoch, final long first) {
        final EndpointPort endpoint = peers.up(member);
        if (endpoint == null) {
            return false;
        }
        final ReplicaWrites current = replicas[member];
        final ReplicaWrites writes = current == null ? new ReplicaWrites(endpoint, memory, window, replica) : current;
        replicas[member] = writes;
        return writes.begin(replica, epoch, first);
    }

    /// See [SenderOutput#feed].
    public int feed(final int member, final long firstSequence, final int count) {
        final ReplicaWrites replica = replicas[member];
        return replica == null ? SenderOutput.NO_FEED : replica.write(firstSequence, count);
    }

    /// The first sequence below `limit` whose slot must not change because a device reads it; else `limit`.
    public long freeable(final long limit) {
        long least = limit;
        for (int member = 0; member < peers.used(); member++) {
            final ReplicaWrites replica = replicas[member];
            least = replica == null ? least : Math.min(least, replica.freeable());
        }
        return least;
    }

    /// Whether a write is in flight.
    public boolean isWriting() {
        return freeable(Long.MAX_VALUE) != Long.MAX_VALUE;
    }

    /// See [SenderOutput#unlink].
    public void cut(final int member) {
        replicas[member] = null;
        if (peers.cut(member)) {
            WORD.setRelease(vector.memory(), (long) member * Long.BYTES, 0L);
            seen[member] = 0;
        }
    }

    /// Shows the machine the words that changed, and takes tokens of completed writes.
    ///
    /// @return work done
    public int poll(final SenderMachine machine) {
        int changed = 0;
        for (int member = 0; member < peers.used(); member++) {
            final long word = (long) WORD.getAcquire(vector.memory(), (long) member * Long.BYTES);
            if (word != seen[member]) {
                seen[member] = word;
                machine.onWord(member, word);
                changed++;
            }
            final ReplicaWrites replica = replicas[member];
            changed += replica != null && replica.poll() ? 1 : 0;
        }
        return changed;
    }

    /// Disconnects all members.
    @Override
    public void close() {
        CloseHelper.closeAll(window, vector);
    }
}
