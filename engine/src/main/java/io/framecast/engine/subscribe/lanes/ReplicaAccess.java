package io.framecast.engine.subscribe.lanes;

import io.framecast.reliability.onesided.ExposedWindow;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.onesided.ReplicaMemory;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One-sided access of other hosts to a co-root's replica of the window: the members of its repair group read
/// it, and the source writes it.
///
/// Threading: the conductor makes it, calls [#guard] and [#replica], and closes it; the receiver's thread
/// calls all else.
interface ReplicaAccess extends AutoCloseable {
    /// Where the transport cannot do that: members get their repairs, and the co-root its replica, by
    /// datagram.
    ReplicaAccess NONE = new ReplicaAccess() {};

    /// The access that a transport allows.
    ///
    /// @param oneSided null for a transport without one-sided operations
    /// @param window the replica's memory; outlives this
    static ReplicaAccess of(
            final @Nullable OneSidedPort oneSided,
            final WindowMemory window,
            final StreamInfo stream,
            final Consumer<String> notices) {
        if (oneSided == null) {
            return NONE;
        }
        final String refusal = "subscriber of " + stream.channel() + ": repairs for others by datagram: ";
        try {
            return new Exposed(
                    oneSided,
                    window,
                    ExposedWindow.ofReplica(oneSided, window, RepairGroupLayout.MEMBERS_MAX, refusal, notices));
        } catch (final RefusedException e) {
            notices.accept(refusal + e.getMessage());
            return NONE;
        }
    }

    /// Before its first use: lets the replica write a guard for each slot.
    default void guard(final RepairStore replica) {
        // Nobody reads it but this host.
    }

    /// Begins to connect to a member's endpoint; its descriptor is from the wire.
    ///
    /// @return false where that is not possible
    default boolean accept(final int member, final byte[] descriptor) {
        return false;
    }

    /// The values that a member needs; null until its endpoint is up.
    default @Nullable EndpointOffer offer(final int member) {
        return null;
    }

    /// Disconnects a member, which reads no more when this returns.
    default void cut(final int member) {
        // It is not connected.
    }

    /// Registers the replica so that the source writes it.
    ///
    /// @return the caller's; null where the source cannot
    /// @throws RefusedException when the system refuses
    default @Nullable ReplicaMemory replica() {
        return null;
    }

    @Override
    default void close() {
        // It holds nothing.
    }

    /// A replica that is exposed.
    record Exposed(OneSidedPort oneSided, WindowMemory window, ExposedWindow exposed) implements ReplicaAccess {
        @Override
        public void guard(final RepairStore replica) {
            replica.guardedBy(exposed.guards());
        }

        @Override
        public boolean accept(final int member, final byte[] descriptor) {
            return exposed.accept(member, descriptor);
        }

        @Override
        public @Nullable EndpointOffer offer(final int member) {
            return exposed.offer(member, RemotePlace.NONE);
        }

        @Override
        public void cut(final int member) {
            exposed.cut(member);
        }

        @Override
        public ReplicaMemory replica() {
            return new ReplicaMemory(oneSided, window, exposed);
        }

        @Override
        public void close() {
            exposed.close();
        }
    }
}
