package io.framecast.perf.chaos;

/// Says where a process is in the stream, now and then, and every pause between two frames that was long.
final class ProgressLine {
    private long lastNs;
    private long saidNs;

    void onFrame(final long frameId, final long frames) {
        final long nowNs = System.nanoTime();
        if (lastNs != 0 && nowNs - lastNs > ChildLines.GAP_MIN_NS) {
            ChaosChild.say(ChildLines.GAP + " " + lastNs + " " + nowNs);
        }
        if (nowNs - saidNs > ChildLines.PROGRESS_NS) {
            saidNs = nowNs;
            ChaosChild.say(ChildLines.PROGRESS + " " + frameId + " " + frames + " " + nowNs);
        }
        lastNs = nowNs;
    }
}
