package io.framecast.reliability.receive;

import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.NackLayout;

/// Packs ranges into NACK datagrams. An acknowledgement that is due soon to the same receiver of the NACK goes along.
///
/// One thread.
final class NackSender {
    private final ReceiverOutput output;
    private final Reporting reporting;
    private final ControlWriter ids;
    private final ReceiverCounts counts;
    private long nowNs;
    private int ranges;
    private long rangeFirst;
    private int rangeCount;
    private boolean toSource;
    private boolean acknowledges;

    NackSender(
            final ReceiverOutput output,
            final Reporting reporting,
            final ControlWriter ids,
            final ReceiverCounts counts) {
        this.output = output;
        this.reporting = reporting;
        this.ids = ids;
        this.counts = counts;
    }

    /// Before the first [#add] at this time.
    void begin(final long now) {
        nowNs = now;
    }

    /// Asks for datagrams, at the latest with [#flush].
    ///
    /// @param source whether the source is asked; else the co-root
    void add(final long firstSequence, final int count, final boolean source) {
        if (source != toSource) {
            flush();
        }
        if (ranges == 0) {
            toSource = source;
            acknowledges = reporting.isRiding(source);
        }
        counts.nackedDatagrams += count;
        if (ranges > 0 && firstSequence == rangeFirst + rangeCount) {
            rangeCount += count;
            NackLayout.range(output.control(), acknowledges, ranges - 1, rangeFirst, rangeCount);
            return;
        }
        rangeFirst = firstSequence;
        rangeCount = count;
        NackLayout.range(output.control(), acknowledges, ranges++, firstSequence, count);
        if (ranges == NackLayout.rangesMax(acknowledges)) {
            flush();
        }
    }

    void flush() {
        if (ranges == 0) {
            return;
        }
        final int bytes = acknowledges
                ? NackLayout.write(ids.in(output.control()), ranges, reporting.ride(nowNs))
                : NackLayout.write(ids.in(output.control()), ranges);
        reporting.send(bytes, toSource);
        counts.nacks++;
        ranges = 0;
    }
}
