package io.framecast.perf.chaos;

/// A fault as it was drawn from the seed.
///
/// @param pauseMs after the fault before began, unless that is not settled yet
/// @param durationMs how long its target is stopped or cut off, or how long garbage comes; 0 for a kill
/// @param restartMs after its target's end until another takes its place
/// @param pick chooses among the possible targets
record DrawnFault(FaultKind kind, long pauseMs, long durationMs, long restartMs, int pick, ChaosNetwork.Cut cut) {
    String text() {
        return switch (kind.action()) {
            case KILL -> kind.text();
            case STOP, SLOW, ATTACK -> kind.text() + " " + durationMs + " ms";
            case CUT ->
                kind.text() + (cut == ChaosNetwork.Cut.LINK ? " (link down) " : " (all dropped) ") + durationMs + " ms";
        };
    }
}
