package io.framecast.reliability.send;

import io.framecast.reliability.send.Member.State;
import io.framecast.reliability.wire.AssignLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.RepairGroupLayout;

/// A source's instructions to members, by ASSIGN and REPAIR_GROUP: each is repeated until its member confirms it.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
final class CoRootInstructions {
    private static final long REPEAT_NS = 20_000_000;
    private static final int REPEAT_DOUBLINGS_MAX = 4;

    private final MemberTable members;
    private final SenderOutput output;
    private final Counts<SenderCount> counts;
    private final ControlWriter ids;

    CoRootInstructions(
            final MemberTable members,
            final SenderOutput output,
            final Counts<SenderCount> counts,
            final ControlWriter ids) {
        this.members = members;
        this.output = output;
        this.counts = counts;
        this.ids = ids.another();
    }

    /// The next tick instructs a member, and later ticks repeat that until the member confirms.
    void queue(final int member, final int epoch) {
        final Member.Group place = members.of(member).group;
        place.instructed = epoch;
        place.repeats = 0;
        place.repeatNs = 0;
    }

    /// Sends the instructions that are due.
    ///
    /// @return datagrams sent
    int onTick(final long nowNs) {
        int sent = 0;
        for (int m = 0; m < members.capacity(); m++) {
            final Member.Group place = members.of(m).group;
            if (members.of(m).state == State.ACTIVE && place.instructed > place.confirmed && nowNs >= place.repeatNs) {
                place.instructedNs = place.repeats == 0 ? nowNs : place.instructedNs;
                place.repeatNs = nowNs + (REPEAT_NS << Math.min(place.repeats++, REPEAT_DOUBLINGS_MAX));
                sent += send(m);
            }
        }
        counts.add(SenderCount.INSTRUCTIONS, sent);
        return sent;
    }

    private int send(final int member) {
        ids.receiver(members.of(member).id).epoch(members.of(member).group.instructed);
        final ServedGroup set = members.of(member).set;
        if (set == null) {
            output.sendControl(member, AssignLayout.writeDirect(ids.in(output.control())));
            return 1;
        }
        if (set.coRoot() != member) {
            final int coRoot = set.coRoot();
            output.sendControl(
                    member,
                    AssignLayout.write(
                            ids.in(output.control()),
                            members.of(coRoot).id,
                            members.of(coRoot).terms.addresses().control()));
            return 1;
        }
        return sendList(set);
    }

    // To its co-root, in parts.
    private int sendList(final ServedGroup set) {
        final int parts = RepairGroupLayout.partsOf(set.size());
        for (int part = 0; part < parts; part++) {
            final int first = part * RepairGroupLayout.MEMBERS_PER_PART;
            for (int i = first; i < Math.min(set.size(), first + RepairGroupLayout.MEMBERS_PER_PART); i++) {
                final int m = set.member(i);
                RepairGroupLayout.member(
                        output.control(),
                        i - first,
                        members.of(m).id,
                        members.of(m).group.joined,
                        members.of(m).terms.addresses());
            }
            output.sendControl(set.coRoot(), RepairGroupLayout.write(ids.in(output.control()), part, set.size()));
        }
        return parts;
    }
}
