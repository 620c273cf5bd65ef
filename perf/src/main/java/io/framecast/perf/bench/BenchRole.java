package io.framecast.perf.bench;

import io.framecast.perf.harness.ChildRole;
import io.framecast.perf.harness.ParentLink;
import io.framecast.perf.harness.Records;
import io.framecast.perf.rivals.MeasuredSystem;
import io.framecast.perf.rivals.StreamSpec;
import java.util.List;

/// One end of measured streams. Lives through many rounds, for a stream in service does too: the bench
/// measures a program that runs, not one that starts.
public final class BenchRole implements ChildRole {
    /// Words: [#PUBLISH] or [#SUBSCRIBE], and the name of the system.
    @Override
    public int run(final List<String> words, final ParentLink parent) {
        return serve(new BenchSystem(words.get(1)).open(), words.getFirst().equals(PUBLISH), parent);
    }

    static int serve(final MeasuredSystem system, final boolean publishes, final ParentLink parent) {
        return parent.serve((text, gone) -> {
            final StreamSpec spec = Records.read(StreamSpec.class, text);
            return publishes ? system.publish(spec, gone) : system.subscribe(spec);
        });
    }
}
