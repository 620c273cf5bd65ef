package io.framecast.perf.tail;

import io.framecast.perf.harness.ChildRole;
import io.framecast.perf.harness.ParentLink;
import io.framecast.perf.harness.Records;
import java.util.List;

/// One end of a stream whose repairs are timed.
public final class TailRole implements ChildRole {
    /// Word: [#PUBLISH] or [#SUBSCRIBE].
    @Override
    public int run(final List<String> words, final ParentLink parent) {
        return parent.serve((text, _) -> {
            final TailSpec spec = Records.read(TailSpec.class, text);
            return words.getFirst().equals(PUBLISH) ? TailPublisher.run(spec) : TailSubscriber.run(spec);
        });
    }
}
