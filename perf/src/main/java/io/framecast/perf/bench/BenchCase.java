package io.framecast.perf.bench;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.rivals.StreamSpec;
import io.framecast.perf.table.Texts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// One setting that every system is measured in.
///
/// @param net what lies between the processes
/// @param mtuBytes largest IP packet
/// @param loss share of datagrams that the network drops, each way
/// @param offload whether the source's interface takes many datagrams at once
/// @param framesPerSecond 0 for as many as are taken
/// @param bystander one more subscriber, which is not measured
/// @param readers what receivers do with frames; those that sum are on one host
public record BenchCase(
        BenchScenario scenario,
        BenchNet net,
        int frameBytes,
        int receivers,
        int mtuBytes,
        double loss,
        boolean offload,
        double framesPerSecond,
        Bystander bystander,
        StreamSpec.Readers readers) {

    public BenchCase(
            final BenchScenario scenario,
            final BenchNet net,
            final int frameBytes,
            final int receivers,
            final int mtuBytes,
            final double loss,
            final boolean offload,
            final double framesPerSecond) {
        this(
                scenario,
                net,
                frameBytes,
                receivers,
                mtuBytes,
                loss,
                offload,
                framesPerSecond,
                Bystander.NONE,
                StreamSpec.Readers.OF_ENDS);
    }

    BenchCase withBystander(final Bystander value) {
        return new BenchCase(
                scenario, net, frameBytes, receivers, mtuBytes, loss, offload, framesPerSecond, value, readers);
    }

    BenchCase with(final int receiverCount, final double fps) {
        return new BenchCase(
                scenario, net, frameBytes, receiverCount, mtuBytes, loss, offload, fps, bystander, readers);
    }

    BenchCase withLoss(final double share) {
        return new BenchCase(
                scenario, net, frameBytes, receivers, mtuBytes, share, offload, framesPerSecond, bystander, readers);
    }

    /// Its properties, in a few words.
    public String text() {
        final List<String> parts = new ArrayList<>();
        parts.add(scenario.label());
        parts.add(Texts.bytes(frameBytes));
        parts.add(receiversText());
        parts.add("MTU " + mtuBytes);
        if (net != BenchNet.LOOPBACK) {
            parts.add(net.label());
        }
        if (loss > 0) {
            parts.add(lossText());
        }
        if (!offload) {
            parts.add("offload off");
        }
        if (framesPerSecond > 0) {
            parts.add(String.format(Locale.ROOT, "%.0f/s", framesPerSecond));
        }
        if (readers.areSumming()) {
            parts.add("on one host, device " + readers.device());
        }
        if (readers.backgroundBytesPerSecond() > 0) {
            parts.add("beside copies of " + readers.backgroundBytesPerSecond() / 1_000_000 + " MB/s to the host");
        }
        if (bystander.isThere()) {
            parts.add("beside " + bystander.text());
        }
        return String.join(", ", parts);
    }

    String receiversText() {
        return receivers + (receivers == 1 ? " receiver" : " receivers");
    }

    /// The loss in percent.
    public String lossText() {
        return Texts.loss(loss);
    }
}
