package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.engine.hostgroup.GroupLeader;
import io.framecast.engine.hostgroup.Takeover;
import io.framecast.engine.subscribe.protect.StreamProtection;
import io.framecast.reliability.succession.SuccessionMachine;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Optional;

/// A subscriber's role in the host group of its channel: it shares its frames with nobody, or it leads. The
/// role says when the subscription may join a source, and makes its memberships.
///
/// Threading: any thread makes it; the receiver's thread calls all else. The subscription closes it.
public abstract sealed class GroupRole implements AutoCloseable {
    private GroupRole() {}

    /// The role of a subscriber that shares its frames with nobody.
    public static GroupRole alone() {
        return new Alone();
    }

    /// The role of the member that a leader is to the source. It takes over what the leader inherited.
    ///
    /// @param channel the subscriber's
    public static GroupRole leading(final GroupLeader leader, final Channel channel) {
        final Leader leading = new Leader(leader, channel.stream().framesHeld());
        return Optional.ofNullable(leader.takeover())
                .<GroupRole>map(takeover -> new Successor(leading, takeover))
                .orElse(leading);
    }

    /// In each of the receiver's cycles.
    abstract void onCycle();

    /// Whether the subscription may join a source that it hears.
    abstract boolean mayJoin();

    /// A membership that begins with a JOIN.
    ///
    /// @param secret random
    abstract Membership join(long secret);

    /// In each cycle without a session that is being opened: hands the membership that the subscriber
    /// inherited to its heir, once, and before any other source is joined.
    ///
    /// @param protection gives the keys with which the membership goes on
    abstract void takeOver(StreamProtection protection, long nowNs, Heir heir);

    /// Gives back what the subscriber inherited and did not open. Idempotent.
    @Override
    public abstract void close();

    /// Opens an inherited membership.
    interface Heir {
        /// @param membership the heir's from now on
        void open(StreamInfo stream, Membership membership);
    }

    private static final class Alone extends GroupRole {
        @Override
        void onCycle() {
            // Nobody watches this receiver.
        }

        @Override
        boolean mayJoin() {
            return true;
        }

        @Override
        Membership join(final long secret) {
            return new Membership.Own(secret);
        }

        @Override
        void takeOver(final StreamProtection protection, final long nowNs, final Heir heir) {
            // Nothing is inherited.
        }

        @Override
        public void close() {
            // It holds nothing.
        }
    }

    private static final class Leader extends GroupRole {
        private final GroupLeader leader;
        private final int framesHeld;

        private Leader(final GroupLeader leader, final int framesHeld) {
            this.leader = leader;
            this.framesHeld = framesHeld;
        }

        @Override
        void onCycle() {
            leader.onCycle();
        }

        // A publisher on this host shares its window, and needs no leader.
        @Override
        boolean mayJoin() {
            return !leader.defersToPublisher();
        }

        @Override
        LeaderMembership join(final long secret) {
            return new LeaderMembership(leader, framesHeld, secret);
        }

        @Override
        void takeOver(final StreamProtection protection, final long nowNs, final Heir heir) {
            // Nothing is inherited.
        }

        @Override
        public void close() {
            // The leader is its group's.
        }
    }

    /// A leader that goes on with the membership of an earlier one.
    private static final class Successor extends GroupRole {
        private final Leader leading;
        private final Takeover takeover;
        private final SuccessionMachine.Resume resume;
        private boolean opened;

        private Successor(final Leader leading, final Takeover takeover) {
            this.leading = leading;
            this.takeover = takeover;
            resume = new SuccessionMachine.Resume(takeover.stream().aliveTimeoutNs());
        }

        @Override
        void onCycle() {
            leading.onCycle();
        }

        @Override
        boolean mayJoin() {
            return opened && leading.mayJoin();
        }

        @Override
        Membership join(final long secret) {
            return leading.join(secret);
        }

        @Override
        void takeOver(final StreamProtection protection, final long nowNs, final Heir heir) {
            if (opened) {
                return;
            }
            final StreamInfo stream = takeover.stream();
            if (resume.mayOpen(protection.agree(stream, nowNs), nowNs)) {
                final long secret = ResumeLayout.next(takeover.checkpoint().secret);
                heir.open(stream, new SuccessorMembership(leading.join(secret), takeover, resume));
                opened = true;
            }
        }

        @Override
        public void close() {
            if (!opened) {
                opened = true;
                takeover.close();
            }
        }
    }
}
