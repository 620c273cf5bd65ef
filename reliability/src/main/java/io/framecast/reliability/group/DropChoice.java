package io.framecast.reliability.group;

import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.wire.Delivery;
import org.jspecify.annotations.Nullable;

/// Which frames of its leader's a follower drops under `latest` and `deadline=…`: as a receiver of its own would
/// (docs/protocol.md, "Delivery policies"), but at the moment it polls.
///
/// The user's thread.
public final class DropChoice {
    private static final long NS_PER_MS = 1_000_000;

    private final Delivery delivery;
    // Entries below were looked at.
    private long looked;
    // Among them the newest at which a subscriber may begin.
    private long newest;
    private boolean keyed;
    private boolean awaitsKeyframe;

    public DropChoice(final Delivery delivery) {
        this.delivery = delivery;
    }

    /// The reason of frames that were gone before this follower came to them.
    public LossReason tooLate() {
        return switch (delivery.kind()) {
            case LATEST -> LossReason.SUPERSEDED;
            case DEADLINE -> LossReason.UNREPAIRABLE;
            case RELIABLE, EVICT -> LossReason.NOT_A_MEMBER;
        };
    }

    /// Another segment is read from here on.
    public void begin(final FollowerTable shared) {
        looked = shared.upcoming();
        newest = looked;
    }

    /// Frames are lost to this follower, or to its leader.
    public void onLoss(final LossReason reason) {
        awaitsKeyframe |= reason != LossReason.SUPERSEDED;
    }

    /// Why a frame is not given to the user; null where it is.
    ///
    /// @param hostNs the host's clock now
    public @Nullable LossReason outdated(final FollowerTable shared, final long number, final long hostNs) {
        return switch (delivery.kind()) {
            case RELIABLE, EVICT -> null;
            case DEADLINE -> isTooOld(shared, number, hostNs) ? LossReason.EXPIRED : null;
            case LATEST -> {
                look(shared, number);
                if (newest > number) {
                    yield LossReason.SUPERSEDED;
                }
                if (awaitsKeyframe && keyed && !shared.isKeyframe(number)) {
                    yield LossReason.AWAITS_KEYFRAME;
                }
                awaitsKeyframe = false;
                yield null;
            }
        };
    }

    private boolean isTooOld(final FollowerTable shared, final long number, final long hostNs) {
        return shared.clockErrorNs() != Long.MAX_VALUE
                && hostNs + shared.clockOffsetNs() - shared.timestampNs(number) >= delivery.patienceMs() * NS_PER_MS;
    }

    private void look(final FollowerTable shared, final long number) {
        if (looked < number) {
            // Entries in between are gone.
            awaitsKeyframe = true;
            looked = number;
        }
        final long end = shared.published();
        final int entries = shared.entries();
        if (end - looked > entries) {
            // More than the table has, by a leader that makes no sense or by one that is far ahead.
            awaitsKeyframe = true;
            looked = end - entries;
        }
        for (; looked < end; looked++) {
            if (!shared.isLoss(looked)) {
                final boolean keyframe = shared.isKeyframe(looked);
                keyed |= keyframe;
                newest = !keyed || keyframe ? looked : newest;
            }
        }
    }
}
