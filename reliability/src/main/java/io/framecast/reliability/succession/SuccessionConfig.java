package io.framecast.reliability.succession;

/// The times of a host group's succession that its members choose.
///
/// @param standstillNs a leader without a heartbeat for so long stands still; the same for all members of a group
/// @param rejoinNs how long a member waits for a publisher of its host that was lost
public record SuccessionConfig(long standstillNs, long rejoinNs) {
    public SuccessionConfig {
        if (standstillNs < SuccessionMachine.STILL_LOOKS) {
            throw new IllegalArgumentException("standstillNs: expected at least " + SuccessionMachine.STILL_LOOKS
                    + " ns, one for each look, got " + standstillNs);
        }
        if (rejoinNs < 0) {
            throw new IllegalArgumentException("rejoinNs: expected 0 or more, got " + rejoinNs);
        }
    }

    /// Time between two heartbeats of a leader, and between two looks of a follower.
    public long beatNs() {
        return standstillNs / SuccessionMachine.STILL_LOOKS;
    }
}
