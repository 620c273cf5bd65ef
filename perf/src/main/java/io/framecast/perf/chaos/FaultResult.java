package io.framecast.perf.chaos;

import java.util.List;
import java.util.Map;

/// A fault, what was to come of it, and what did.
///
/// @param atMs when, since the faults began
/// @param deaths who was to be evicted
/// @param unmet what was expected and did not come; empty is well
/// @param stallMs the longest pause between two frames of each who was to go on, in milliseconds
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
