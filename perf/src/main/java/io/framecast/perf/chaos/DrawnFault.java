package io.framecast.perf.chaos;

/// A fault as it was drawn from the seed.
///
/// @param pauseMs after the fault before began, unless that is not settled yet
/// @param durationMs how long its target is stopped or cut off, or how long garbage comes; 0 for a kill
/// @param restartMs after its target's end until another takes its place
/// @param pick chooses among those who may be its target
record DrawnFault(FaultKind kind, long pauseMs, long durationMs, long restartMs, int pick, ChaosNetwork.Cut cut) {
    String text() {
        return switch (kind) {
            case KILL_SUBSCRIBER, KILL_CO_ROOT, KILL_CO_ROOTS -> kind.text();
            case STOP_SUBSCRIBER, STOP_CO_ROOT, STOP_SUBSCRIBER_LONG, STOP_CO_ROOT_LONG, GARBAGE ->
                kind.text() + " " + durationMs + " ms";
            case CUT_SUBSCRIBER, CUT_CO_ROOT, CUT_SUBSCRIBER_LONG, CUT_CO_ROOT_LONG ->
                kind.text() + (cut == ChaosNetwork.Cut.LINK ? " (link down) " : " (all dropped) ") + durationMs + " ms";
        };
    }
}
