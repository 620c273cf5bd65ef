package io.framecast.engine.node;

import io.framecast.api.error.FramecastException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.Transport;
import io.framecast.reliability.JoinAttempts;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/// Tells a source's operator who asked to join and is not ready, and why: a line each, and a notice once for each
/// address. By the sender's thread, but for [#lines].
final class UnreadyLines {
    // Whoever makes up addresses must not fill the log.
    private static final int NOTICES_MAX = 64;

    private final Transport transport;
    private final StreamInfo stream;
    private final JoinAttempts attempts;
    private final Consumer<String> notices;
    private final Set<LaneAddress> noticed = new HashSet<>();
    private volatile List<String> lines = List.of();

    UnreadyLines(
            final Transport transport,
            final StreamInfo stream,
            final JoinAttempts attempts,
            final Consumer<String> notices) {
        this.transport = transport;
        this.stream = stream;
        this.attempts = attempts;
        this.notices = notices;
    }

    /// Any thread: those that are known now.
    List<String> lines() {
        return lines;
    }

    /// Looks anew; now and then.
    void look(final long nowNs) {
        if (attempts.changes() == 0) {
            return;
        }
        final List<String> next = new ArrayList<>();
        for (int place = 0; place < JoinAttempts.ATTEMPTS_MAX; place++) {
            final byte[] bytes = attempts.address(place, nowNs);
            if (bytes != null) {
                final LaneAddress address = new LaneAddress(bytes);
                final String line = describe(address) + " " + obstacle(place);
                next.add(line);
                if (noticed.size() < NOTICES_MAX && noticed.add(address)) {
                    notices.accept("publisher of " + stream.channel() + ": " + line);
                }
            }
        }
        lines = List.copyOf(next);
    }

    private String describe(final LaneAddress address) {
        try {
            return transport.describe(address);
        } catch (final FramecastException _) {
            return address.toString();
        }
    }

    private String obstacle(final int place) {
        return switch (attempts.obstacle(place)) {
            case NO_ANSWER ->
                "has asked to join " + attempts.joins(place) + " times: the answer, or a full-size datagram of "
                        + (stream.slotBytes() + DataLayout.LENGTH)
                        + " bytes, does not reach it; look at the firewall and the MTU on the way, or lower mtu= here";
            case RING_TOO_SMALL -> "was refused: its ring= is too small for frame-max; enlarge it, or leave it out";
            case FULL -> "was refused: as many subscribers as there is room for have joined";
        };
    }
}
