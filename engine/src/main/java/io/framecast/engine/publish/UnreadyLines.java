package io.framecast.engine.publish;

import io.framecast.api.spi.LaneAddress;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.send.JoinAttempts;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/// Reports to a source's operator the subscribers that asked to join and are not ready, with the reason: one line
/// each, and one notice for each address. Used by the sender's thread, except for [#lines].
final class UnreadyLines {
    private static final long LOOK_NS = 1_000_000_000;
    // Forged addresses must not fill the log: this many notices in one check.
    private static final int NOTICED_MAX = 64;

    private final Function<LaneAddress, String> describe;
    private final StreamInfo stream;
    private final JoinAttempts attempts;
    private final Consumer<String> notices;
    // Address and reason; the oldest is forgotten first.
    private final Set<String> noticed = new LinkedHashSet<>();
    private final Interval looking = new Interval(LOOK_NS);
    private volatile List<String> lines = List.of();

    UnreadyLines(
            final Function<LaneAddress, String> describe,
            final StreamInfo stream,
            final JoinAttempts attempts,
            final Consumer<String> notices) {
        this.describe = describe;
        this.stream = stream;
        this.attempts = attempts;
        this.notices = notices;
    }

    /// Any thread: the unready subscribers of the last check.
    List<String> lines() {
        return lines;
    }

    /// Checks again, once a second.
    void look(final long nowNs) {
        if (attempts.changes() == 0 || !looking.take(nowNs)) {
            return;
        }
        final List<String> next = new ArrayList<>();
        boolean hasNotified = false;
        for (int place = 0; place < JoinAttempts.ATTEMPTS_MAX; place++) {
            final byte[] bytes = attempts.address(place, nowNs);
            if (bytes != null) {
                final String address = describe.apply(new LaneAddress(bytes));
                final String line = address + " " + obstacle(place, attempts.silentNs(place, nowNs) / 1_000_000_000);
                next.add(line);
                hasNotified = hasNotified || notice(address + attempts.obstacle(place), line);
            }
        }
        lines = List.copyOf(next);
    }

    private boolean notice(final String key, final String line) {
        if (!noticed.add(key)) {
            return false;
        }
        if (noticed.size() > NOTICED_MAX) {
            noticed.remove(noticed.iterator().next());
        }
        notices.accept("publisher of " + stream.channel() + ": " + line);
        return true;
    }

    private String obstacle(final int place, final long secondsAgo) {
        final String when = secondsAgo > 1 ? ", last " + secondsAgo + " s ago" : "";
        return switch (attempts.obstacle(place)) {
            case NO_ANSWER ->
                "has asked to join " + attempts.joins(place) + " times" + when
                        + ": the answer, or a full-size datagram of "
                        + (stream.slotBytes() + stream.headerBytes())
                        + " bytes, does not reach it; look at the firewall and the MTU on the way, or lower mtu= here;"
                        + " a subscriber of a build without ADMIT's value cannot join";
            case RING_TOO_SMALL ->
                "was refused" + when + ": its ring= is too small for frame-max; enlarge it, or leave it out";
            case TWO_HOSTS -> "was refused" + when + ": the addresses that it names are not of one host";
            case NO_RING ->
                "refuses this stream" + when
                        + ": its ring-max= is below what frame-max= and window= of this publisher need; enlarge ring-max="
                        + " there, or lower frame-max= or window= here";
            case FULL -> "was refused" + when + ": as many subscribers as there is room for have joined";
        };
    }
}
