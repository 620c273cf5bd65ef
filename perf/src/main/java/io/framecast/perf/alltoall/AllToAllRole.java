package io.framecast.perf.alltoall;

import io.framecast.perf.harness.ChildRole;
import io.framecast.perf.harness.LinkMeter;
import io.framecast.perf.harness.ParentLink;
import io.framecast.perf.harness.Records;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// One of the processes.
public final class AllToAllRole implements ChildRole {
    @Override
    public int run(final List<String> words, final ParentLink parent) {
        return parent.serve((text, _) -> run(Records.read(AllToAllSpec.class, text)));
    }

    /// Runs one measurement as one of its processes.
    static AllToAllReport run(final AllToAllSpec spec) throws IOException {
        final LinkMeter link = spec.plan().links().meter();
        try (StartLine start = new StartLine(spec);
                Gather gather =
                        spec.scheme().equals(AllToAllSpec.RING) ? new RingGather(spec) : new MulticastGather(spec)) {
            // Untimed: memory is touched, and windows are as wide as they will be.
            start.meet();
            gather.exchange(2);
            final List<Double> roundsUs = new ArrayList<>();
            for (int i = 0; i < spec.rounds(); i++) {
                roundsUs.add(seconds(start, gather, 1) * 1e6);
            }
            start.meet();
            link.begin();
            final double seconds = seconds(start, gather, spec.frames());
            final LinkMeter.Carried carried = link.end();
            gather.end();
            start.meet();
            return new AllToAllReport(roundsUs, seconds, carried);
        }
    }

    private static double seconds(final StartLine start, final Gather gather, final int frames) throws IOException {
        start.meet();
        final long beginNs = System.nanoTime();
        gather.exchange(frames);
        start.meet();
        return (System.nanoTime() - beginNs) / 1e9;
    }
}
