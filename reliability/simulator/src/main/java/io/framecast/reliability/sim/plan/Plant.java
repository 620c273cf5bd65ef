package io.framecast.reliability.sim.plan;

import java.util.Locale;
import java.util.Optional;

/// Bugs to inject into the protocol, so that a run shows that the checks find them.
public enum Plant {
    NONE,
    /// A datagram that arrived before counts as new: its frame is delivered again.
    NO_DUPLICATE_CHECK,
    /// The source sends all committed datagrams.
    IGNORE_CREDIT,
    /// The source frees slots as soon as they are sent.
    REUSE_UNACKED_SLOT,
    /// Misplaced payloads stay where they arrived.
    SKIP_REASSEMBLY,
    /// Slots are used again while copies still read them.
    REUSE_COPIED_SLOT,
    /// Frames are delivered before the copies that bring them to their place have ended.
    DELIVER_UNCOPIED,
    /// A receiver grants more than it has slots for.
    GRANT_HELD_SLOTS,
    /// A frame that is taken back from the user's queue for a newer one is not reported.
    FORGET_TAKEN_BACK,
    /// The receiver reports no gap.
    FORGET_NACK,
    /// The source starts a member one datagram too late.
    WRONG_FRAME_BOUNDARY,
    /// The receiver takes another session's datagrams.
    STALE_SESSION,
    /// A receiver that drops frames does not report them.
    FORGET_GIVEN_UP,
    /// The source never gives up a member that fell silent.
    NO_EVICTION,
    /// The source gives members up after a quarter of the alive-timeout.
    HASTY_EVICTION,
    /// A receiver never gives up a source that fell silent.
    KEEP_DEAD_SOURCE,
    /// A receiver takes the source's clock for its own.
    IGNORE_CLOCK_SKEW,
    /// A receiver takes datagrams that the source sent before it was started again.
    ACCEPT_OLD_SESSION,
    /// A frame that the user releases once is released twice.
    RELEASE_TWICE,
    /// Slots are free as soon as their frame is delivered, though the user keeps it.
    RELEASE_EARLY,
    /// A receiver that lost its source does not deliver the whole frames that it still has.
    DROP_WHOLE_FRAMES,
    /// A co-root acknowledges its own datagrams, though its group lacks some.
    OWN_RECEIPT,
    /// An aggregate covers members that have not reported.
    SPEAK_FOR_ALL,
    /// Datagrams read out of reusable memory count, though their guard is wrong.
    TRUST_HEADERS,
    /// The source uses slots again while they are written into a co-root's replica.
    REUSE_FED_SLOT,
    /// The source sends every repair several times.
    REPAIR_STORM,
    /// The source forgets to say that a frame is the first of its format.
    FORGET_NEW_FORMAT,
    /// The publisher commits a claim whose bytes it has not written yet.
    COMMIT_UNWRITTEN,
    /// A subscriber that lost a source, or was evicted by it, never joins it again.
    NEVER_REJOIN,
    /// A subscriber that joins a source again does not report the frames that it missed meanwhile.
    FORGET_MISSED,
    /// A subscriber whose join failed keeps the source that declined it, and joins no other.
    KEEP_DECLINED,
    /// A frame is given in a buffer that was posted behind the poll of its datagrams, without their bytes.
    POST_BEHIND_POLL,
    /// The source seals with a counter that its key had before.
    NONCE_REUSED,
    /// The newest control datagram of a key is taken once more.
    REPLAY_WINDOW_OFF_BY_ONE,
    /// A receiver takes repairs with any tag.
    REPAIR_TAG_UNCHECKED,
    /// A receiver takes keys of an epoch for ever.
    OLD_EPOCH_ACCEPTED,
    /// A bundle is encrypted where it lies while its publisher writes a claim in it.
    ENCRYPT_OPEN_CLAIM,
    /// A member of a host group moves its cursor as it takes a frame, though its user keeps it.
    RELEASE_CURSOR_EARLY,
    /// A successor begins one sequence behind its leader's acknowledgement.
    TAKE_OVER_LATE,
    /// A leader acknowledges before its checkpoint is in the segment.
    ACKNOWLEDGE_BEFORE_LOG,
    /// A member reads entries of the frame table that are still being written.
    ACCEPT_TORN_ENTRY,
    /// A successor goes on as the co-root that its leader was, and its source agrees.
    INHERIT_CO_ROOT,
    /// A member takes its leader's place before the standstill has lasted.
    CLAIM_EARLY,
    /// A successor reads its leader's checkpoint without a claim, so that the leader goes on to report.
    LEAVE_UNFENCED,
    /// A successor sends RESUME before the survivors have its segment.
    RESUME_ALONE,
    /// A member that holds nothing gives frames that were written again while it copied them.
    GIVE_TORN_COPY;

    /// Whether only the host groups of a run can show it.
    public boolean isOfHostGroup() {
        return ordinal() >= RELEASE_CURSOR_EARLY.ordinal();
    }

    /// Whether only runs with an adversary can show it.
    public boolean isOfAdversary() {
        return ordinal() >= NONCE_REUSED.ordinal() && !isOfHostGroup();
    }

    /// The name used on the command line: `no-duplicate-check`.
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// Finds an injected bug by its label.
    public static Optional<Plant> of(final String label) {
        for (final Plant plant : values()) {
            if (plant.label().equals(label)) {
                return Optional.of(plant);
            }
        }
        return Optional.empty();
    }
}
