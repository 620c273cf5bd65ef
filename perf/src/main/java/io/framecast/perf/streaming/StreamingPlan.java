package io.framecast.perf.streaming;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A run as asked for.
///
/// @param frameBytes length of all frames
/// @param way what holds for all contenders; scheme and placement are each contender's
/// @param directions without [Direction#NONE], which is always measured
/// @param backgroundBytesPerSecond of each process and direction; 0 for as much as is taken
record StreamingPlan(
        List<Contender> contenders,
        List<Integer> subscribers,
        List<Direction> directions,
        long backgroundBytesPerSecond,
        int frameBytes,
        StreamingSpec.Way way,
        StreamingSpec.Devices devices,
        int inFlight,
        Times times) {

    /// @param warmUpMaxSeconds most that a contender's processes run before their rounds
    /// @param leadSeconds of each stream before its frames count
    /// @param loneSeconds how long frames go one at a time
    /// @param seconds how long they go among others
    record Times(int rounds, double warmUpMaxSeconds, double leadSeconds, double loneSeconds, double seconds) {}

    /// The cases of a round, each with its contenders.
    Map<StreamingCase, List<Contender>> cases() {
        final Map<StreamingCase, List<Contender>> all = new LinkedHashMap<>();
        for (final int count : subscribers) {
            all.put(new StreamingCase(count, Direction.NONE), contenders);
            directions.forEach(direction -> all.put(new StreamingCase(count, direction), contenders));
        }
        return all;
    }

    int measurements() {
        return times.rounds * subscribers.size() * (1 + directions.size()) * contenders.size();
    }

    int subscribersMax() {
        return subscribers.stream().mapToInt(Integer::intValue).max().orElse(1);
    }

    double aboutSeconds() {
        final double each = times.leadSeconds + times.loneSeconds + times.seconds + 0.6;
        return contenders.size() * (times.warmUpMaxSeconds / 2 + 3 * each) + measurements() * each;
    }
}
