package io.framecast.perf.rivals;

import io.framecast.api.DeviceFrame;
import io.framecast.api.Subscriber;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.Signal;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Takes frames as a [Bystander] does, until the stream or its membership ends.
final class FramecastBystander {
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final int TENTH = 10;
    private static final long PAUSE_MAX_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Subscriber subscriber;
    private final StreamSpec spec;
    private final GoodputMeter meter;
    private boolean stopped;
    private long firstNumber = -1;
    private long firstDueNs;

    FramecastBystander(final Subscriber subscriber, final StreamSpec spec) {
        this.subscriber = subscriber;
        this.spec = spec;
        meter = new GoodputMeter(spec);
    }

    /// @return what it was given; that it was evicted, or lost its source, is no failure
    ReceiverReport run() throws IOException {
        while (isOpen()) {
            final DeviceFrame frame = subscriber.poll();
            if (frame == null) {
                subscriber.awaitFrame(LOOK);
            } else {
                take(frame);
            }
        }
        return meter.report();
    }

    private boolean isOpen() {
        return switch (subscriber.state()) {
            case JOINING, READY -> true;
            case END_OF_STREAM, SOURCE_LOST, CLOSED -> false;
            case FAILED -> throw new IllegalStateException(subscriber.failure().orElse("the bystander failed"));
        };
    }

    private void take(final DeviceFrame frame) throws IOException {
        frame.awaitReady();
        final MemorySegment bytes = frame.region().host();
        meter.onFrame(bytes);
        final FrameContent.Stamp stamp = FrameContent.read(bytes, 0);
        final long number = stamp.number();
        final long dueNs = stamp.dueNs();
        if (firstNumber < 0) {
            firstNumber = number;
            firstDueNs = dueNs;
        }
        switch (spec.load().bystander().pace()) {
            case HEALTHY -> {
                // Takes the next at once.
            }
            case TENTH -> pause(number, dueNs);
            case STOPPED -> stopOnce(dueNs);
        }
        frame.close();
    }

    // The stamps of frames show the rate of publishing, also where frames between them were dropped.
    private void pause(final long number, final long dueNs) {
        if (number == firstNumber || meter.hasLast()) {
            return;
        }
        final long endNs =
                System.nanoTime() + Math.min(PAUSE_MAX_NS, TENTH * (dueNs - firstDueNs) / (number - firstNumber));
        for (long leftNs = endNs - System.nanoTime(); leftNs > 0; leftNs = endNs - System.nanoTime()) {
            LockSupport.parkNanos(leftNs);
        }
    }

    private void stopOnce(final long dueNs) throws IOException {
        if (stopped || dueNs - firstDueNs < spec.load().warmUpNs() / 2) {
            return;
        }
        stopped = true;
        Signal.STOP.send(ProcessHandle.current().pid());
    }
}
