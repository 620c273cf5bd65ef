package io.framecast.perf.streaming;

import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.Links;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A run as asked for.
///
/// @param directions without [Direction#NONE], which is always measured
/// @param impairments each measured with every number of subscribers
/// @param backgroundBytesPerSecond of each process and direction; 0 for as much as is taken
/// @param frameBytes length of all frames
/// @param transport Framecast's, as in a channel's URI
/// @param networkInterface Framecast's on the loopback, as in a channel's URI
/// @param chunkBytes what a hop over unicast passes on at a time; a multiple of
/// [io.framecast.perf.harness.FrameContent#BLOCK_BYTES]
/// @param devices names of the receivers' devices, by turns; the source's is the first
/// @param sourceInDevice whether the source's frames lie on its device
/// @param linkBytesPerSecond of emulated devices; 0 for what the host can copy
/// @param inFlight frames that not every receiver has, at most
public record StreamingPlan(
        List<Contender> contenders,
        List<Integer> subscribers,
        List<Direction> directions,
        List<Impairment> impairments,
        long backgroundBytesPerSecond,
        int frameBytes,
        String transport,
        Links links,
        String networkInterface,
        int chunkBytes,
        List<String> devices,
        boolean sourceInDevice,
        long linkBytesPerSecond,
        int inFlight,
        Times times) {

    /// @param warmUpMaxSeconds most that a contender's processes run before their rounds
    /// @param leadSeconds of each stream before its frames count
    /// @param loneSeconds how long frames go one at a time
    /// @param seconds how long they go among others
    /// @param isBrief whether each of these parts may have as few frames as one to three
    public record Times(
            int rounds,
            double warmUpMaxSeconds,
            double leadSeconds,
            double loneSeconds,
            double seconds,
            boolean isBrief) {
        public Times(
                final int rounds,
                final double warmUpMaxSeconds,
                final double leadSeconds,
                final double loneSeconds,
                final double seconds) {
            this(rounds, warmUpMaxSeconds, leadSeconds, loneSeconds, seconds, false);
        }
    }

    public DeviceChoice deviceOfSource() {
        return DeviceChoice.parse(devices.getFirst());
    }

    DeviceChoice deviceOfReceiver(final int index) {
        return DeviceChoice.parse(devices.get(index % devices.size()));
    }

    StreamingPlan with(final Times value) {
        return with(frameBytes, chunkBytes, devices, sourceInDevice, linkBytesPerSecond, value);
    }

    /// The same for other frames.
    ///
    /// @param names of the devices
    public StreamingPlan with(final int bytes, final int chunk, final List<String> names, final Times value) {
        return with(bytes, chunk, names, sourceInDevice, linkBytesPerSecond, value);
    }

    /// The same for frames in host memory.
    StreamingPlan onHost(final int bytes, final Times value) {
        return with(bytes, chunkBytes, List.of(DeviceChoice.HOST), false, 0, value);
    }

    private StreamingPlan with(
            final int bytes,
            final int chunk,
            final List<String> names,
            final boolean inDevice,
            final long link,
            final Times value) {
        return new StreamingPlan(
                contenders,
                subscribers,
                directions,
                impairments,
                backgroundBytesPerSecond,
                bytes,
                transport,
                links,
                networkInterface,
                chunk,
                names,
                inDevice,
                link,
                inFlight,
                value);
    }

    /// The cases of a round, each with its contenders.
    Map<StreamingCase, List<Contender>> cases() {
        final Map<StreamingCase, List<Contender>> all = new LinkedHashMap<>();
        for (final int count : subscribers) {
            for (final Impairment impairment : impairments) {
                // One that is alone and slow leaves none to be measured.
                if (count > 1 || !impairment.hasSlow()) {
                    all.put(new StreamingCase(count, Direction.NONE, impairment), contenders);
                    directions.forEach(
                            direction -> all.put(new StreamingCase(count, direction, impairment), contenders));
                }
            }
        }
        return all;
    }

    int measurements() {
        return times.rounds * cases().size() * contenders.size();
    }

    public int subscribersMax() {
        return subscribers.stream().mapToInt(Integer::intValue).max().orElse(1);
    }

    double aboutSeconds() {
        final double each = times.leadSeconds + times.loneSeconds + times.seconds + 0.6;
        return contenders.size() * (times.warmUpMaxSeconds / 2 + 3 * each) + measurements() * each;
    }
}
