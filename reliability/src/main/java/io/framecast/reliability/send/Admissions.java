package io.framecast.reliability.send;

import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.send.JoinAttempts.Obstacle;
import io.framecast.reliability.send.Member.State;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/// Admits receivers: answers JOIN by ADMIT and a probe, or by a refusal, and sends an eviction notice to receivers
/// that are not members.
///
/// A JOIN may name any address. So only ADMIT goes to an address before READY returns its value. Refusals go to the
/// group.
///
/// One thread.
final class Admissions {
    // Rate of notices to receivers outside the table, so that garbage cannot make the source send.
    private static final long STRANGER_INTERVAL_NS = 1_000_000;

    private final StreamInfo stream;
    private final MemberTable members;
    private final RandomGenerator random;
    private final MemberGate output;
    private final Counts<SenderCount> counts;
    private final CoRoots coRoots;
    private final CreditWords words;
    private final ControlWriter ids;
    private final JoinBudget joins = new JoinBudget();
    private final JoinAttempts attempts = new JoinAttempts();
    private long strangerNs;

    /// @param random for probe tokens, and for values that no host may guess
    Admissions(
            final StreamInfo stream,
            final MemberTable members,
            final MemberGate output,
            final RandomGenerator random,
            final CoRoots coRoots,
            final CreditWords words,
            final ControlWriter ids) {
        this.words = words;
        this.stream = stream;
        this.members = members;
        this.random = random;
        this.coRoots = coRoots;
        this.output = output;
        counts = coRoots.counts();
        this.ids = ids.another();
    }

    JoinAttempts attempts() {
        return attempts;
    }

    /// The receiver has become a member. A receiver that leaves earlier stays in the list of attempts.
    void settled(final int member) {
        attempts.remove(members.of(member).terms.addresses().control());
    }

    Verdict onJoin(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!JoinLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final long id = ControlLayout.RECEIVER.get(datagram, offset);
        int member = members.find(id);
        if (member != MemberTable.NONE && members.of(member).state == State.GONE) {
            evictAgain(member, Reason.UNKNOWN, nowNs);
            return Verdict.UNKNOWN_MEMBER;
        }
        if (member != MemberTable.NONE && members.of(member).state == State.ACTIVE) {
            return Verdict.DUPLICATE;
        }
        final boolean answeredJustNow =
                member != MemberTable.NONE && nowNs - members.of(member).answeredNs < JoinBudget.MEMBER_INTERVAL_NS;
        if (answeredJustNow || !joins.take(nowNs)) {
            return Verdict.LIMITED;
        }
        if (member == MemberTable.NONE) {
            member = admit(id, datagram, offset, nowNs);
            if (member == MemberTable.NONE) {
                return Verdict.IMPOSSIBLE;
            }
        }
        if (JoinLayout.RING_SLOTS.get(datagram, offset) < ReceiverConfig.ringSlotsMin(stream, 1)) {
            evictAgain(member, Reason.RING_TOO_SMALL, nowNs);
            members.remove(member, State.GONE);
            attempts.onJoin(members.of(member).terms.addresses().control(), ringObstacle(datagram, offset), nowNs);
            counts.add(SenderCount.REFUSALS);
            return Verdict.GOOD;
        }
        attempts.onJoin(members.of(member).terms.addresses().control(), Obstacle.NO_ANSWER, nowNs);
        members.of(member).heardNs = nowNs;
        members.of(member).answeredNs = nowNs;
        sendAdmit(member);
        output.probe(members.of(member).token);
        return Verdict.GOOD;
    }

    private static Obstacle ringObstacle(final MemorySegment datagram, final long offset) {
        return JoinLayout.RING_SLOTS.get(datagram, offset) == JoinLayout.NO_RING
                ? Obstacle.NO_RING
                : Obstacle.RING_TOO_SMALL;
    }

    // Each repetition carries the same token, so that an early probe serves a late ADMIT, and the same value.
    private void sendAdmit(final int member) {
        final Member place = members.of(member);
        ids.receiver(place.id);
        output.sendAdmit(member, AdmitLayout.writeAdmit(ids.in(output.control()), place.token, place.value));
    }

    private int admit(final long id, final MemorySegment datagram, final long offset, final long nowNs) {
        final JoinLayout.Terms terms = JoinLayout.terms(datagram, offset);
        if (!areOfOneHost(terms.addresses(), id, nowNs)) {
            return MemberTable.NONE;
        }
        final int member = members.vacancy(nowNs);
        if (member == MemberTable.NONE) {
            attempts.onJoin(terms.addresses().control(), Obstacle.FULL, nowNs);
            counts.add(SenderCount.REFUSALS);
            refuse(id, Reason.FULL, nowNs);
            return MemberTable.NONE;
        }
        if (members.of(member).state != State.FREE) {
            words.onGone(member);
            output.disconnect(member);
            members.remove(member, State.FREE);
        }
        if (!output.connect(
                member, terms.addresses().control(), terms.addresses().repair())) {
            return MemberTable.NONE;
        }
        members.admit(member, id, terms, random.nextInt(), nowNs);
        members.of(member).value = random.nextLong();
        coRoots.onAdmitted(member);
        return member;
    }

    // ADMIT proves the control address alone, so all else must be of the same host.
    private boolean areOfOneHost(final LaneAddresses addresses, final long id, final long nowNs) {
        if (output.isOneHost(addresses)) {
            return true;
        }
        attempts.onJoin(addresses.control(), Obstacle.TWO_HOSTS, nowNs);
        counts.add(SenderCount.REFUSALS);
        refuse(id, Reason.UNKNOWN, nowNs);
        return false;
    }

    /// The member that a valid RESUME means: the sender where the membership has moved to it before, else the one with
    /// that secret; [MemberTable#NONE] where there is none.
    int resumed(final MemorySegment datagram, final long offset) {
        final long id = ControlLayout.RECEIVER.get(datagram, offset);
        final long secret = ResumeLayout.secret(datagram, offset);
        final int known = members.find(id);
        if (known == MemberTable.NONE) {
            return members.findActive(secret);
        }
        return isMovedTo(known, id, secret) ? known : MemberTable.NONE;
    }

    private boolean isMovedTo(final int member, final long id, final long secret) {
        final Member place = members.of(member);
        return place.isActive() && place.id == id && place.terms.secret() == ResumeLayout.next(secret);
    }

    /// RESUME of a member from [#resumed]: the membership goes on by another receiver at other addresses. The old
    /// connection is cut first, so that the process that had it reaches nothing any more; nothing of the window is
    /// freed meanwhile. The new addresses get ADMIT alone, until READY proves them as it proves those of JOIN.
    Verdict onResume(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        final Member place = members.of(member);
        final long id = ControlLayout.RECEIVER.get(datagram, offset);
        if (isMovedTo(member, id, ResumeLayout.secret(datagram, offset))) {
            return place.proven ? Verdict.GOOD : admitAgain(member, nowNs);
        }
        if (ResumeLayout.ACKNOWLEDGED.get(datagram, offset) < place.acknowledged) {
            return Verdict.IMPOSSIBLE;
        }
        if (!joins.take(nowNs)) {
            return Verdict.LIMITED;
        }
        final LaneAddresses addresses = ResumeLayout.addresses(datagram, offset);
        if (!areOfOneHost(addresses, id, nowNs)) {
            return Verdict.IMPOSSIBLE;
        }
        final JoinLayout.Terms moved = place.terms
                .withLanes(addresses, ResumeLayout.offer(datagram, offset))
                .withSecret(ResumeLayout.next(ResumeLayout.secret(datagram, offset)));
        words.onGone(member);
        output.disconnect(member);
        if (!output.connect(
                member, moved.addresses().control(), moved.addresses().repair())) {
            members.remove(member, State.FREE);
            coRoots.onGone(member);
            return Verdict.IMPOSSIBLE;
        }
        place.id = id;
        place.policyVersion = 0;
        place.terms = moved;
        place.rtt.reset();
        place.proven = false;
        place.value = random.nextLong();
        place.answeredNs = nowNs;
        place.heardNs = nowNs;
        place.admittedNs = nowNs;
        // A co-root's role is not inherited.
        coRoots.onAdmitted(member);
        sendAdmit(member);
        return Verdict.GOOD;
    }

    // ADMIT or READY of the receiver that a membership moved to was lost.
    private Verdict admitAgain(final int member, final long nowNs) {
        final Member place = members.of(member);
        if (nowNs - place.answeredNs < JoinBudget.MEMBER_INTERVAL_NS || !joins.take(nowNs)) {
            return Verdict.LIMITED;
        }
        place.answeredNs = nowNs;
        sendAdmit(member);
        return Verdict.GOOD;
    }

    /// A datagram of a receiver outside the table: its place went to another receiver after its eviction. Without a
    /// notice it would wait for ever.
    void onStranger(final long id, final int type, final long nowNs) {
        final boolean speaksAsMember = type == ControlLayout.TYPE_READY
                || type == ControlLayout.TYPE_ACK
                || type == ControlLayout.TYPE_NACK
                || type == ControlLayout.TYPE_RESUME
                || type == ControlLayout.TYPE_FRAME_REQUEST;
        if (speaksAsMember) {
            refuse(id, Reason.UNKNOWN, nowNs);
        }
    }

    // By multicast: the source has no address of a receiver outside the table, and does not know which other
    // addresses are a receiver's.
    private void refuse(final long id, final Reason reason, final long nowNs) {
        if (id != 0 && nowNs >= strangerNs) {
            strangerNs = nowNs + STRANGER_INTERVAL_NS;
            multicastEvict(id, reason);
        }
    }

    private void multicastEvict(final long id, final Reason reason) {
        ids.receiver(id);
        output.multicastControl(LeaveLayout.writeEvict(ids.in(output.control()), reason));
    }

    /// Sends a member the notice of its eviction; by multicast where its address is not proven.
    void evict(final int member, final Reason reason) {
        if (!members.of(member).proven) {
            multicastEvict(members.of(member).id, reason);
            return;
        }
        ids.receiver(members.of(member).id);
        output.sendControl(member, LeaveLayout.writeEvict(ids.in(output.control()), reason));
    }

    /// The same in answer to a datagram: seldom where it goes to all.
    void evictAgain(final int member, final Reason reason, final long nowNs) {
        if (members.of(member).proven) {
            evict(member, reason);
        } else {
            refuse(members.of(member).id, reason, nowNs);
        }
    }
}
