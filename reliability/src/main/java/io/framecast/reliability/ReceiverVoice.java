package io.framecast.reliability;

import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.ControlIds;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.NackLayout;

/// Everything a receiver says to its source, written and sent. No decisions are made here.
final class ReceiverVoice implements NackScheduler.Output {
    private final ReceiverConfig config;
    private final ReceiverOutput output;
    private final ReceiverCounts counts;
    private final HeaderChecksum checksum;
    private final ControlIds ids;
    private int nackRanges;

    ReceiverVoice(
            final ReceiverConfig config,
            final ReceiverOutput output,
            final ReceiverCounts counts,
            final HeaderChecksum checksum) {
        this.config = config;
        this.output = output;
        this.counts = counts;
        this.checksum = checksum;
        ids = new ControlIds(config.stream().session()).receiver(config.receiverId());
    }

    void join() {
        output.sendControl(JoinLayout.write(output.control(), ids, config.ringSlots(), config.addresses(), checksum));
    }

    void ready(final int token, final int grantSlots) {
        output.sendControl(AdmitLayout.writeReady(output.control(), ids, token, grantSlots, checksum));
    }

    void ack(final AckValues values) {
        output.sendControl(AckLayout.write(output.control(), ids, values, checksum));
        counts.acks++;
    }

    void requestMetadata(final long firstSequence) {
        output.sendControl(FrameLayout.writeRequest(output.control(), ids, firstSequence, checksum));
    }

    void leave() {
        output.sendControl(LeaveLayout.writeLeave(output.control(), ids, Reason.LEFT, checksum));
    }

    /// Adds a range to the NACK under construction; [#flushNack] sends what is left.
    @Override
    public void nack(final long firstSequence, final int count) {
        NackLayout.range(output.control(), nackRanges++, firstSequence, count);
        counts.nackedDatagrams += count;
        if (nackRanges == NackLayout.RANGES_MAX) {
            flushNack();
        }
    }

    void flushNack() {
        if (nackRanges > 0) {
            output.sendControl(NackLayout.write(output.control(), ids, nackRanges, checksum));
            counts.nacks++;
            nackRanges = 0;
        }
    }
}
