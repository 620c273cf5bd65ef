package io.framecast.samples.stat;

import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.EngineCounter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A process in a line for each stream that it publishes or receives, and a line for each subscriber of a stream that
/// it publishes.
final class StreamLines {
    private static final double NS_PER_S = 1e9;
    private static final double BYTES_PER_MB = 1e6;
    private static final String CHANNEL = "channel";
    private static final String MEMBER = "member";

    private final ProcessCounters now;
    private final @Nullable ProcessCounters before;

    /// @param before an earlier look at the same process; null: totals take the place of rates
    StreamLines(final ProcessCounters now, final @Nullable ProcessCounters before) {
        this.now = now;
        this.before = before;
    }

    String text() {
        final List<String> lines = new ArrayList<>();
        for (final String channel : channels(EngineCounter.FRAMES_PUBLISHED)) {
            lines.add(publisher(channel));
            members(channel).forEach(member -> lines.add(member(channel, member)));
        }
        for (final String channel : channels(EngineCounter.FRAMES_DELIVERED)) {
            lines.add(subscriber(channel));
        }
        if (lines.isEmpty()) {
            lines.add(
                    String.format(Locale.ROOT, "%d: no stream is open, %.0f s, %s", now.pid(), now.ageS(), now.file()));
        }
        return String.join(System.lineSeparator(), lines);
    }

    private String publisher(final String channel) {
        return String.format(
                Locale.ROOT,
                "%d publishes %s: %s, %,d subscribers, %,d repairs sent, %,d times back-pressured%s",
                now.pid(),
                channel,
                frames(channel, EngineCounter.FRAMES_PUBLISHED, EngineCounter.BYTES_PUBLISHED),
                sum(now, EngineCounter.MEMBERS_READY, channel),
                sum(now, EngineCounter.REPAIRS_SENT, channel),
                sum(now, EngineCounter.PUBLISH_BACK_PRESSURED, channel),
                count(sum(now, EngineCounter.EVICTIONS, channel), "evicted")
                        + count(sum(now, EngineCounter.JOIN_REFUSALS, channel), "joins refused"));
    }

    private String member(final String channel, final String member) {
        return String.format(
                Locale.ROOT,
                "%d   to %s (delivery=%s): %,d datagrams behind, credit for %,d, asked for %,d repairs,"
                        + " held the publisher back %s%s%s",
                now.pid(),
                member,
                delivery(channel, member),
                sum(now, EngineCounter.MEMBER_LAG, channel, member),
                sum(now, EngineCounter.MEMBER_CREDIT, channel, member),
                sum(now, EngineCounter.MEMBER_REPAIRS, channel, member),
                heldBack(channel, member),
                count(sum(now, EngineCounter.MEMBER_FRAMES_HELD, channel, member), "frames held"),
                count(sum(now, EngineCounter.MEMBER_FRAMES_COPIED, channel, member), "copied"));
    }

    private String heldBack(final String channel, final String member) {
        final long totalNs = sum(now, EngineCounter.MEMBER_HELD_BACK, channel, member);
        if (before == null) {
            return String.format(Locale.ROOT, "for %.1f s", totalNs / NS_PER_S);
        }
        final long newNs = totalNs - sum(before, EngineCounter.MEMBER_HELD_BACK, channel, member);
        return String.format(
                Locale.ROOT, "for %.0f %% of the time", 100.0 * Math.max(0, newNs) / (now.timeNs() - before.timeNs()));
    }

    private String subscriber(final String channel) {
        return String.format(
                Locale.ROOT,
                "%d receives %s: %s, %,d dropped, %,d repairs received%s",
                now.pid(),
                channel,
                frames(channel, EngineCounter.FRAMES_DELIVERED, EngineCounter.BYTES_DELIVERED),
                sum(now, EngineCounter.FRAMES_DROPPED, channel),
                sum(now, EngineCounter.REPAIRS_RECEIVED, channel),
                count(sum(now, EngineCounter.REJOINS, channel), "rejoins"));
    }

    private String frames(final String channel, final EngineCounter frames, final EngineCounter bytes) {
        if (before == null) {
            return String.format(
                    Locale.ROOT,
                    "%,d frames, %,.1f MB in %.0f s",
                    sum(now, frames, channel),
                    sum(now, bytes, channel) / BYTES_PER_MB,
                    now.ageS());
        }
        final double seconds = (now.timeNs() - before.timeNs()) / NS_PER_S;
        return String.format(
                Locale.ROOT,
                "%,.1f frames/s, %,.1f MB/s",
                (sum(now, frames, channel) - sum(before, frames, channel)) / seconds,
                (sum(now, bytes, channel) - sum(before, bytes, channel)) / BYTES_PER_MB / seconds);
    }

    private static String count(final long value, final String what) {
        return value == 0 ? "" : String.format(Locale.ROOT, ", %,d %s", value, what);
    }

    private List<String> channels(final EngineCounter kind) {
        return labels(kind, CHANNEL, Map.of());
    }

    private List<String> members(final String channel) {
        return labels(EngineCounter.MEMBER_LAG, MEMBER, Map.of(CHANNEL, channel));
    }

    private String delivery(final String channel, final String member) {
        return labels(EngineCounter.MEMBER_LAG, "delivery", Map.of(CHANNEL, channel, MEMBER, member)).stream()
                .collect(Collectors.joining(","));
    }

    // The values of a label, of counters that have the given labels.
    private List<String> labels(final EngineCounter kind, final String label, final Map<String, String> given) {
        return now.samples().stream()
                .filter(sample -> sample.name().equals(kind.exportedName()))
                .map(CounterSample::labelMap)
                .filter(labels -> labels.entrySet().containsAll(given.entrySet()))
                .map(labels -> labels.get(label))
                .filter(Objects::nonNull)
                .distinct()
                .sorted(Comparator.naturalOrder())
                .toList();
    }

    private static long sum(final ProcessCounters counters, final EngineCounter kind, final String channel) {
        return sum(counters, kind, Map.of(CHANNEL, channel));
    }

    // Several readers of a process count as one subscriber.
    private static long sum(
            final ProcessCounters counters, final EngineCounter kind, final String channel, final String member) {
        return sum(counters, kind, Map.of(CHANNEL, channel, MEMBER, member));
    }

    private static long sum(
            final ProcessCounters counters, final EngineCounter kind, final Map<String, String> labels) {
        return counters.samples().stream()
                .filter(sample -> sample.name().equals(kind.exportedName()))
                .filter(sample -> sample.labelMap().entrySet().containsAll(labels.entrySet()))
                .mapToLong(CounterSample::value)
                .sum();
    }
}
