package io.framecast.perf.streaming;

import io.framecast.perf.harness.LinkMeter;
import java.util.List;

/// The bytes on a stream's links while frames went back to back. NaN stands for a figure that is not known.
///
/// @param sourcePerByte bytes that the source sent, with all headers, for each byte of frames
/// @param receiverPerByte that the receiver sent and received which did so most
/// @param sourceShare of its link's rate that the source sent; NaN where that has no limit
/// @param receiverShare of its link's rate that the receiver received which did so most; likewise
/// @param busyShare of the machine's processors
record LinkUse(
        double sourcePerByte, double receiverPerByte, double sourceShare, double receiverShare, double busyShare) {
    static final LinkUse UNKNOWN = new LinkUse(Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);

    static LinkUse of(final StreamingPlan plan, final SentReport source, final List<ReceivedReport> receivers) {
        final LinkMeter.Carried own = source.link();
        if (own.sentBytes() < 0) {
            return UNKNOWN;
        }
        double perByte = 0;
        double share = 0;
        for (final ReceivedReport receiver : receivers) {
            final LinkMeter.Carried link = receiver.link();
            final double both = (double) link.receivedBytes() + link.sentBytes();
            perByte = Math.max(perByte, both / receiver.linkFrames() / plan.frameBytes());
            share = Math.max(share, plan.links().share(link.receivedBytes(), link.seconds()));
        }
        return new LinkUse(
                (double) own.sentBytes() / source.linkFrames() / plan.frameBytes(),
                perByte,
                plan.links().share(own.sentBytes(), own.seconds()),
                share,
                own.busyShare());
    }
}
