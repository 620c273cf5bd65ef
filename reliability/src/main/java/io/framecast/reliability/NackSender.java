package io.framecast.reliability;

import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.wire.ControlIds;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.NackLayout;
import org.jspecify.annotations.Nullable;

/// Packs ranges into NACK datagrams, and acknowledgements that would go to the same end soon along with them.
final class NackSender implements NackScheduler.Output {
    private static final long PULL_RETRY_NS = 50_000;

    private final ReceiverOutput output;
    private final Reporting reporting;
    private final ControlIds ids;
    private final HeaderChecksum checksum;
    private final ReceiverCounts counts;
    private @Nullable NackScheduler scheduler;
    private long nowNs;
    private int ranges;
    private long rangeFirst;
    private int rangeCount;
    private boolean toSource;
    private boolean riding;

    NackSender(
            final ReceiverOutput output,
            final Reporting reporting,
            final ControlIds ids,
            final HeaderChecksum checksum,
            final ReceiverCounts counts) {
        this.output = output;
        this.reporting = reporting;
        this.ids = ids;
        this.checksum = checksum;
        this.counts = counts;
    }

    /// Reports what is due.
    ///
    /// @return work done
    int report(final NackScheduler nacks, final long highestData, final long now) {
        nowNs = now;
        scheduler = nacks;
        final int reported = nacks.onTick(now, highestData, this);
        flush();
        return reported;
    }

    @Override
    public void nack(final long firstSequence, final int count, final int attempts) {
        final int own = attempts < NackScheduler.INSISTENT_AFTER ? takeOwn(firstSequence, count) : 0;
        if (own < count && !pull(firstSequence + own, count - own, attempts)) {
            ask(firstSequence + own, count - own, attempts);
        }
    }

    private void ask(final long firstSequence, final int count, final int attempts) {
        final boolean insistent = attempts == NackScheduler.INSISTENT_AFTER || !reporting.isAssigned();
        if (insistent != toSource) {
            flush();
        }
        if (ranges == 0) {
            toSource = insistent;
            riding = reporting.isRiding(insistent);
        }
        counts.nackedDatagrams += count;
        if (ranges > 0 && firstSequence == rangeFirst + rangeCount) {
            // Reported more or less often before, but to the same end.
            rangeCount += count;
            NackLayout.range(output.control(), riding, ranges - 1, rangeFirst, rangeCount);
            return;
        }
        rangeFirst = firstSequence;
        rangeCount = count;
        NackLayout.range(output.control(), riding, ranges++, firstSequence, count);
        if (ranges == NackLayout.rangesMax(riding)) {
            flush();
        }
    }

    // What lies in this receiver's own copy is neither read nor asked for.
    private int takeOwn(final long firstSequence, final int count) {
        final int held = reporting.heldInCopy(firstSequence, count);
        final int taken = held == 0 ? ReceiverOutput.NOT_READ : reporting.takeOwn(firstSequence, held);
        if (taken == ReceiverOutput.NOT_READ) {
            return 0;
        }
        counts.ownRepairs += taken;
        hasten(firstSequence + taken, held - taken);
        return held;
    }

    private void hasten(final long firstSequence, final int count) {
        final NackScheduler current = scheduler;
        if (count > 0 && current != null) {
            current.hasten(firstSequence, count, nowNs + PULL_RETRY_NS);
        }
    }

    // What there is no room to read is read soon; what was read in vain is asked for. Of a co-root once: it can say
    // what it lacks only by sending it later.
    private boolean pull(final long firstSequence, final int count, final int attempts) {
        final int taken;
        if (reporting.isAssigned() && reporting.coRootConnection().isUp()) {
            taken = attempts == 0 ? output.readFromCoRoot(firstSequence, count) : ReceiverOutput.NOT_READ;
        } else if (!reporting.link().mayPull(nowNs)) {
            return false;
        } else if (attempts < NackScheduler.INSISTENT_AFTER) {
            taken = output.readFromSource(firstSequence, count);
        } else {
            counts.overduePulls += count;
            return false;
        }
        if (taken == ReceiverOutput.NOT_READ) {
            return false;
        }
        counts.pullRequests += taken;
        hasten(firstSequence + taken, count - taken);
        return true;
    }

    private void flush() {
        if (ranges == 0) {
            return;
        }
        final int bytes = riding
                ? NackLayout.write(output.control(), ids, ranges, reporting.ride(nowNs), checksum)
                : NackLayout.write(output.control(), ids, ranges, checksum);
        reporting.send(bytes, toSource);
        counts.nacks++;
        ranges = 0;
    }
}
