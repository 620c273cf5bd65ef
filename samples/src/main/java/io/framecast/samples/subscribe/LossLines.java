package io.framecast.samples.subscribe;

import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.samples.Console;
import java.util.Arrays;
import java.util.Locale;

/// Reports lost frames to the user: the first at once, then the sum since, one line a second at most. One thread.
final class LossLines implements LossHandler {
    private static final long INTERVAL_NS = 1_000_000_000;

    private final Console console;
    private final long[] pending = new long[LossReason.values().length];
    private long pendingFrames;
    private long lastFrameId;
    private boolean reported;
    private long reportedNs;

    LossLines(final Console console) {
        this.console = console;
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        pending[reason.ordinal()] += count;
        pendingFrames += count;
        lastFrameId = Math.max(lastFrameId, firstFrameId + count - 1);
        if (!reported || System.nanoTime() - reportedNs >= INTERVAL_NS) {
            report();
        }
    }

    /// Reports the losses that no line has reported yet.
    void report() {
        if (pendingFrames == 0) {
            return;
        }
        reported = true;
        reportedNs = System.nanoTime();
        console.complain("lost " + pendingFrames + " frame(s) up to number " + lastFrameId + ":" + reasons());
        pendingFrames = 0;
        Arrays.fill(pending, 0);
    }

    private String reasons() {
        final StringBuilder text = new StringBuilder();
        for (final LossReason reason : LossReason.values()) {
            if (pending[reason.ordinal()] > 0) {
                text.append(text.isEmpty() ? " " : ", ")
                        .append(pending[reason.ordinal()])
                        .append(' ')
                        .append(name(reason));
            }
        }
        return text.toString();
    }

    static String name(final LossReason reason) {
        return reason.name().toLowerCase(Locale.ROOT);
    }
}
