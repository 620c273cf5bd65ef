package io.framecast.reliability;

import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.wire.ControlIds;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.NackLayout;

/// Packs ranges into NACK datagrams.
final class NackSender implements NackScheduler.Output {
    private final ReceiverOutput output;
    private final Reporting reporting;
    private final ControlIds ids;
    private final HeaderChecksum checksum;
    private final ReceiverCounts counts;
    private int ranges;
    private boolean insistent;

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

    @Override
    public void nack(final long firstSequence, final int count, final boolean insisted) {
        final boolean toSource = insisted || !reporting.isAssigned();
        if (toSource != insistent) {
            flush();
            insistent = toSource;
        }
        NackLayout.range(output.control(), ranges++, firstSequence, count);
        counts.nackedDatagrams += count;
        if (ranges == NackLayout.RANGES_MAX) {
            flush();
        }
    }

    /// Sends what is packed.
    void flush() {
        if (ranges > 0) {
            reporting.send(NackLayout.write(output.control(), ids, ranges, checksum), insistent);
            counts.nacks++;
            ranges = 0;
        }
    }
}
