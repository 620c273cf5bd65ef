package io.framecast.reliability.send;

import io.framecast.reliability.send.Member.State;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A source's co-roots (Subramoni, InfiniBand multicast collectives): the groups, their instructions by ASSIGN
/// and REPAIR_GROUP, and the co-roots' aggregates.
///
/// Every change has an epoch. An aggregate covers only members that joined the group up to its covered epoch, and
/// its values are lower bounds that stay true. So an aggregate of an older epoch, or of a former co-root, does no
/// harm. The source keeps the highest values that it knows of each member.
///
/// The source replaces a co-root that is gone, that has not confirmed its list, or that is late. A late co-root is
/// silent while something is unacknowledged, although the source asked all members to answer. Its loss loses no
/// data, because its own receipt has freed nothing.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
final class CoRoots {
    /// The source replaces a co-root that is silent for longer while it waits for an answer.
    static final long LATE_MIN_NS = 200_000_000;

    /// The source replaces a co-root that serves only when it is fed, and is not for so long.
    static final long FEED_WAIT_NS = 3_000_000_000L;

    /// It waits so long for a co-root that has no members yet.
    static final long FORM_WAIT_NS = 10_000_000_000L;

    static final long PLAN_INTERVAL_NS = 100_000_000;
    private static final int LATE_RTTS = 8;
    private static final int NONE = -1;

    private final CoRootConfig config;
    private final MemberTable members;
    private final Counts<SenderCount> counts;
    private final CoRootInstructions instructions;
    private final long aliveTimeoutNs;
    private final List<ServedGroup> sets = new ArrayList<>();
    private final Replication feeds;

    private int epoch;
    private boolean changed;
    private long planNs;
    private static final long EXCUSE_INTERVAL_NS = 2_000_000_000;
    // MAX_VALUE: the source waits for nothing; 0: it has waited for long.
    private long stalledNs = Long.MAX_VALUE;
    private long askNs;
    private long awaitedNs;
    private long excusedNs = -EXCUSE_INTERVAL_NS;
    private long least;
    private boolean wantsDirect;

    CoRoots(
            final SenderConfig config,
            final MemberTable members,
            final SenderOutput output,
            final Counts<SenderCount> counts,
            final ControlWriter ids) {
        this.config = config.coRoots();
        this.members = members;
        this.counts = counts;
        feeds = new Replication(config.coRoots().feed(), sets, this::isSettled, this::isFedOnly, output, counts);
        instructions = new CoRootInstructions(members, output, counts, ids);
        aliveTimeoutNs = config.stream().aliveTimeoutNs();
    }

    /// Whether the source chooses co-roots.
    boolean isEnabled() {
        return config.count() > 0;
    }

    Counts<SenderCount> counts() {
        return counts;
    }

    /// A new member takes a place of the table.
    void onAdmitted(final int member) {
        onGone(member);
        members.of(member).group.instructed = 0;
        members.of(member).group.confirmed = 0;
        members.of(member).group.unfitNs = 0;
        members.of(member).group.advancedNs = 0;
        members.of(member).group.alone = false;
    }

    /// The source accepted a member's ACK.
    ///
    /// @param complete whether the member has the whole stream, and the source knows that the stream has ended
    void onAck(final int member, final MemorySegment datagram, final long offset, final boolean complete) {
        members.of(member).group.confirmed =
                Math.max(members.of(member).group.confirmed, ControlLayout.EPOCH.get(datagram, offset));
        final ServedGroup set = members.of(member).set;
        if (set != null && set.coRoot() == member && AckLayout.isAggregate(datagram, offset)) {
            onAggregate(set, datagram, offset, complete);
        }
    }

    /// A member's own ACK or NACK showed progress.
    void onAdvanced(final int member, final long nowNs) {
        members.of(member).group.advancedNs = nowNs;
    }

    private void onAggregate(
            final ServedGroup set, final MemorySegment datagram, final long offset, final boolean complete) {
        counts.add(SenderCount.AGGREGATES);
        final int covered = AckLayout.COVERED.get(datagram, offset);
        final long acknowledged = AckLayout.ACKNOWLEDGED.get(datagram, offset);
        final long grant = AckLayout.GRANT.get(datagram, offset);
        set.onAggregate(covered, acknowledged, grant, AckLayout.SLOWEST_MEMBER.get(datagram, offset));
        for (int i = 0; i < set.size(); i++) {
            final int member = set.member(i);
            if (members.of(member).group.joined <= covered) {
                members.acknowledge(member, acknowledged, grant);
                if (complete) {
                    members.of(member).complete = true;
                }
            }
        }
    }

    /// Whether the member is in a group, as its co-root or as one of its members: then the source knows only the
    /// group's minimum of it.
    boolean isOfASet(final int member) {
        return members.of(member).set != null;
    }

    /// A member left, or was evicted.
    void onGone(final int member) {
        final ServedGroup set = members.of(member).set;
        if (set == null) {
            return;
        }
        members.of(member).set = null;
        if (set.coRoot() == member) {
            // The next tick replaces it.
            return;
        }
        epoch++;
        set.shrink(member, epoch);
        queueInstruction(set.coRoot());
    }

    /// A member's delivery has changed: members that the source does not wait for report to it themselves.
    void onPolicy(final int member) {
        final ServedGroup set = members.of(member).set;
        if (set == null || members.of(member).terms.delivery().kind() == Delivery.Kind.RELIABLE) {
            return;
        }
        if (set.coRoot() == member) {
            epoch++;
        }
        onGone(member);
        queueInstruction(member);
    }

    private void queueInstruction(final int member) {
        changed = true;
        instructions.queue(member, epoch);
    }

    // Whether the co-root knows all members that left its group.
    private boolean isSettled(final ServedGroup set) {
        return members.of(set.coRoot()).group.confirmed >= set.shrunkEpoch();
    }

    // Whether the co-root has only the datagrams that the source writes into its replica.
    private boolean isFedOnly(final ServedGroup set) {
        return members.of(set.coRoot()).terms.offer().fedOnly();
    }

    /// Sends co-roots the datagrams that they keep.
    Replication feeds() {
        return feeds;
    }

    /// A co-root announces the address of its replica; its connection stands.
    Verdict onCopy(final int member, final MemorySegment datagram, final long offset, final long next) {
        final ServedGroup set = members.of(member).set;
        return set == null || set.coRoot() != member
                ? Verdict.UNKNOWN_MEMBER
                : feeds.onCopy(set, datagram, offset, next);
    }

    /// Whether the next heartbeat asks all members to answer the source itself.
    boolean takeDirectRequest() {
        final boolean wanted = wantsDirect;
        wantsDirect = false;
        return wanted;
    }

    /// To be called every few milliseconds while there are members.
    ///
    /// @param next the source's next sequence
    /// @param blocked whether the source waits for credit
    /// @return datagrams sent
    int onTick(final long next, final boolean blocked, final long nowNs) {
        if (config.count() == 0) {
            return 0;
        }
        final long lateNs = Math.max(LATE_MIN_NS, LATE_RTTS * members.rttNs());
        watchProgress(next, blocked, lateNs, nowNs);
        if (members.acknowledgedByAll(next) == next) {
            awaitedNs = nowNs;
        }
        for (int s = sets.size() - 1; s >= 0; s--) {
            watch(sets.get(s), lateNs, nowNs);
        }
        if (nowNs >= planNs) {
            planNs = nowNs + PLAN_INTERVAL_NS;
            plan(nowNs);
        }
        counts.set(SenderCount.CO_ROOTS, sets.size());
        return instructions.onTick(nowNs);
    }

    // In a stall that lasts, the source asks all members to answer it directly.
    private void watchProgress(final long next, final boolean blocked, final long lateNs, final long nowNs) {
        final long reached = blocked ? members.granted() : members.acknowledgedByAll(next);
        final boolean waits = blocked || reached < next;
        if (!waits || reached > least || stalledNs == Long.MAX_VALUE) {
            stalledNs = waits ? nowNs + lateNs : Long.MAX_VALUE;
        } else if (nowNs >= stalledNs && (stalledNs > 0 || nowNs >= askNs)) {
            stalledNs = 0;
            askNs = nowNs + lateNs;
            wantsDirect = !sets.isEmpty();
        }
        least = reached;
    }

    /// This process stood still until now, so no co-root was late meanwhile.
    void onStandstill(final long nowNs) {
        wantsDirect = true;
        // The excuse is rare: a dead co-root must be replaced.
        if (nowNs - excusedNs > EXCUSE_INTERVAL_NS) {
            excusedNs = nowNs;
            awaitedNs = Math.max(awaitedNs, nowNs);
        }
    }

    private void watch(final ServedGroup set, final long lateNs, final long nowNs) {
        final int coRoot = set.coRoot();
        // Time counts from the first instruction, which the next turn sends.
        final boolean unconfirmed = members.of(coRoot).group.instructed > members.of(coRoot).group.confirmed
                && members.of(coRoot).group.repeats > 0
                && nowNs - members.of(coRoot).group.instructedNs > (isForming(set) ? FORM_WAIT_NS : 2 * lateNs);
        final long heardNs = Math.max(members.of(coRoot).heardNs, Math.max(set.formedNs(), awaitedNs));
        final boolean silent = nowNs - heardNs > lateNs;
        if (members.of(coRoot).set != set || unconfirmed || silent || isStarved(set, nowNs)) {
            replace(set, nowNs);
            return;
        }
        if (stalledNs == 0) {
            partWithUnreachable(set, lateNs, nowNs);
        }
    }

    // The source writes no replica for a co-root that has nothing else to serve from.
    private boolean isStarved(final ServedGroup set, final long nowNs) {
        return isFedOnly(set)
                && (!members.of(set.coRoot()).isLinked()
                        || (!set.isFed() && nowNs - set.formedNs() > (isForming(set) ? FORM_WAIT_NS : FEED_WAIT_NS)));
    }

    // The co-root keeps naming a member as slowest, though that member reported more to the source long ago: the
    // two cannot reach each other.
    private void partWithUnreachable(final ServedGroup set, final long lateNs, final long nowNs) {
        final int member = members.find(set.slowestMember());
        if (set.slowestMember() == 0 || member == MemberTable.NONE || !isAssignedTo(set, member)) {
            return;
        }
        final boolean advancedLongAgo =
                members.of(member).group.advancedNs > 0 && nowNs - members.of(member).group.advancedNs > lateNs;
        final boolean aggregateSince = members.of(set.coRoot()).heardNs - members.of(member).group.advancedNs > lateNs;
        final boolean behind = members.of(member).group.joined > set.covered()
                || set.isBehind(members.of(member).acknowledged, members.of(member).grant);
        if (advancedLongAgo && aggregateSince && behind) {
            members.of(member).group.alone = true;
            onGone(member);
            queueInstruction(member);
        }
    }

    private boolean isAssignedTo(final ServedGroup set, final int member) {
        return members.of(member).set == set && set.coRoot() != member;
    }

    private void replace(final ServedGroup set, final long nowNs) {
        final int old = set.coRoot();
        epoch++;
        counts.add(SenderCount.FAILOVERS);
        if (members.of(old).set == set) {
            members.of(old).set = null;
            members.of(old).group.unfitNs = nowNs + aliveTimeoutNs;
            queueInstruction(old);
        }
        final int next = successor(set, nowNs);
        if (next == NONE) {
            dissolve(set);
            return;
        }
        set.lead(next, epoch, nowNs);
        queueInstruction(next);
        for (int i = 0; i < set.size(); i++) {
            members.of(set.member(i)).group.joined = epoch;
            members.of(set.member(i)).group.advancedNs = 0;
            queueInstruction(set.member(i));
        }
    }

    // The member that is furthest along has the most datagrams to repair from.
    private int successor(final ServedGroup set, final long nowNs) {
        int best = NONE;
        for (int i = 0; i < set.size(); i++) {
            final int member = set.member(i);
            if (canServe(member, nowNs)
                    && (best == NONE || members.of(member).acknowledged > members.of(best).acknowledged)) {
                best = member;
            }
        }
        return best;
    }

    private boolean canServe(final int member, final long nowNs) {
        final CoRootOffer offer = members.of(member).terms.offer();
        return offer.serves()
                && (!offer.fedOnly() || members.of(member).isLinked())
                && nowNs >= members.of(member).group.unfitNs;
    }

    private void dissolve(final ServedGroup set) {
        sets.remove(set);
        if (members.of(set.coRoot()).set == set) {
            members.of(set.coRoot()).set = null;
            queueInstruction(set.coRoot());
        }
        for (int i = 0; i < set.size(); i++) {
            members.of(set.member(i)).set = null;
            queueInstruction(set.member(i));
        }
    }

    private void plan(final long nowNs) {
        int eligible = 0;
        for (int m = 0; m < members.capacity(); m++) {
            eligible += isEligible(m) ? 1 : 0;
        }
        final int wanted = config.count() == CoRootConfig.AUTO
                ? CoRootModel.DEFAULT.coRoots(eligible, config.feed())
                : Math.min(config.count(), eligible / 2);
        epoch++;
        changed = false;
        if (sets.size() > (config.count() == CoRootConfig.AUTO ? 2 * wanted : wanted)) {
            dissolve(smallest());
        }
        while (sets.size() < wanted) {
            final int candidate = candidate(nowNs);
            if (candidate == NONE) {
                break;
            }
            final ServedGroup made = new ServedGroup(candidate, epoch, nowNs);
            sets.add(made);
            members.of(candidate).set = made;
            queueInstruction(candidate);
        }
        if (!sets.isEmpty()) {
            assign(Math.min(RepairGroupLayout.MEMBERS_MAX, (eligible + sets.size() - 1) / sets.size() - 1));
        }
        epoch -= changed ? 0 : 1;
    }

    private boolean isEligible(final int member) {
        return members.of(member).state == State.ACTIVE
                && members.of(member).proven
                && members.of(member).started
                && members.of(member).terms.delivery().kind() == Delivery.Kind.RELIABLE
                && !members.of(member).group.alone;
    }

    // Sites without a co-root take precedence.
    private int candidate(final long nowNs) {
        int best = NONE;
        for (int m = 0; m < members.capacity(); m++) {
            if (isEligible(m) && members.of(m).set == null && canServe(m, nowNs)) {
                if (!isServed(members.of(m).terms.offer().site())) {
                    return m;
                }
                best = best == NONE ? m : best;
            }
        }
        return best;
    }

    private boolean isServed(final int site) {
        for (final ServedGroup set : sets) {
            if (members.of(set.coRoot()).terms.offer().site() == site) {
                return true;
            }
        }
        return false;
    }

    private void assign(final int sizeMax) {
        for (int m = 0; m < members.capacity(); m++) {
            if (!isEligible(m) || members.of(m).set != null) {
                continue;
            }
            final ServedGroup set = roomiest(m, sizeMax);
            if (set != null) {
                set.add(m);
                members.of(m).set = set;
                members.of(m).group.joined = epoch;
                members.of(m).group.advancedNs = 0;
                queueInstruction(m);
                queueInstruction(set.coRoot());
            }
        }
    }

    // The source writes the replica of a co-root that has nothing else to serve from. Until then no member reports to
    // it.
    private boolean isServing(final ServedGroup set) {
        return !isFedOnly(set) || set.isFed();
    }

    // To make and register a replica takes time, in which no member depends on it.
    private boolean isForming(final ServedGroup set) {
        return set.size() == 0 && isFedOnly(set);
    }

    // A group of the member's site unless that is twice as full as it should be, else the smallest group.
    private @Nullable ServedGroup roomiest(final int member, final int sizeMax) {
        ServedGroup near = null;
        ServedGroup any = null;
        for (final ServedGroup set : sets) {
            if (!isServing(set)) {
                continue;
            }
            final int site = members.of(set.coRoot()).terms.offer().site();
            if (site != 0
                    && site == members.of(member).terms.offer().site()
                    && (near == null || set.size() < near.size())) {
                near = set;
            }
            any = any == null || set.size() < any.size() ? set : any;
        }
        if (near != null && near.size() < Math.min(RepairGroupLayout.MEMBERS_MAX, 2 * sizeMax)) {
            return near;
        }
        return any != null && any.size() < sizeMax ? any : null;
    }

    private ServedGroup smallest() {
        ServedGroup best = sets.getFirst();
        for (final ServedGroup set : sets) {
            best = set.size() < best.size() ? set : best;
        }
        return best;
    }
}
