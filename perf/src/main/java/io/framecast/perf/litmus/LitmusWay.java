package io.framecast.perf.litmus;

import io.framecast.gpu.emulated.EmulatedConfig;
import java.util.Locale;

/// How a round waits for what it needs.
enum LitmusWay {
    /// A stream of the user's waits for `ready`; the frame is released on it.
    READY_EVENT(false),
    /// The stream that the frame offers.
    FRAME_STREAM(false),
    /// The thread waits.
    AWAIT_READY(false),
    /// To the device: nothing waits. From it: what is offered is said to be written before it is.
    MISSING_WAIT(true),
    /// To the device: the frame is closed when its kernel was launched, not when it ran. From it: the next
    /// frame is written over one that is being sent.
    EARLY_RELEASE(true);

    private final boolean planted;

    LitmusWay(final boolean planted) {
        this.planted = planted;
    }

    /// Whether it breaks the contract, and must be caught.
    boolean planted() {
        return planted;
    }

    /// How late an emulated device runs its streams. To see a fault, later than a busy machine keeps a thread
    /// waiting; to keep the contract for thousands of rounds, less.
    EmulatedConfig.Disorder disorder(final long seed) {
        return new EmulatedConfig.Disorder(seed, planted ? 30_000_000 : 1_000_000);
    }

    /// Frames: where streams run so late, fewer are enough.
    long rounds(final long wanted, final boolean emulated) {
        return planted && emulated ? Math.min(wanted, 400) : wanted;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
