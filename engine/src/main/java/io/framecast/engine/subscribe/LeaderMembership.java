package io.framecast.engine.subscribe;

import io.framecast.api.error.ConfigException;
import io.framecast.engine.hostgroup.GroupLeader;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.sink.HostReceiveMemory;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.group.SharedFrames;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.Delivery;

/// The membership of a host group's leader: its ring and its frame table are shared with the group's members.
///
/// @param framesHeld frames that a member may hold
record LeaderMembership(GroupLeader leader, int framesHeld, long secret) implements Membership {
    /// A successor must find what its leader received at the place that a sequence has.
    @Override
    public MemoryShape.Kind kindByArrival() {
        return MemoryShape.Kind.STAGED;
    }

    /// A leader's policy is the strongest of its members', and changes.
    @Override
    public boolean mayExceedCredit(final Delivery own) {
        return true;
    }

    @Override
    public MirroredMemory ring(final long bytes) {
        return MirroredMemory.allocateShared(bytes);
    }

    @Override
    public FrameRecipients recipients(
            final SessionQueue queue,
            final MemoryShape shape,
            final ReceiveMemory memory,
            final Assembly assembly,
            final ReceiverMachine machine,
            final Delivery policy) {
        return share(shape, mapped(memory), assembly, machine, policy, false);
    }

    /// Members need every frame contiguous in a ring that they can map.
    ///
    /// @throws ConfigException where they cannot map it
    static HostReceiveMemory mapped(final ReceiveMemory memory) {
        if (!(memory instanceof HostReceiveMemory host) || !host.isRingMappedTwice()) {
            throw new ConfigException("host-group: this system cannot map a ring twice; use host-group=off");
        }
        return host;
    }

    /// Shares the frames of a new session.
    ///
    /// @param policy that the source knows
    /// @param continues whether an earlier leader left the session
    FrameRecipients share(
            final MemoryShape shape,
            final HostReceiveMemory memory,
            final Assembly assembly,
            final ReceiverMachine machine,
            final Delivery policy,
            final boolean continues) {
        final SharedFrames frames = leader.share(
                assembly,
                shape.stream(),
                memory.ring(),
                memory.ringBytes(),
                continues,
                policy,
                (framesHeld - 1L) * shape.stream().frameMaxSlots(),
                machine::nextFrameSequence);
        machine.log(frames);
        return new GroupRecipients(frames);
    }
}
