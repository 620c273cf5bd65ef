package io.framecast.reliability.sim;

import io.framecast.reliability.sim.shared.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The meeting point of a host's processes: the process that listens there leads. It arms faults that fall
/// between two stores of a leader.
final class SimGroup {
    private static final int WAKE_MAX_NS = 50_000;
    // A checkpoint takes 15 stores, an entry 12, a segment's header 25.
    private static final int STEPS_MAX = 400;
    private static final int STEPS_SOON = 120;
    private static final int ENTRY_STEPS_MAX = 30;
    private static final int SENT_STEPS_MAX = 8;
    private static final long DOWN_MAX_NS = 2 * SimSource.ALIVE_TIMEOUT_NS;

    private final SimFaults faults;
    private final RandomGenerator random;
    // Of each ring, beyond its need: a successor's ring is as long as its leader's.
    private final int spareSlots;
    // Processes that run, in order of their beginning.
    private final List<SimMember> members = new ArrayList<>();
    private @Nullable SimMember leader;
    // The last leader died.
    private boolean awaitsSuccessor;
    // Further leaders that are to die as soon as they lead.
    private int deaths;
    private long numbers;

    SimGroup(final SimFaults faults, final RandomGenerator random) {
        this.faults = faults;
        this.random = random;
        spareSlots = random.nextInt(2) * random.nextInt(64);
    }

    int spareSlots() {
        return spareSlots;
    }

    @Nullable
    SimMember leader() {
        return leader;
    }

    List<SimMember> members() {
        return members;
    }

    /// True when the last leader died, and no other one has led since.
    boolean awaitsSuccessor() {
        return awaitsSuccessor;
    }

    /// A process is of the group from now on.
    ///
    /// @return its number, 1 …
    long enter(final SimMember member) {
        members.add(member);
        return ++numbers;
    }

    /// Whether the process of a number runs.
    boolean lives(final long number) {
        return members.stream().anyMatch(member -> member.number() == number && !member.isStopped());
    }

    /// It listens from now on, in another's place perhaps.
    void lead(final SimMember member) {
        leader = member;
        awaitsSuccessor = false;
        if (deaths > 0) {
            deaths--;
            arm(member, STEPS_SOON);
        }
    }

    /// The connections of this process end, because it is gone or does not lead any more.
    void onEnd(final SimMember member) {
        if (leader == member) {
            leader = null;
            awaitsSuccessor = member.isStopped();
        }
        if (member.isStopped()) {
            members.remove(member);
        }
        wakeAll();
    }

    /// There may be news for all.
    void wakeAll() {
        for (final SimMember member : members) {
            member.wakeAfter(random.nextInt(WAKE_MAX_NS));
        }
    }

    /// The leader, and perhaps its successors, die between two stores from now on.
    void armCrashes() {
        final SimMember one = leader;
        deaths = random.nextInt(3);
        if (one == null || one.isStopped()) {
            deaths++;
        } else {
            arm(one, STEPS_MAX);
        }
    }

    /// No death is planned any more.
    void clearCrashes() {
        deaths = 0;
        members.forEach(SimMember::clearCrash);
    }

    private void arm(final SimMember member, final int stepsMax) {
        final long nowNs = member.events().nowNs();
        final SimHost host = member.host();
        final Step only = switch (random.nextInt(3)) {
            case 0 -> Step.ENTRY;
            case 1 -> Step.SENT;
            default -> null;
        };
        final int latest = only == null ? stepsMax : only == Step.ENTRY ? ENTRY_STEPS_MAX : SENT_STEPS_MAX;
        member.armCrash(1 + random.nextInt(latest), only);
        final long latestNs = nowNs + 1 + random.nextLong(40_000_000);
        final boolean comesBack = random.nextInt(4) != 0;
        faults.expect(latestNs, () -> {
            if (member.isCrashArmed() && !member.isStopped()) {
                host.crash();
            }
            if (comesBack) {
                faults.expect(member.events().nowNs() + 1 + random.nextLong(DOWN_MAX_NS), host::start);
            }
        });
    }
}
