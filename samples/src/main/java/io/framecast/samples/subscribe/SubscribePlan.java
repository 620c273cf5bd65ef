package io.framecast.samples.subscribe;

import io.framecast.api.error.ConfigException;
import java.time.Duration;

/// What one run of `subscribe` does.
///
/// @param framesMax frames to take; `Long.MAX_VALUE` for all until end of stream
/// @param waitMax longest wait for a source; zero waits for ever
record SubscribePlan(long framesMax, Duration waitMax) {
    SubscribePlan {
        if (framesMax < 1) {
            throw new ConfigException("--frames: expected at least 1, got " + framesMax);
        }
    }
}
