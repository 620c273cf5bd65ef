package io.framecast.perf.streaming;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.perf.harness.BackgroundLoad;
import io.framecast.perf.harness.FrameContent.Stamp;
import io.framecast.perf.harness.LinkMeter;
import io.framecast.perf.harness.ProcessCost;
import io.framecast.perf.harness.ProcessUse;
import java.io.IOException;
import java.util.function.DoubleSupplier;

/// Says which frame of a stream is next and when it may be sent: first some that do not count, then one at a
/// time, then as many under way as are allowed, then the last.
final class StreamingSource {
    private static final int FRAMES_MIN = 4;
    private static final int CHECKED_EVERY = 4;

    private final StreamingSpec spec;
    private final Acknowledgements acknowledgements;
    private final BackgroundLoad background;
    private final ProcessCost cost = new ProcessCost("");
    private final LinkMeter link;
    private Phase phase = Phase.LEAD;
    private long phaseBeginNs;
    private int phaseFrames;
    private long number = -1;
    private long firstOfMany;
    private Stamp stamp = new Stamp(-1, 0, 0);

    private enum Phase {
        LEAD,
        LONE,
        MANY,
        LAST
    }

    private StreamingSource(
            final StreamingSpec spec, final Acknowledgements acknowledgements, final BackgroundLoad background) {
        this.spec = spec;
        this.acknowledgements = acknowledgements;
        this.background = background;
        link = spec.linkMeter();
        phaseBeginNs = System.nanoTime();
    }

    /// How a scheme sends a frame.
    interface Sending {
        void send(Stamp stamp) throws IOException;
    }

    /// Sends a whole stream, once its receivers are there, and returns when they have it.
    ///
    /// @param device what the source's frames come from, or would
    /// @param controlPerDatagram asked at the end: as in [SentReport]
    static SentReport run(
            final StreamingSpec spec,
            final Acknowledgements acknowledgements,
            final DeviceBackend device,
            final String transport,
            final Sending sending,
            final DoubleSupplier controlPerDatagram)
            throws IOException {
        acknowledgements.accept(spec.receivers());
        try (BackgroundLoad background = spec.backgroundAtSource(device)) {
            final StreamingSource source = new StreamingSource(spec, acknowledgements, background);
            while (source.next()) {
                sending.send(source.stamp);
            }
            acknowledgements.await(source.number);
            final LinkMeter.Carried carried = source.link.end();
            background.end();
            final ProcessCost.Spent spent = source.cost.end();
            return new SentReport(
                    transport,
                    device.name(),
                    source.number + 1,
                    background.achievedMBps(),
                    spent.compilingShare(),
                    source.number + 1 - source.firstOfMany,
                    carried,
                    ProcessUse.of(spent),
                    controlPerDatagram.getAsDouble());
        }
    }

    /// Waits until a frame may be sent.
    ///
    /// @return its front; the same as before when there is none
    private boolean next() {
        if (phase == Phase.LAST) {
            return false;
        }
        number++;
        advance();
        acknowledgements.await(number - (phase == Phase.LONE ? 1 : spec.plan().inFlight()));
        phaseFrames++;
        stamp = new Stamp(number, System.nanoTime(), flags());
        return true;
    }

    private void advance() {
        final double ageSeconds = (System.nanoTime() - phaseBeginNs) / 1e9;
        if (phaseFrames < framesMin() || ageSeconds < seconds()) {
            return;
        }
        if (phase == Phase.LEAD) {
            // The measurement begins with nothing under way.
            acknowledgements.await(number - 1);
            background.begin();
            cost.begin();
        }
        phase = Phase.values()[phase.ordinal() + 1];
        if (phase == Phase.MANY) {
            acknowledgements.await(number - 1);
            firstOfMany = number;
            link.begin();
        }
        phaseFrames = 0;
        phaseBeginNs = System.nanoTime();
    }

    private int framesMin() {
        return switch (phase) {
            case LEAD -> isBrief() ? 2 : spec.framesUntilTouched();
            case LONE -> spec.plan().times().loneSeconds() == 0 ? 0 : isBrief() ? 3 : FRAMES_MIN;
            case MANY, LAST -> isBrief() ? 1 : FRAMES_MIN;
        };
    }

    private boolean isBrief() {
        return spec.plan().times().isBrief();
    }

    private double seconds() {
        return switch (phase) {
            case LEAD -> spec.plan().times().leadSeconds();
            case LONE -> spec.plan().times().loneSeconds();
            case MANY -> spec.plan().times().seconds();
            case LAST -> 0;
        };
    }

    private long flags() {
        return switch (phase) {
            case LEAD -> number % CHECKED_EVERY == 0 ? Stamp.CHECKED : 0;
            case LONE -> Stamp.LONE;
            case MANY -> Stamp.COUNTED;
            case LAST -> Stamp.LAST | Stamp.CHECKED;
        };
    }
}
