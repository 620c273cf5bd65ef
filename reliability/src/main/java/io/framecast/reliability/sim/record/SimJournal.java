package io.framecast.reliability.sim.record;

import java.util.ArrayList;
import java.util.List;

/// The outcome of a run: violations, and a digest of every decision in order.
public final class SimJournal {
    private static final int VIOLATIONS_MAX = 20;

    private final List<String> violations = new ArrayList<>();
    private long digest;
    private long frames;
    private long reliableNs;

    /// A decision: three numbers that identify it.
    public void decide(final long what, final long subject, final long value) {
        digest = SimFrames.mix(digest ^ SimFrames.mix(what * 31 + subject) ^ (value * 0x9e3779b97f4a7c15L));
    }

    public void frame(final long timeNs, final long receiver, final long frameId) {
        frames++;
        decide(timeNs, receiver, frameId);
    }

    /// A reliable receiver got a frame.
    public void reliable(final long timeNs) {
        reliableNs = timeNs;
    }

    public long reliableNs() {
        return reliableNs;
    }

    public void violation(final long timeNs, final String text) {
        if (violations.size() < VIOLATIONS_MAX) {
            violations.add("at " + timeNs / 1_000 + " us: " + text);
        }
    }

    public boolean isClean() {
        return violations.isEmpty();
    }

    public List<String> violations() {
        return List.copyOf(violations);
    }

    public long digest() {
        return digest;
    }

    public long frames() {
        return frames;
    }
}
