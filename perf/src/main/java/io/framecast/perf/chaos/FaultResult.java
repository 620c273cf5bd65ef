package io.framecast.perf.chaos;

import java.util.List;
import java.util.Map;

/// A fault, its expected outcome, and its outcome.
///
/// @param atMs when, since the faults began
/// @param deaths how many were to be evicted
/// @param unmet expectations that were not met; empty is well
/// @param stallMs the longest pause between two frames of each subscriber that was to go on, in milliseconds
record FaultResult(
        long atMs,
        String fault,
        String target,
        String expectation,
        String outcome,
        int deaths,
        List<String> unmet,
        Map<String, Long> stallMs) {
    boolean isMet() {
        return unmet.isEmpty();
    }

    long longestStallMs() {
        return stallMs.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }
}
