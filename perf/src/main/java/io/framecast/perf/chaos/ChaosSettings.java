package io.framecast.perf.chaos;

import java.nio.file.Path;

/// The settings of a child process.
///
/// @param role `publish`, `subscribe` or `attack`
/// @param rate frames a second
record ChaosSettings(String role, String channel, Path counters, ChaosFrames frames, double rate, InjectedBug bug) {
    static final String PUBLISH = "publish";
    static final String SUBSCRIBE = "subscribe";
    static final String ATTACK = "attack";
}
