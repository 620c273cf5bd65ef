package io.framecast.reliability.receive;

import io.framecast.reliability.flow.AckScheduler;
import io.framecast.reliability.flow.AckTrigger;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.AssignLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The destination of a receiver's reports: its source, or its assigned co-root; or the receiver is a co-root
/// itself. Of all instructions the one with the highest epoch counts, and the receiver's ACKs carry that epoch.
///
/// A receiver with a co-root also reports to the source directly, as often as an idle receiver does, so that it
/// survives its co-root. It asks the source for datagrams that its co-root did not send.
///
/// One thread.
final class Reporting {
    private final ControlWriter ids;
    private final @Nullable CoRootOutput serving;
    private final ReceiverOutput output;
    private final Counts<ReceiverCount> counts;
    private final ReceiveWindow window;
    private final SourceWatch source;
    private final ReceiveLedger ledger;
    private final AckScheduler acks;
    private final SourceConnection link;
    private final CoRootConnection coRootConnection;
    private final HeaderCheck headers;
    private final WindowReplica.Terms feedTerms;
    private final AckValues values = new AckValues();
    private int epoch;
    private boolean assigned;
    private long directDueNs;
    private @Nullable CoRoot coRoot;
    private @Nullable WindowReplica fed;
    private @Nullable RepairStore store;

    /// @param ids of this receiver; the epoch is set here
    /// @param serving null for a receiver that cannot serve
    Reporting(
            final ControlWriter ids,
            final @Nullable CoRootOutput serving,
            final ReceiverOutput output,
            final Counts<ReceiverCount> counts,
            final SourceWatch source,
            final AckScheduler acks,
            final ReceiveLedger ledger) {
        this.ids = ids;
        this.serving = serving;
        this.output = output;
        this.counts = counts;
        window = ledger.window();
        this.source = source;
        this.acks = acks;
        this.ledger = ledger;
        final ReceiverConfig config = ledger.config();
        link = new SourceConnection(config, output, ledger, acks, counts);
        final boolean able = config.addresses().link().length > 0;
        coRootConnection = new CoRootConnection(output, counts, ids, able);
        feedTerms = new WindowReplica.Terms(ids);
        headers = new HeaderCheck(config.stream());
        acks.apart(config.stream().windowSlots(), config.stream().frameMaxSlots());
    }

    /// The receiver's actions on its source's memory.
    SourceConnection link() {
        return link;
    }

    /// The receiver's actions on its co-root's memory.
    CoRootConnection coRootConnection() {
        return coRootConnection;
    }

    // Whether the source learns this receiver's grants from its memory alone. Co-roots report the grants of groups.
    private boolean isCreditApart(final long nowNs) {
        final boolean apart = !assigned && coRoot == null && link.isCurrent(nowNs);
        acks.creditApart(apart);
        return apart;
    }

    /// ACKs that this trigger made due.
    long acks(final AckTrigger trigger) {
        return acks.sent(trigger);
    }

    /// Null when this receiver does not serve.
    @Nullable
    CoRoot coRoot() {
        return coRoot;
    }

    /// Whether it reports to a co-root.
    boolean isAssigned() {
        return assigned;
    }

    /// ASSIGN, REPAIR_GROUP or RC_CONNECT.
    Verdict onInstruction(final MemorySegment datagram, final long offset, final long nowNs) {
        if (ControlLayout.type(datagram, offset) == ControlLayout.TYPE_RC_CONNECT
                && RcConnectLayout.isOfSet(datagram, offset)) {
            // A RC_CONNECT of a co-root is no sign of the source's life.
            return coRootConnection.onOffer(datagram, offset);
        }
        source.onHeard(nowNs);
        if (ControlLayout.type(datagram, offset) == ControlLayout.TYPE_RC_CONNECT) {
            return link.onOffer(datagram, offset);
        }
        return ControlLayout.type(datagram, offset) == ControlLayout.TYPE_REPAIR_GROUP
                ? onSet(datagram, offset, nowNs)
                : onAssign(datagram, offset, nowNs);
    }

    private Verdict onAssign(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!AssignLayout.isValid(datagram, offset) || AssignLayout.CO_ROOT.get(datagram, offset) == ids.receiver()) {
            return Verdict.IMPOSSIBLE;
        }
        final int announcedEpoch = ControlLayout.EPOCH.get(datagram, offset);
        if (announcedEpoch > epoch) {
            resign();
            coRootConnection.onParted();
            final boolean direct = AssignLayout.CO_ROOT.get(datagram, offset) == 0;
            // Without a valid address this receiver reports to the source, and no aggregate covers it.
            assigned = output.connectCoRoot(direct ? null : AssignLayout.ADDRESS.read(datagram, offset)) && !direct;
            obey(announcedEpoch);
            if (assigned) {
                coRootConnection.onAssigned(nowNs);
            }
        }
        confirm(nowNs);
        return Verdict.GOOD;
    }

    private Verdict onSet(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!RepairGroupLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final CoRootOutput server = serving;
        final int announcedEpoch = ControlLayout.EPOCH.get(datagram, offset);
        if (server == null || announcedEpoch < epoch || (announcedEpoch == epoch && coRoot == null)) {
            return Verdict.GOOD;
        }
        if (store == null) {
            store = server.openStore();
        }
        final RepairStore copy = store;
        if (copy == null) {
            // The source chooses another co-root, because this one does not confirm.
            return Verdict.GOOD;
        }
        final CoRoot current = coRoot == null ? serve(server, copy) : coRoot;
        final int complete = current.onSet(datagram, offset, nowNs);
        if (complete > epoch) {
            coRootConnection.onParted();
            output.connectCoRoot(null);
            assigned = false;
            obey(complete);
            fed = fed == null ? new WindowReplica(current, output, counts, window, server, feedTerms, headers) : fed;
        }
        confirm(nowNs);
        return Verdict.GOOD;
    }

    private CoRoot serve(final CoRootOutput server, final RepairStore copy) {
        final CoRoot made = new CoRoot(ids, server, output, counts, window, source, copy);
        coRoot = made;
        return made;
    }

    private void obey(final int newest) {
        epoch = newest;
        ids.epoch(newest);
    }

    // The next ACK goes to the source, now.
    private void confirm(final long nowNs) {
        directDueNs = nowNs;
        acks.onRequest(nowNs);
    }

    private void resign() {
        final CoRoot current = coRoot;
        if (current != null) {
            current.resign();
            coRoot = null;
        }
        final WindowReplica copy = fed;
        if (copy != null) {
            copy.stop();
            fed = null;
        }
    }

    private void lookAtFeed() {
        final WindowReplica copy = fed;
        if (copy != null) {
            copy.look();
        }
    }

    /// A datagram of another receiver.
    Verdict onOthers(final MemorySegment datagram, final long offset, final long nowNs) {
        final CoRoot current = coRoot;
        if (current == null) {
            return Verdict.UNKNOWN_MEMBER;
        }
        lookAtFeed();
        final Verdict verdict = current.onReport(datagram, offset, nowNs);
        onSetProgress(current, nowNs);
        return verdict;
    }

    /// The receiver accepted datagrams.
    ///
    /// @param frameEnd whether a frame's last was among them
    void onAccepted(final int count, final boolean frameEnd, final long nowNs) {
        lookAtFeed();
        link.onCredit(nowNs);
        isCreditApart(nowNs);
        final CoRoot current = coRoot;
        if (current == null) {
            acks.onReceived(count, ledger.end(), frameEnd, nowNs);
        } else {
            onSetProgress(current, nowNs);
        }
    }

    /// More can be granted.
    void onGrant(final long nowNs) {
        link.onCredit(nowNs);
        isCreditApart(nowNs);
        final CoRoot current = coRoot;
        if (current == null) {
            acks.onGrant(ledger.grant(), ledger.end(), nowNs);
        } else {
            onSetProgress(current, nowNs);
        }
    }

    private void onSetProgress(final CoRoot current, final long nowNs) {
        ledger.describe(values);
        current.onProgress(values, ledger.end(), acks, nowNs);
    }

    /// The source asked all receivers for an ACK.
    ///
    /// @param direct whether the ACKs go to the source, not to co-roots
    void onRequest(final boolean direct, final long nowNs) {
        acks.onRequest(nowNs);
        if (direct) {
            directDueNs = nowNs;
        }
    }

    /// A duplicate came.
    void onDuplicate(final long nowNs) {
        acks.onDuplicate(nowNs);
    }

    /// Number of sequences, from the first on, that lie in this receiver's own replica of the window.
    int heldInReplica(final long firstSequence, final int count) {
        lookAtFeed();
        final RepairStore copy = coRoot == null ? null : store;
        int held = 0;
        while (copy != null && held < count && copy.holds(firstSequence + held)) {
            held++;
        }
        return held;
    }

    /// Copies these datagrams out of the replica.
    int copyOwn(final long firstSequence, final int count) {
        return serving == null ? RemoteMemory.NOT_READ : serving.copyOwn(firstSequence, count);
    }

    /// Sends the first `bytes` bytes of the output's control memory to the destination of this receiver's
    /// reports.
    ///
    /// @param insistent the co-root was asked before, in vain
    void send(final int bytes, final boolean insistent) {
        if (assigned && !insistent) {
            output.sendToCoRoot(bytes);
        } else {
            output.sendControl(bytes);
        }
    }

    /// Asks for missing metadata and the format of the next frame, when that is due. Formats come from the source
    /// itself.
    ///
    /// @return work done
    int askFor(final FrameQueue queue, final long nowNs) {
        if (queue.askNs() > nowNs) {
            return 0;
        }
        final int number = queue.missingFormat();
        if (number == 0) {
            send(FrameLayout.writeRequest(ids.in(output.control()), queue.described()), queue.isEscalated());
        } else {
            counts.add(ReceiverCount.FORMAT_REQUESTS);
            output.sendControl(FormatLayout.writeRequest(ids.in(output.control()), number));
        }
        queue.onAsked(nowNs, source.rttNs());
        return 1;
    }

    /// Sends the acknowledgements and repairs that are due.
    ///
    /// @return work done
    int onTick(final long nowNs) {
        link.onTick(nowNs);
        coRootConnection.onTick(nowNs);
        final WindowReplica copy = fed;
        if (copy != null) {
            copy.onTick(link.isUp() && link.isFeeding(), nowNs);
        }
        int work = 0;
        if (acks.isDue(nowNs) || (assigned && nowNs >= directDueNs)) {
            sendAck(nowNs);
            work++;
        }
        final CoRoot current = coRoot;
        return current == null ? work : work + current.onTick(nowNs);
    }

    private void advertise(final long nowNs) {
        // This covers dropped frames as well, which have no notice of their own.
        link.onCredit(nowNs);
        if (isCreditApart(nowNs)) {
            ledger.advertiseApart(values, link.confirmed());
        } else {
            ledger.advertise(values);
        }
    }

    private void sendAck(final long nowNs) {
        advertise(nowNs);
        counts.add(ReceiverCount.ACKS);
        if (assigned) {
            source.echoNothing(values.single());
            output.sendToCoRoot(AckLayout.write(ids.in(output.control()), values));
        }
        if (!assigned || nowNs >= directDueNs) {
            sendToSource(nowNs);
        }
        acks.onSent(values.grant(), ledger.end(), nowNs);
    }

    /// Whether an acknowledgement is due soon to the destination of a NACK. A co-root's acknowledgement is its
    /// group's, and goes by itself.
    boolean isRiding(final boolean toSource) {
        return toSource != assigned && coRoot == null && acks.isPending();
    }

    /// The acknowledgement that rides on a NACK; it counts as sent.
    AckValues ride(final long nowNs) {
        advertise(nowNs);
        values.single().complete(false);
        if (assigned) {
            source.echoNothing(values);
        } else {
            source.echo(values, nowNs);
            directDueNs = nowNs + source.ackIdleNs();
        }
        counts.add(ReceiverCount.ACKS);
        acks.onPiggyback(values.grant(), ledger.end(), nowNs);
        return values;
    }

    private void sendToSource(final long nowNs) {
        final CoRoot current = coRoot;
        if (current != null && !assigned) {
            current.aggregate(values, ids.receiver());
        } else {
            values.single();
        }
        source.echo(values, nowNs);
        output.sendControl(AckLayout.write(ids.in(output.control()), values));
        directDueNs = nowNs + source.ackIdleNs();
    }

    long nextDeadlineNs() {
        final CoRoot current = coRoot;
        if (current != null && current.hasRepairs()) {
            return 0;
        }
        final WindowReplica copy = fed;
        final long feedNs = copy == null ? Long.MAX_VALUE : copy.nextDeadlineNs();
        final long dueNs = Math.min(Math.min(link.nextDeadlineNs(), feedNs), acks.nextDeadlineNs());
        return assigned ? Math.min(Math.min(directDueNs, coRootConnection.nextDeadlineNs()), dueNs) : dueNs;
    }
}
