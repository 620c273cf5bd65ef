package io.framecast.reliability.group;

import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.wire.Delivery;

/// What a member's user gets next: the entries of its leaders' tables, one segment after the other, without those
/// that it knows, and without frames that it is too late for (docs/protocol.md, "Delivery policies"). Each frame of
/// a session is given once or reported as lost once, in order.
///
/// The user's thread.
public final class FollowerReader {
    private final boolean drops;
    private final DropChoice choice;
    private final Losses losses;
    // Frames of this session below the number were given, or reported as lost.
    private long session;
    private long nextId;

    /// The entries of one segment, each call apart from those of other threads.
    public interface Entries {
        FollowerTable table();

        /// The next entry, to be taken.
        ///
        /// @return its number; −1 when there is none
        /// @throws IllegalStateException when the leader broke the table
        long peek();

        /// Takes the next entry, as [#peek] finds it.
        long take();

        /// An entry is not read any more.
        void release(long number);
    }

    /// Takes the frames that the user does not get.
    public interface Losses {
        void onLoss(long session, long firstFrameId, long count, LossReason reason);
    }

    public FollowerReader(final Delivery delivery, final Losses losses) {
        this.losses = losses;
        drops = !delivery.isWaitedFor();
        choice = new DropChoice(delivery);
    }

    /// True where it drops frames that it is too late for, and holds no source up.
    public boolean drops() {
        return drops;
    }

    /// Another segment is read from here on.
    public void begin(final FollowerTable table) {
        choice.begin(table);
    }

    /// Takes an entry, and reports or passes it where it is no frame to be given.
    ///
    /// @param hostNs the host's clock now
    /// @return number of a frame for the user, which [#onGiven] or [#onTorn] follows; −1 for none at this entry
    /// @throws IllegalStateException when the leader broke the table
    public long next(final Entries entries, final long hostNs) {
        if (drops && skipOutdated(entries, hostNs)) {
            return -1;
        }
        final FollowerTable table = entries.table();
        final long number = entries.take();
        if (number < 0) {
            return -1;
        }
        if (table.lastFrameId(number) < nextId(table)) {
            // Read in the table of an earlier leader, or lost before this member was one.
            nextId = nextId(table);
            session = table.session();
            entries.release(number);
            return -1;
        }
        if (table.isLoss(number)) {
            reportLoss(entries, number);
            return -1;
        }
        return number;
    }

    // Takes and reports the frames in front that the policy drops; whether there were any.
    private boolean skipOutdated(final Entries entries, final long hostNs) {
        final FollowerTable table = entries.table();
        if (table.hasNext() && table.session() != session) {
            session = table.session();
            nextId = table.firstFrameId();
        }
        long firstId = 0;
        long count = 0;
        LossReason reason = null;
        for (long number = entries.peek(); number >= 0 && !table.isLoss(number); number = entries.peek()) {
            final long frameId = table.frameId(number);
            if (frameId < nextId) {
                break;
            }
            final LossReason found = choice.outdated(table, number, hostNs);
            final boolean joins = count == 0 || (found == reason && frameId == firstId + count);
            if (found == null || !joins || !table.isIntact(number)) {
                break;
            }
            reason = found;
            firstId = count == 0 ? frameId : firstId;
            count++;
            entries.release(entries.take());
        }
        if (reason == null) {
            return false;
        }
        choice.onLoss(reason);
        onLoss(table, firstId, count, reason);
        return true;
    }

    private long nextId(final FollowerTable table) {
        return table.session() == session ? nextId : table.firstFrameId();
    }

    private void reportLoss(final Entries entries, final long number) {
        final FollowerTable table = entries.table();
        final LossReason reason = table.lossReason(number);
        final long firstId = table.frameId(number);
        final long count = table.lost(number);
        if (table.isIntact(number)) {
            // A leader that changes its words meanwhile: a run must lie behind what is known.
            if (firstId + count <= nextId(table)) {
                throw new IllegalStateException(
                        "host group: entry " + number + " is a loss of " + count + " frames from " + firstId + " on");
            }
            entries.release(number);
            choice.onLoss(reason);
            onLoss(table, firstId, count, reason);
        }
    }

    // The first frames of a run may be known: a successor reports what its predecessor had, a leader what it missed.
    private void onLoss(final FollowerTable table, final long firstId, final long count, final LossReason reason) {
        reportMissed(table.session(), firstId);
        final long end = firstId + count;
        final long fromId = Math.max(firstId, nextId(table));
        session = table.session();
        nextId = end;
        losses.onLoss(session, fromId, end - fromId, reason);
    }

    // Frames that the same session published while this member had no leader, or none whose membership went on. Or
    // frames that were gone before it came to them.
    private void reportMissed(final long found, final long frameId) {
        final long firstId = nextId;
        if (found == session && frameId > firstId) {
            nextId = frameId;
            losses.onLoss(found, firstId, frameId - firstId, choice.tooLate());
        }
    }

    /// A frame is given to the user. Reports the frames in front of it that were gone.
    public void onGiven(final long givenSession, final long frameId) {
        reportMissed(givenSession, frameId);
        session = givenSession;
        nextId = frameId + 1;
    }

    /// A frame is not given: its leader wrote there again while it was copied. The gap before the next frame shows
    /// that.
    public void onTorn() {
        choice.onLoss(choice.tooLate());
    }
}
