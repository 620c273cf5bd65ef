package io.framecast.perf.streaming;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
        Times times,
        Optional<Path> out) {

    /// @param warmUpMaxSeconds most that a contender's processes run before their rounds
    /// @param leadSeconds of each stream before its frames count
    /// @param loneSeconds how long frames go one at a time
    /// @param seconds how long they go among others
    record Times(int rounds, double warmUpMaxSeconds, double leadSeconds, double loneSeconds, double seconds) {}

    /// Cases of one round, contenders side by side.
    List<List<StreamingCase>> cases() {
        final List<List<StreamingCase>> all = new ArrayList<>();
        for (final int count : subscribers) {
            for (final Direction direction : allDirections()) {
                all.add(contenders.stream()
                        .map(contender -> new StreamingCase(contender, count, direction))
                        .toList());
            }
        }
        return all;
    }

    List<Direction> allDirections() {
        final List<Direction> all = new ArrayList<>(List.of(Direction.NONE));
        all.addAll(directions);
        return all;
    }

    int subscribersMax() {
        return subscribers.stream().mapToInt(Integer::intValue).max().orElse(1);
    }

    int subscribersMin() {
        return subscribers.stream().mapToInt(Integer::intValue).min().orElse(1);
    }

    double aboutSeconds() {
        final double each = times.leadSeconds + times.loneSeconds + times.seconds + 0.6;
        return contenders.size() * (times.warmUpMaxSeconds / 2 + 3 * each)
                + times.rounds * cases().size() * contenders.size() * each;
    }
}
