package io.framecast.samples.subscribe;

import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.samples.Console;
import io.framecast.samples.Report;
import java.util.Locale;

/// Tells people of lost frames: the first at once, then what came since, one line a second at most. One
/// thread.
final class LossLines implements LossHandler {
    private static final long INTERVAL_NS = 1_000_000_000;

    private final Console console;
    private final long[] untold = new long[LossReason.values().length];
    private long untoldFrames;
    private long lastFrameId;
    private boolean told;
    private long toldNs;

    LossLines(final Console console) {
        this.console = console;
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        untold[reason.ordinal()] += count;
        untoldFrames += count;
        lastFrameId = Math.max(lastFrameId, firstFrameId + count - 1);
        if (!told || System.nanoTime() - toldNs >= INTERVAL_NS) {
            tell();
        }
    }

    /// Tells what is left.
    void tell() {
        if (untoldFrames == 0) {
            return;
        }
        told = true;
        toldNs = System.nanoTime();
        console.line(
                Report.COMPLAINT + "lost " + untoldFrames + " frame(s) up to number " + lastFrameId + ":" + reasons());
        untoldFrames = 0;
        java.util.Arrays.fill(untold, 0);
    }

    private String reasons() {
        final StringBuilder text = new StringBuilder();
        for (final LossReason reason : LossReason.values()) {
            if (untold[reason.ordinal()] > 0) {
                text.append(text.isEmpty() ? " " : ", ")
                        .append(untold[reason.ordinal()])
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
