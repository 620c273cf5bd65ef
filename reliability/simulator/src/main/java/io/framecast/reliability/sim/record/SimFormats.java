package io.framecast.reliability.sim.record;

import io.framecast.reliability.wire.FormatLayout;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// The formats of a simulated publisher's frames: more of them than there are numbers, some of them again and
/// again.
public final class SimFormats {
    private static final int KINDS = 3 * FormatLayout.NUMBERS;
    private static final byte[] NONE = {};

    private final SplittableRandom random;
    private final int mean;
    private byte[] wanted = NONE;
    private byte[] current = NONE;
    private int left;
    private boolean another;

    /// @param mean frames between two changes; 0: no frame has a format
    public SimFormats(final int mean, final long seed) {
        this.mean = mean;
        // Of its own, so that formats change nothing else in a run.
        random = new SplittableRandom(seed);
    }

    /// Whether the next frame has another format than the one before.
    public boolean isDue() {
        if (mean > 0 && left == 0) {
            left = 1 + random.nextInt(2 * mean);
            wanted = draw();
            another = random.nextInt(4) == 0;
        }
        return wanted != current;
    }

    /// Whether the publisher means to give the next frame another format yet.
    public boolean isUndecided() {
        return isDue() && another;
    }

    /// A format that no frame will have, though the publisher asks for it; null for none.
    public byte @Nullable [] mistake() {
        another = false;
        final byte[] unwanted = draw();
        return unwanted.length == 0 ? null : unwanted;
    }

    private byte[] draw() {
        final int kind = random.nextInt(KINDS);
        if (kind == 0) {
            return NONE;
        }
        final byte[] bytes = new byte[1 + kind];
        new SplittableRandom(kind).nextBytes(bytes);
        return bytes;
    }

    /// The next frame's format; null for none.
    public byte @Nullable [] wanted() {
        return wanted.length == 0 ? null : wanted;
    }

    /// The window has a number for the next frame's format.
    public void change() {
        current = wanted;
    }

    /// The format of a frame that is published now.
    public byte[] take() {
        left--;
        return current;
    }
}
