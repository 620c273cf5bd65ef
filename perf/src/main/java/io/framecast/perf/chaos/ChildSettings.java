package io.framecast.perf.chaos;

import java.nio.file.Path;
import java.util.List;

/// What a child is told on its command line.
///
/// @param role `publish`, `subscribe` or `shout`
/// @param plant what is broken on purpose; see [Plant]
record ChildSettings(
        String role, long parent, String channel, Path counters, ChaosFrames frames, double rate, Plant plant) {
    static final String PUBLISH = "publish";
    static final String SUBSCRIBE = "subscribe";
    static final String SHOUT = "shout";

    List<String> words() {
        return List.of(
                role,
                Long.toString(parent),
                channel,
                counters.toString(),
                Long.toString(frames.seed()),
                Integer.toString(frames.frameBytes()),
                Double.toString(rate),
                plant.name());
    }

    static ChildSettings parse(final String[] words) {
        return new ChildSettings(
                words[0],
                Long.parseLong(words[1]),
                words[2],
                Path.of(words[3]),
                new ChaosFrames(Long.parseLong(words[4]), Integer.parseInt(words[5])),
                Double.parseDouble(words[6]),
                Plant.valueOf(words[7]));
    }
}
