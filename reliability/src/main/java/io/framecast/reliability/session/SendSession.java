package io.framecast.reliability.session;

import io.framecast.reliability.lane.ControlPort;
import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.lane.SendPorts;
import io.framecast.reliability.onesided.MemberEndpoints;
import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.send.SenderOutput;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A source's part in one session: in each cycle it sends within the members' grants, retransmits missing
/// datagrams, and frees slots that every member acknowledged and no device reads.
///
/// No I/O, clock or thread of its own: [#doWork] by one thread, times in nanoseconds since the engine's start. The
/// publisher's thread fills the window ([SendWindow]). Lanes, memory and endpoints are the caller's.
public final class SendSession implements SenderOutput {
    // Limits of one call and of one cycle: control waits no longer than that.
    private static final int SEND_BATCH_BYTES = 1 << 20;
    private static final int SEND_BATCH_MIN = 16;
    private static final int SEND_ROUNDS_MAX = 2;
    // Longer than the time between two looks at the sent datagrams.
    private static final long PAUSE_NS = 2_000_000;

    private final SenderMachine machine;
    private final SendWindow window;
    private final WindowMemory memory;
    private final SendPacer pacer;
    private final SendQueue queue;
    private final ControlPort control;
    private final SendLanePort data;
    private final SendLanePort repair;
    private final SlotsInFlight dataInFlight;
    private final SlotsInFlight repairsInFlight;
    private final @Nullable MemberEndpoints endpoints;
    private final int sendBatchMax;
    private final int[] controlPeers;
    private final int[] repairPeers;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final DataHeader probeHeader = new DataHeader();
    private LongUnaryOperator readers = LongUnaryOperator.identity();
    private long cycleNs;
    private long standstillNs;
    private boolean claimBlocked;
    private long pausedNs = Long.MIN_VALUE;
    private boolean ending;
    private boolean ended;

    /// @param endpoints null where the transport has no one-sided operations
    public SendSession(
            final SenderConfig config,
            final SendWindow window,
            final SendPacer pacer,
            final SendPorts lanes,
            final @Nullable MemberEndpoints endpoints,
            final RandomGenerator random) {
        this.window = window;
        memory = window.memory();
        this.pacer = pacer;
        control = lanes.control();
        data = lanes.data();
        queue = new SendQueue(data::queuedBytes);
        repair = lanes.repair();
        this.endpoints = endpoints;
        dataInFlight = new SlotsInFlight(data, window.slots());
        repairsInFlight = new SlotsInFlight(repair, window.slots());
        sendBatchMax = Math.max(SEND_BATCH_MIN, SEND_BATCH_BYTES / memory.slotBytes());
        controlPeers = new int[config.membersMax()];
        repairPeers = new int[config.membersMax()];
        java.util.Arrays.fill(controlPeers, SendLanePort.NO_PEER);
        java.util.Arrays.fill(repairPeers, SendLanePort.NO_PEER);
        if (endpoints != null) {
            window.guardedBy(endpoints.guards());
        }
        machine = new SenderMachine(config, window, random, this);
    }

    /// Before the first cycle: processes other than members read the window's memory.
    ///
    /// @param freeable gives how much, up to a sequence below which members need nothing, they do not need either
    public void readBy(final LongUnaryOperator freeable) {
        readers = freeable;
    }

    public SenderMachine machine() {
        return machine;
    }

    public StreamInfo stream() {
        return machine.stream();
    }

    public SendWindow window() {
        return window;
    }

    /// No frames follow those in the window; the next cycle announces it.
    public void end() {
        ending = true;
    }

    /// Whether, after [#end], every member acknowledged everything.
    public boolean isDrained() {
        return ended && machine.isDrained();
    }

    /// Whether, after [#end], nothing is left to wait for: drained, or ended within a frame.
    public boolean isSettled() {
        return ended && machine.isSettled();
    }

    /// Whether the window has no room for the publisher's next claim; before [#doWork].
    public void onClaimBlocked(final boolean blocked) {
        claimBlocked = blocked;
    }

    /// How long this process stood still before the last cycle, in nanoseconds; else 0.
    public long standstillNs() {
        return standstillNs;
    }

    /// The time at which a timer is due, or the pacer or the kernel's queue permits the next datagram.
    public long nextDeadlineNs() {
        return isPaced() ? Math.min(machine.nextDeadlineNs(), permittedNs()) : machine.nextDeadlineNs();
    }

    // Whether the pacer or the kernel's queue ended the last cycle's sending.
    private boolean isPaced() {
        return machine.sendable() > 0 && machine.readyMembers() > 0 && permittedNs() > cycleNs;
    }

    private long permittedNs() {
        return Math.max(pacer.nextNs(), queue.nextNs());
    }

    /// Whether progress depends on the transport or a member's memory, and no descriptor shows it.
    public boolean isHeldBack() {
        return (machine.sendable() > 0 && !isPaced())
                || data.completed() != data.submitted()
                || repair.completed() != repair.submitted()
                || isCreditAwaited()
                || (endpoints != null && endpoints.isWriting());
    }

    private boolean isCreditAwaited() {
        return endpoints != null
                && machine.counts().get(SenderCount.LINKS) > 0
                && window.committed() > machine.nextSequence()
                && machine.sendable() == 0;
    }

    /// One cycle, behind the control datagrams that [SenderMachine#onControl] took.
    ///
    /// @return work done: datagrams, words, timers
    public int doWork(final long nowNs) {
        cycleNs = nowNs;
        standstillNs = machine.onCycle(nowNs);
        int work = 0;
        if (endpoints != null) {
            work += endpoints.poll(machine);
            machine.onWritten();
        }
        if (machine.canFlushBundle()) {
            window.takeBundle();
        }
        work += send(nowNs);
        if (ending && !ended) {
            window.takeBundle();
            // Frames that were committed come before the end, also where the producer writes beside them just now.
            ended = !window.hasBundle();
            if (ended) {
                machine.end(nowNs);
            }
            work++;
        }
        machine.onClaimBlocked(claimBlocked);
        if (machine.nextDeadlineNs() <= nowNs) {
            work += machine.onTick(nowNs);
        }
        free();
        return work;
    }

    private int sendable(final long nowNs) {
        final int sendable = machine.sendable();
        return nowNs >= pausedNs
                ? sendable
                : Math.min(sendable, Math.max(0, (int) (window.sealed() - machine.nextSequence())));
    }

    /// Seals nothing new until the sealed datagrams are sent, so that heartbeats name the end of an epoch.
    /// To be called again while a new epoch is to begin.
    ///
    /// @return whether all that was sealed is sent
    public boolean pauseUntilSent() {
        final boolean sent = window.sealed() <= machine.announced();
        pausedNs = sent ? Long.MIN_VALUE : cycleNs + PAUSE_NS;
        return sent;
    }

    /// @return work done
    private int send(final long nowNs) {
        if (machine.readyMembers() == 0) {
            machine.onWaiting(data.submitted() - data.completed(), nowNs);
            return pass(SEND_ROUNDS_MAX * sendBatchMax);
        }
        int sent = 0;
        for (int round = 0; round < SEND_ROUNDS_MAX; round++) {
            final long first = machine.nextSequence();
            final int slot = window.slot(first);
            // The ring goes on behind the window, with the probe's slot: runs end where the window does.
            final int ready = Math.min(Math.min(sendable(nowNs), sendBatchMax), window.slots() - slot);
            final int count = paced(slot, queued(ready, nowNs), nowNs);
            if (count == 0) {
                sent += ready > 0 ? hold(nowNs) : 0;
                break;
            }
            window.seal(first, count, machine.isGuarded());
            machine.announceFormats();
            final int accepted = data.multicast(slot, count);
            dataInFlight.onSent(slot, accepted);
            queue.onSent(charge(slot, accepted, nowNs));
            machine.announceMetadata(accepted);
            machine.onSent(accepted, nowNs);
            sent += accepted;
            if (accepted < count) {
                break;
            }
        }
        machine.onWaiting(data.submitted() - data.completed(), nowNs);
        return sent;
    }

    // The pacer or the kernel's queue permits nothing now; 1 where the pacer will so soon that sleep would be late.
    private int hold(final long nowNs) {
        machine.onHeld(permittedNs(), nowNs);
        return queue.nextNs() <= nowNs && pacer.isDueSoon(nowNs) ? 1 : 0;
    }

    // Without members no receiver hears it: frames of a stream that all subscribers left are dropped.
    private int pass(final int most) {
        final int count = Math.min(machine.sendable(), most);
        machine.onUnheard(count);
        return count;
    }

    /// Between two cycles, never beside one: skips datagrams that no member hears, and frees slots that no member
    /// needs.
    public void reclaim() {
        machine.onClaimBlocked(claimBlocked);
        if (machine.readyMembers() == 0) {
            if (machine.canFlushBundle()) {
                window.takeBundle();
            }
            pass(window.slots());
        }
        free();
    }

    // Datagrams that may be sent and that the kernel's queue has room for.
    private int queued(final int most, final long nowNs) {
        final long room = most == 0 ? 0 : queue.room(nowNs);
        return room == 0 ? 0 : (int) Math.min(most, 1 + room / memory.slotBytes());
    }

    private int paced(final int slot, final int most, final long nowNs) {
        return pacer.datagrams(memory.lengths(), memory.headerBytes(), slot, most, nowNs);
    }

    private long charge(final int slot, final int count, final long nowNs) {
        long bytes = (long) count * memory.headerBytes();
        for (int i = 0; i < count; i++) {
            bytes += memory.lengths()[slot + i];
        }
        pacer.onSent(bytes, nowNs);
        return bytes;
    }

    // Slots that every member acknowledged and no device reads.
    private void free() {
        final long acknowledged = dataInFlight.freeable(window, machine.releasable());
        final long sent = repairsInFlight.freeable(window, acknowledged);
        window.free(readers.applyAsLong(endpoints == null ? sent : endpoints.freeable(sent)));
    }

    /// Sends LEAVE to all members where the session ends early. The network may lose it.
    public void leave() {
        machine.close();
    }

    @Override
    public MemorySegment control() {
        return control.slot();
    }

    @Override
    public long timeNs(final long nowNs) {
        return control.timeNs(nowNs);
    }

    @Override
    public void multicastControl(final int bytes) {
        control.multicast(bytes);
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        if (controlPeers[member] != SendLanePort.NO_PEER) {
            control.unicast(controlPeers[member], bytes);
        }
    }

    @Override
    public void probe(final int token) {
        final int slot = window.slots();
        final long offset = memory.headerOffset(slot);
        probeHeader.session(DataLayout.TYPE_PROBE, stream().session());
        DataLayout.write(memory.headers(), offset, probeHeader, 0, Integer.toUnsignedLong(token));
        checksum.seal(memory.headers(), offset, stream().session());
        window.sealProbe();
        data.multicast(slot, 1);
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        final boolean toAll = member == RetransmitScheduler.EVERYBODY;
        if (!toAll && repairPeers[member] == SendLanePort.NO_PEER) {
            return count;
        }
        final int slot = window.slot(firstSequence);
        // Repairs are sent ahead of the time that new data must keep, because new data would leave no rate for
        // them.
        final int run = paced(slot, Math.min(count, window.slots() - slot), cycleNs + SendPacer.REPAIR_AHEAD_NS);
        if (run == 0) {
            return 0;
        }
        final int accepted = toAll ? repair.multicast(slot, run) : repair.unicast(repairPeers[member], slot, run);
        repairsInFlight.onSent(slot, accepted);
        charge(slot, accepted, cycleNs);
        return accepted;
    }

    @Override
    public boolean isOneHost(final LaneAddresses addresses) {
        return control.isOneHost(addresses);
    }

    @Override
    public boolean connect(final int member, final byte[] controlAddress, final byte[] repairAddress) {
        controlPeers[member] = control.connect(controlAddress);
        repairPeers[member] =
                controlPeers[member] == SendLanePort.NO_PEER ? SendLanePort.NO_PEER : repair.connect(repairAddress);
        if (repairPeers[member] == SendLanePort.NO_PEER) {
            disconnect(member);
            return false;
        }
        return true;
    }

    @Override
    public void disconnect(final int member) {
        if (controlPeers[member] != SendLanePort.NO_PEER) {
            control.disconnect(controlPeers[member]);
        }
        if (repairPeers[member] != SendLanePort.NO_PEER) {
            repair.disconnect(repairPeers[member]);
        }
        controlPeers[member] = SendLanePort.NO_PEER;
        repairPeers[member] = SendLanePort.NO_PEER;
    }

    @Override
    public boolean link(final int member, final byte[] descriptor, final boolean feeds) {
        return endpoints != null && endpoints.accept(member, descriptor, feeds);
    }

    @Override
    public @Nullable EndpointOffer endpointOffer(final int member) {
        return endpoints == null ? null : endpoints.offer(member);
    }

    @Override
    public boolean isEndpointBroken(final int member) {
        return endpoints != null && endpoints.isBroken(member);
    }

    @Override
    public boolean openFeed(final int member, final EndpointOffer copy, final int epoch, final long first) {
        return endpoints != null && endpoints.openFeed(member, copy, epoch, first);
    }

    @Override
    public int feed(final int member, final long firstSequence, final int count) {
        return endpoints == null ? NO_FEED : endpoints.feed(member, firstSequence, count);
    }

    @Override
    public void unlink(final int member) {
        if (endpoints != null) {
            endpoints.cut(member);
        }
    }
}
