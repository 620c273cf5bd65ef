package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimFrames;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// One life of the source: its published frames, and all receivers that asked to join.
final class SimSession {
    private final long nonce;
    private final long ghostNonce;
    private final SimFrames frames;
    private final Map<Long, SimReception> receptions = new HashMap<>();
    // In order of their beginning, without those to which the source has no more duties.
    private final List<SimReception> counted = new ArrayList<>();
    private final SimClock clock;
    private final long epochOffsetNs;
    private boolean ending;
    private boolean closed;

    private SimSession(
            final long nonce,
            final long ghostNonce,
            final SimFrames frames,
            final SimClock clock,
            final long epochOffsetNs) {
        this.nonce = nonce;
        this.ghostNonce = ghostNonce;
        this.frames = frames;
        this.clock = clock;
        this.epochOffsetNs = epochOffsetNs;
    }

    /// The session that follows another, or the first. Half of them share the low half of their nonce with the
    /// one before, or with their ghost: headers carry only that half in clear.
    static SimSession after(
            final @Nullable SimSession before,
            final RandomGenerator random,
            final SimOptions options,
            final SimClock clock,
            final long epochOffsetNs) {
        // Added, so that all sessions and ghosts have different nonces.
        final long nonce = before != null && random.nextBoolean()
                ? before.nonce + ((1L + random.nextInt(1000)) << 32)
                : random.nextLong();
        final long ghost = random.nextBoolean() ? nonce - ((10_001L + random.nextInt(1000)) << 32) : random.nextLong();
        final SimFrames frames =
                new SimFrames(random.nextLong(), options.stream().firstFrameId());
        return new SimSession(nonce, ghost, frames, clock, epochOffsetNs);
    }

    long nonce() {
        return nonce;
    }

    /// Another session on the same channel, whose datagrams must be refused.
    long ghostNonce() {
        return ghostNonce;
    }

    SimFrames frames() {
        return frames;
    }

    long epochOffsetNs() {
        return epochOffsetNs;
    }

    /// The source's calendar, which stamps frames, at a time of the true clock.
    long calendarNs(final long trueNs) {
        return clock.at(trueNs) + epochOffsetNs;
    }

    void add(final SimReception reception) {
        receptions.put(reception.id(), reception);
        counted.add(reception);
    }

    @Nullable
    SimReception reception(final long id) {
        return receptions.get(id);
    }

    /// Receptions to which the source may still have duties.
    List<SimReception> counted() {
        return counted;
    }

    /// Forgets the receptions to which the source has no more duties.
    void prune() {
        counted.removeIf(reception -> reception.life().isOver());
    }

    /// Whether the publisher ends its stream only when all receivers that run are members: half of them do. Where
    /// all receivers are there before the first frame, each does.
    ///
    /// @param quiet whether they are
    boolean waitsForAll(final boolean quiet) {
        // Drawn by its number: nothing else in the run changes.
        return quiet || (nonce >>> 8 & 1) == 0;
    }

    /// The source announces the end of the stream: no receiver joins from now on.
    void end() {
        ending = true;
    }

    boolean isEnding() {
        return ending;
    }

    /// The source closed in the middle of its last frame.
    void close() {
        closed = true;
    }

    boolean isClosed() {
        return closed;
    }
}
