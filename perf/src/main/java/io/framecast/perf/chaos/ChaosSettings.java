package io.framecast.perf.chaos;

import java.nio.file.Path;

/// The settings of a child process.
///
/// @param role `publish`, `subscribe` or `attack`
/// @param rate frames a second
/// @param mayMiss whether a subscriber may miss frames that are reported as those of a time when it was no member
record ChaosSettings(
        String role, String channel, Path counters, ChaosFrames frames, double rate, InjectedBug bug, boolean mayMiss) {
    static final String PUBLISH = "publish";
    static final String SUBSCRIBE = "subscribe";
    static final String ATTACK = "attack";
}
