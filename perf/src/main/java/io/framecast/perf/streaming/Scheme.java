package io.framecast.perf.streaming;

import io.framecast.perf.harness.FrameStreams;
import java.io.IOException;

/// A way of bringing frames from one process into the devices of others.
public interface Scheme {
    String FRAMECAST = "framecast";
    String RING = "ring";
    String KNOMIAL = "knomial";
    /// From the source to each receiver.
    String UNICAST = "unicast";

    /// The only way that a scheme over unicast has here.
    String STAGED = FrameStreams.STAGED;

    /// Sends a whole stream, once its receivers are there, and returns when they have it.
    SentReport publish(StreamingSpec spec) throws IOException;

    /// Takes a whole stream.
    ReceivedReport subscribe(StreamingSpec spec) throws IOException;

    static Scheme of(final StreamingSpec spec) {
        return switch (spec.contender().scheme()) {
            case FRAMECAST -> new FramecastScheme();
            case RING, KNOMIAL, UNICAST -> new TreeScheme();
            default ->
                throw new IllegalArgumentException("scheme: expected framecast, ring, knomial or unicast, got "
                        + spec.contender().scheme());
        };
    }
}
