package io.framecast.perf.streaming;

import io.framecast.perf.harness.ChildRole;
import io.framecast.perf.harness.ParentLink;
import io.framecast.perf.harness.Records;
import java.util.List;

/// One end of streams into devices.
public final class StreamingRole implements ChildRole {
    /// Word: [#PUBLISH] or [#SUBSCRIBE].
    @Override
    public int run(final List<String> words, final ParentLink parent) {
        return parent.serve((text, _) -> {
            final StreamingSpec spec = Records.read(StreamingSpec.class, text);
            final Scheme scheme = Scheme.of(spec);
            return words.getFirst().equals(PUBLISH) ? scheme.publish(spec) : scheme.subscribe(spec);
        });
    }
}
