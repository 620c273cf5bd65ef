package io.framecast.reliability.send;

import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.LaneAddresses;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Passes on the effects of a sender machine, except datagrams to an address that is not proven: until a member
/// returns ADMIT's value, only ADMIT goes to it. So no request makes this source send anything else to an address of
/// an attacker's choice.
///
/// One thread.
final class MemberGate implements SenderOutput {
    private final MemberTable members;
    private final SenderOutput output;

    MemberGate(final MemberTable members, final SenderOutput output) {
        this.members = members;
        this.output = output;
    }

    /// Sends ADMIT, which may go to any member.
    void sendAdmit(final int member, final int bytes) {
        output.sendControl(member, bytes);
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        if (members.of(member).proven) {
            output.sendControl(member, bytes);
        }
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        final boolean passes = member == RetransmitScheduler.EVERYBODY || members.of(member).proven;
        return passes ? output.repair(member, firstSequence, count) : count;
    }

    @Override
    public MemorySegment control() {
        return output.control();
    }

    @Override
    public long timeNs(final long nowNs) {
        return output.timeNs(nowNs);
    }

    @Override
    public void multicastControl(final int bytes) {
        output.multicastControl(bytes);
    }

    @Override
    public void probe(final int token) {
        output.probe(token);
    }

    @Override
    public boolean isOneHost(final LaneAddresses addresses) {
        return output.isOneHost(addresses);
    }

    @Override
    public boolean connect(final int member, final byte[] controlAddress, final byte[] repairAddress) {
        return output.connect(member, controlAddress, repairAddress);
    }

    @Override
    public void disconnect(final int member) {
        output.disconnect(member);
    }

    @Override
    public boolean link(final int member, final byte[] descriptor, final boolean feeds) {
        return members.of(member).proven && output.link(member, descriptor, feeds);
    }

    @Override
    public @Nullable EndpointOffer endpointOffer(final int member) {
        return output.endpointOffer(member);
    }

    @Override
    public boolean isEndpointBroken(final int member) {
        return output.isEndpointBroken(member);
    }

    @Override
    public boolean openFeed(final int member, final EndpointOffer copy, final int epoch, final long first) {
        return output.openFeed(member, copy, epoch, first);
    }

    @Override
    public int feed(final int member, final long firstSequence, final int count) {
        return output.feed(member, firstSequence, count);
    }

    @Override
    public void unlink(final int member) {
        output.unlink(member);
    }
}
