package io.framecast.engine.hostgroup;

import io.framecast.engine.libc.UnixSocket;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.group.LeaderTable;
import io.framecast.reliability.group.SegmentLayout;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Names the processes that keep a receiver waiting for room in its ring, and those for which frames are copied,
/// each once. The listener's; a publisher reports its readers by itself.
final class HolderNotices {
    private static final long NS_PER_MS = 1_000_000;

    private final Consumer<String> notices;
    // Where followers hold the ring up, and whether that was said.
    private long shortAt = -1;
    private Interval patience = new Interval(0);
    private boolean shortSaid;
    // A bit for each place.
    private long copiesSaid;

    /// @param notices get the lines, without the name of the group
    HolderNotices(final Consumer<String> notices) {
        this.notices = notices;
    }

    /// Looks at the segment that is shared, from time to time.
    void look(final @Nullable LeaderSegment shared, final long nowNs) {
        if (shared == null) {
            shortAt = -1;
            return;
        }
        final long present = shared.table().shortAt();
        if (present < 0 || present != shortAt) {
            shortAt = present;
            shortSaid = false;
            patience = new Interval(shared.table().aliveTimeoutNs());
            patience.begin(nowNs);
        } else if (!shortSaid && patience.isDue(nowNs)) {
            shortSaid = true;
            nameHolders(shared, shared.table().aliveTimeoutNs() / NS_PER_MS);
        }
        nameCopied(shared.table());
    }

    private void nameHolders(final LeaderSegment shared, final long ms) {
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (shared.table().releasedBy(i) == shortAt) {
                notices.accept(UnixSocket.describe(shared.table().processOf(i)) + " has released no frame for " + ms
                        + " ms and holds the stream up for all" + shared.heldText(i)
                        + "; let it read on and release frames, give it delivery=latest, or end it");
            }
        }
    }

    private void nameCopied(final LeaderTable shared) {
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            final long place = 1L << i;
            if (shared.releasedBy(i) < 0 || shared.copiedBy(i) == 0) {
                copiesSaid &= ~place;
            } else if ((copiesSaid & place) == 0) {
                copiesSaid |= place;
                notices.accept(UnixSocket.describe(shared.processOf(i))
                        + " keeps more frames than the ring has room for, " + shared.heldBy(i)
                        + " now, and copies them; a larger frames-held= of all members, or fewer frames that it holds"
                        + " at once spare the copies");
            }
        }
    }
}
