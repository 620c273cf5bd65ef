package io.framecast.reliability.receive;

import io.framecast.reliability.flow.AckScheduler;
import io.framecast.reliability.repair.GroupRepairs;
import io.framecast.reliability.repair.RepairBudget;
import io.framecast.reliability.repair.RequestLimit;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A receiver's duties as a co-root: it keeps a replica of the window, answers its group's NACKs, and sends the
/// source one aggregate in place of their ACKs. Subramoni (InfiniBand multicast collectives): "The root and each
/// co-root is responsible to collect ACK's from a pre-specified set of nodes … takes care of re-transmission to
/// all nodes in it's local group".
///
/// The co-root's own receipt frees nothing: an aggregate is the least of the whole group. One thread.
final class CoRoot {
    /// Repairs sent in one tick; the remaining repairs follow in the next tick.
    static final int REPAIRS_PER_TICK_MAX = 256;

    private static final long HOLD_OFF_MIN_NS = 200_000;
    // A member makes another endpoint only when it comes back.
    private static final int LINKS_PER_MEMBER_MAX = 8;

    private final CoRootOutput output;
    private final ReceiverOutput receiver;
    private final ControlWriter ids;
    private final Counts<ReceiverCount> counts;
    private final RepairStore store;
    private final GroupRepairs repairs;
    private final ReceiveWindow window;
    private final SourceWatch source;
    private final RequestLimit requests = new RequestLimit();
    private final RepairGroup set = new RepairGroup();
    // The list that arrives now, in parts.
    private final long[] listIds = new long[RepairGroupLayout.MEMBERS_MAX];
    private final int[] listJoined = new int[RepairGroupLayout.MEMBERS_MAX];
    private final @Nullable LaneAddresses[] listAddresses = new LaneAddresses[RepairGroupLayout.MEMBERS_MAX];
    // By member of the group: the endpoint that it announced last, and the number of endpoints that it announced.
    private final byte[] @Nullable [] descriptors = new byte[RepairGroupLayout.MEMBERS_MAX][];
    private final int[] links = new int[RepairGroupLayout.MEMBERS_MAX];
    private final RepairBudget[] budgets = new RepairBudget[RepairGroupLayout.MEMBERS_MAX];
    private int listEpoch;
    private int listParts;
    private int listMembers;

    private long reportedAcknowledged;
    private int reportedCovered;
    private boolean reportedComplete;

    /// @param ids of this receiver
    /// @param window the datagrams that this receiver has
    /// @param store empty, or left of an earlier term
    CoRoot(
            final ControlWriter ids,
            final CoRootOutput output,
            final ReceiverOutput receiver,
            final Counts<ReceiverCount> counts,
            final ReceiveWindow window,
            final SourceWatch source,
            final RepairStore store) {
        this.output = output;
        this.receiver = receiver;
        this.counts = counts;
        this.window = window;
        this.source = source;
        this.store = store;
        this.ids = ids.another();
        repairs = new GroupRepairs(store);
        Arrays.setAll(budgets, _ -> new RepairBudget());
    }

    RepairStore store() {
        return store;
    }

    /// Takes a valid REPAIR_GROUP whose epoch is at least the one that the receiver obeys.
    ///
    /// @return the epoch of the newest list that is complete
    int onSet(final MemorySegment datagram, final long offset, final long nowNs) {
        final int announcedEpoch = ControlLayout.EPOCH.get(datagram, offset);
        if (announcedEpoch > listEpoch) {
            listEpoch = announcedEpoch;
            listParts = 0;
            listMembers = 0;
        }
        if (announcedEpoch < listEpoch || announcedEpoch == set.epoch()) {
            return set.epoch();
        }
        final int part = RepairGroupLayout.PART.get(datagram, offset);
        final int members = RepairGroupLayout.MEMBERS.get(datagram, offset);
        if ((listParts & 1 << part) == 0) {
            listParts |= 1 << part;
            listMembers += members;
            for (int i = 0; i < members; i++) {
                final int at = part * RepairGroupLayout.MEMBERS_PER_PART + i;
                listIds[at] = RepairGroupLayout.id(datagram, offset, i);
                listJoined[at] = RepairGroupLayout.joined(datagram, offset, i);
                listAddresses[at] = RepairGroupLayout.addresses(datagram, offset, i);
            }
        }
        if (Integer.bitCount(listParts) == RepairGroupLayout.PARTS.get(datagram, offset)) {
            adopt(nowNs);
        }
        return set.epoch();
    }

    private void adopt(final long nowNs) {
        for (long bits = set.present(); bits != 0; bits &= bits - 1) {
            final int member = Long.numberOfTrailingZeros(bits);
            if (!isListed(set.id(member))) {
                set.remove(member);
                output.disconnect(member);
            }
        }
        for (int i = 0; i < listMembers; i++) {
            final int member = set.add(listIds[i], listJoined[i]);
            final LaneAddresses addresses = listAddresses[i];
            if (member >= 0 && addresses != null) {
                descriptors[member] = null;
                links[member] = 0;
                budgets[member].begin(store.slots(), window.end(), nowNs);
                output.connect(member, addresses);
            }
        }
        set.settle(listEpoch);
        counts.set(ReceiverCount.SERVED_MEMBERS, Long.bitCount(set.present()));
    }

    private boolean isListed(final long id) {
        for (int i = 0; i < listMembers; i++) {
            if (listIds[i] == id) {
                return true;
            }
        }
        return false;
    }

    /// Another co-root serves from now on.
    void resign() {
        for (long bits = set.present(); bits != 0; bits &= bits - 1) {
            output.disconnect(Long.numberOfTrailingZeros(bits));
        }
        counts.set(ReceiverCount.SERVED_MEMBERS, 0);
    }

    /// ACK, NACK or FRAME_REQUEST of another receiver.
    Verdict onReport(final MemorySegment datagram, final long offset, final long nowNs) {
        final int member = set.find(ControlLayout.RECEIVER.get(datagram, offset));
        if (member == RepairGroup.NONE) {
            return Verdict.UNKNOWN_MEMBER;
        }
        return switch (ControlLayout.type(datagram, offset)) {
            case ControlLayout.TYPE_ACK -> onAck(member, datagram, offset);
            case ControlLayout.TYPE_NACK -> onNack(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_FRAME_REQUEST -> onFrameRequest(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_RC_CONNECT -> onLink(member, datagram, offset);
            default -> Verdict.BAD_TYPE;
        };
    }

    private Verdict onAck(final int member, final MemorySegment datagram, final long offset) {
        if (!AckLayout.isValid(datagram, offset) || AckLayout.isAggregate(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        set.onAck(member, datagram, offset);
        counts.add(ReceiverCount.REPORTS_TAKEN);
        return Verdict.GOOD;
    }

    private Verdict onNack(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (!NackLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        if (NackLayout.acknowledges(datagram, offset)) {
            set.onAck(member, datagram, offset);
        }
        counts.add(ReceiverCount.REPORTS_TAKEN);
        requests.onRequest(nowNs);
        final long holdOffNs = Math.max(HOLD_OFF_MIN_NS, source.rttNs() / 2);
        final RepairBudget budget = budgets[member];
        budget.refill(window.end(), nowNs);
        for (int range = 0; range < NackLayout.ranges(datagram, offset); range++) {
            final long first = NackLayout.first(datagram, offset, range);
            // The source sends nothing further than a window beyond this receiver's acknowledgement.
            final long end = Math.min(first + NackLayout.count(datagram, offset, range), window.next() + store.slots());
            for (long sequence = first; sequence < end; sequence++) {
                if (!requests.take()) {
                    return Verdict.LIMITED;
                }
                if (budget.isUsedUp()) {
                    counts.add(ReceiverCount.LIMITED_REPAIRS, end - sequence);
                    return Verdict.LIMITED;
                }
                // Datagrams from before this term are not in the store: the member asks again, and the source sends
                // them.
                if (store.holds(sequence) || store.awaits(sequence) || !window.isReceived(sequence)) {
                    final boolean isNew = repairs.request(member, sequence, nowNs, holdOffNs);
                    if (isNew) {
                        budget.take();
                    }
                }
            }
        }
        return Verdict.GOOD;
    }

    private Verdict onFrameRequest(
            final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (!FrameLayout.isValidRequest(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final long first = FrameLayout.FIRST_SEQUENCE.get(datagram, offset);
        final byte[] metadata = store.metadata(first);
        if (metadata != null) {
            budgets[member].refill(window.end(), nowNs);
            if (!budgets[member].take()) {
                counts.add(ReceiverCount.LIMITED_REPAIRS);
                return Verdict.LIMITED;
            }
            output.sendControl(member, FrameLayout.write(ids.receiver(0).in(receiver.control()), first, metadata));
        }
        return Verdict.GOOD;
    }

    // A member repeats its endpoint until the co-root answers.
    private Verdict onLink(final int member, final MemorySegment datagram, final long offset) {
        if (!RcConnectLayout.isValid(datagram, offset) || !RcConnectLayout.isOfSet(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final byte[] descriptor = RcConnectLayout.offer(datagram, offset).descriptor();
        if (!Arrays.equals(descriptor, descriptors[member])) {
            if (links[member] == LINKS_PER_MEMBER_MAX) {
                return Verdict.LIMITED;
            }
            links[member]++;
            descriptors[member] = descriptor;
            if (store.guard()) {
                output.link(member, descriptor);
            }
        }
        final EndpointOffer offer = output.endpointOffer(member);
        if (offer != null) {
            counts.add(ReceiverCount.MEMBER_LINKS);
            ids.receiver(set.id(member)).epoch(ControlLayout.EPOCH.get(datagram, offset));
            output.sendControl(member, RcConnectLayout.writeOfSet(ids.in(receiver.control()), offer));
            ids.epoch(0);
        }
        return Verdict.GOOD;
    }

    /// The store holds this sequence now.
    void onHeld(final long sequence) {
        repairs.onHeld(sequence);
    }

    /// Progress of this receiver or of a member may have moved the group's minimum.
    ///
    /// @param acks learn when aggregates are due
    void onProgress(final AckValues own, final long highest, final AckScheduler acks, final long nowNs) {
        final long acknowledged = Math.min(own.acknowledged(), set.leastAcknowledged());
        final long grant = Math.min(own.grant(), set.leastGrant());
        acks.onAggregate(acknowledged - reportedAcknowledged, grant, highest, nowNs);
        if (set.covered() != reportedCovered || (set.isComplete() && own.isComplete()) != reportedComplete) {
            acks.onRequest(nowNs);
        }
    }

    /// Turns this receiver's own values into those of the group.
    void aggregate(final AckValues values, final long ownId) {
        final boolean own = set.leastAcknowledged() == Long.MAX_VALUE
                || Math.min(values.acknowledged(), values.grant())
                        < Math.min(set.leastAcknowledged(), set.leastGrant());
        reportedAcknowledged = Math.min(values.acknowledged(), set.leastAcknowledged());
        reportedCovered = set.covered();
        reportedComplete = values.isComplete() && set.isComplete();
        values.progress(reportedAcknowledged, Math.min(values.grant(), set.leastGrant()), values.highest())
                .complete(reportedComplete)
                .aggregate(reportedCovered, own ? ownId : set.slowestMember());
        counts.add(ReceiverCount.AGGREGATES);
    }

    /// Sends repairs.
    ///
    /// @return datagrams sent
    int onTick(final long nowNs) {
        if (repairs.isEmpty()) {
            return 0;
        }
        final int sent = repairs.drain(REPAIRS_PER_TICK_MAX, set.present(), nowNs, output);
        counts.add(ReceiverCount.REPAIRS_SENT, sent);
        return sent;
    }

    boolean hasRepairs() {
        return !repairs.isEmpty();
    }
}
