package io.framecast.engine.subscribe;

import io.framecast.engine.hostgroup.Takeover;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.sink.HostReceiveMemory;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.group.Promise;
import io.framecast.reliability.membership.Progress;
import io.framecast.reliability.membership.SourceMembership;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.succession.SuccessionMachine;
import io.framecast.reliability.wire.Delivery;
import java.util.concurrent.Executor;

/// The membership of a leader that goes on where an earlier leader of its host group stopped: from that
/// leader's checkpoint, with a RESUME instead of a JOIN.
final class SuccessorMembership implements Membership {
    private final LeaderMembership leading;
    private final Takeover takeover;
    private final SuccessionMachine.Resume resume;
    // The receiver's thread.
    private boolean pending;

    /// @param leading with the secret that follows from the earlier leader's
    /// @param takeover this object's from now on
    /// @param resume decides when to send RESUME
    SuccessorMembership(
            final LeaderMembership leading, final Takeover takeover, final SuccessionMachine.Resume resume) {
        this.leading = leading;
        this.takeover = takeover;
        this.resume = resume;
    }

    @Override
    public MemoryShape.Kind kindByArrival() {
        return leading.kindByArrival();
    }

    @Override
    public boolean mayExceedCredit(final Delivery own) {
        return leading.mayExceedCredit(own);
    }

    /// A successor must not keep the source waiting: its pages follow.
    @Override
    public MirroredMemory ring(final long bytes) {
        return MirroredMemory.allocateSoon(bytes);
    }

    @Override
    public long secret() {
        return leading.secret();
    }

    /// The source knows the policy of the earlier leader.
    @Override
    public Delivery policy(final Delivery own) {
        return Promise.policy(takeover.waitedFor(), own);
    }

    @Override
    public FrameRecipients recipients(
            final SessionQueue queue,
            final MemoryShape shape,
            final ReceiveMemory memory,
            final Assembly assembly,
            final ReceiverMachine machine,
            final Delivery policy) {
        final HostReceiveMemory host = LeaderMembership.mapped(memory);
        // The ring is empty, so its first sequences lie where they would without an earlier membership.
        host.ring()
                .segment()
                .asSlice(
                        assembly.ringOffset(takeover.checkpoint().firstSequence),
                        takeover.payload().byteSize())
                .copyFrom(takeover.payload());
        return leading.share(shape, host, assembly, machine, policy, true);
    }

    @Override
    public void onOpened(final ReceiveMemory memory, final Executor conductor) {
        conductor.execute(LeaderMembership.mapped(memory).ring()::populate);
    }

    @Override
    public SourceMembership begin(final long session, final Progress progress) {
        return SourceMembership.resuming(session, progress);
    }

    @Override
    public void start(final ReceiverMachine machine, final long nowNs) {
        pending = true;
    }

    @Override
    public boolean awaitsFollowers(
            final ReceiverMachine machine, final FrameRecipients recipients, final long waitedNs, final long nowNs) {
        if (pending && resume.maySend(recipients.haveAllCome(), waitedNs)) {
            pending = false;
            machine.resume(takeover.checkpoint(), nowNs);
        }
        return pending;
    }

    @Override
    public boolean isPending() {
        return pending;
    }

    /// The earlier leader's ring is not read any more; the checkpoint stays.
    @Override
    public void close() {
        takeover.close();
    }
}
