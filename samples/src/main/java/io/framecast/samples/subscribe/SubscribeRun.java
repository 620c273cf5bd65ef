package io.framecast.samples.subscribe;

import io.framecast.api.DeviceFrame;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceStream;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.FrameChecksum;
import io.framecast.samples.FrameWorker;
import io.framecast.samples.PeerLostException;
import io.framecast.samples.Stop;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/// Takes frames until end of stream, on the caller's thread: each is given to the worker, read back from
/// device memory into the host, checked and written.
final class SubscribeRun {
    private static final int HISTOGRAM_DIGITS = 3;
    // Between looks at whether to stop.
    private static final Duration LOOK = Duration.ofMillis(20);

    private final Subscriber subscriber;
    private final long framesMax;
    private final Duration waitMax;
    private final Consumers consumers;
    private final Stop stop;
    private final Console console;
    private final LossLines losses;
    private final SourceLines sources;
    private final FrameChecksum checksum = new FrameChecksum();
    private final Histogram latencyNs = new Histogram(HISTOGRAM_DIGITS);
    private long frames;
    private long bytes;
    private long frameBytesMax;
    private long firstPublishNs;
    private long lastReadyNs;
    private boolean interrupted;

    /// Who takes the frames; each may be absent.
    record Consumers(
            @Nullable FrameWorker worker,
            @Nullable FrameCheck check,
            @Nullable FrameOutput output) {}

    /// @param framesMax frames to take; `Long.MAX_VALUE` for all until end of stream
    /// @param waitMax longest wait for a source; zero waits for ever
    SubscribeRun(
            final Subscriber subscriber,
            final long framesMax,
            final Duration waitMax,
            final Consumers consumers,
            final Environment environment) {
        this.subscriber = subscriber;
        this.framesMax = framesMax;
        this.waitMax = waitMax;
        this.consumers = consumers;
        this.stop = environment.stop();
        this.console = environment.console();
        losses = new LossLines(console);
        subscriber.onLoss(losses);
        sources = new SourceLines(console, subscriber.channel().stream().sources());
        subscriber.onSource(sources);
    }

    /// @throws PeerLostException when the source was lost
    /// @throws ConfigException when no source was heard, or the join was refused
    SubscribeResult run() {
        final DeviceBackend device = subscriber.device();
        try (DeviceStream stream = device.openStream();
                HostBuffer buffer = new HostBuffer(device)) {
            takeFrames(stream, buffer);
        } finally {
            losses.tell();
        }
        console.clearProgress();
        return result(device.name());
    }

    private void takeFrames(final DeviceStream stream, final HostBuffer buffer) {
        final long startNs = System.nanoTime();
        while (frames < framesMax && !stop.isRequested()) {
            DeviceFrame frame = subscriber.poll();
            if (frame == null && !isOpen(startNs)) {
                // The state may have changed behind the poll that found nothing.
                frame = subscriber.poll();
                if (frame == null) {
                    requireGoodEnd();
                    return;
                }
            }
            if (frame == null) {
                subscriber.awaitFrame(LOOK);
            } else {
                take(frame, stream, buffer);
            }
        }
        interrupted = frames < framesMax;
    }

    /// @return whether frames may still come
    private boolean isOpen(final long startNs) {
        final Subscriber.State state = subscriber.state();
        final long waitMaxNs = waitMax.toNanos();
        if (state == Subscriber.State.JOINING && frames == 0) {
            if (waitMaxNs > 0 && System.nanoTime() - startNs > waitMaxNs) {
                throw new ConfigException(nothingCame());
            }
            if (console.isProgressDue()) {
                console.progress("waiting for a source;", 0, 0);
            }
        }
        return state == Subscriber.State.JOINING || state == Subscriber.State.READY;
    }

    private String nothingCame() {
        final String seconds = String.format(Locale.ROOT, "within %s s", waitMax.toMillis() / 1e3);
        return subscriber
                .failure()
                .map(why -> "no frame came on " + subscriber.channel() + " " + seconds + ": " + why)
                .orElseGet(() -> "no source was heard on " + subscriber.channel() + " " + seconds
                        + "; start framecast publish, or look at group and interface");
    }

    private void requireGoodEnd() {
        final String why = subscriber.failure().orElse("no reason was given");
        switch (subscriber.state()) {
            case SOURCE_LOST ->
                throw new PeerLostException(
                        "source lost after " + frames + " frames: " + why.replaceFirst("^source lost: ", ""));
            case FAILED -> throw new ConfigException(why);
            case CLOSED -> throw new ConfigException("the subscriber was closed after " + frames + " frames: " + why);
            case END_OF_STREAM, JOINING, READY -> {
                // The source said that this was all.
            }
        }
    }

    private void take(final DeviceFrame frame, final DeviceStream stream, final HostBuffer buffer) {
        final long frameId = frame.frameId();
        final long length = frame.length();
        final MemorySegment host = buffer.ofBytes(length);
        boolean released = false;
        try {
            frame.awaitReady();
            noteReady(frame.sourceTimestampNs());
            if (consumers.worker() != null) {
                consumers.worker().onFrame(frame);
            }
            stream.await(frame.ready());
            stream.copyToHost(host, 0, frame.region().address(), length);
            // The slots go back to the source as soon as the copy is done, not after the checks.
            frame.release(stream);
            released = true;
        } finally {
            if (!released) {
                frame.close();
            }
        }
        stream.synchronize();
        frames++;
        bytes += length;
        frameBytesMax = Math.max(frameBytesMax, length);
        consume(frameId, host);
        if (console.isProgressDue()) {
            console.progress("received", frames, bytes);
        }
    }

    private void noteReady(final long publishNs) {
        lastReadyNs = epochNs();
        firstPublishNs = frames == 0 ? publishNs : firstPublishNs;
        // Two machines' clocks may disagree by more than a frame takes.
        latencyNs.recordValue(Math.max(0, lastReadyNs - publishNs));
    }

    private void consume(final long frameId, final MemorySegment frame) {
        checksum.update(frame);
        if (consumers.check() != null) {
            consumers.check().check(frameId, frame);
        }
        if (consumers.output() != null) {
            consumers.output().write(frame);
        }
    }

    private SubscribeResult result(final String device) {
        final FrameCheck check = consumers.check();
        final FrameWorker worker = consumers.worker();
        final Map<String, Object> summary = worker == null ? null : worker.summary();
        return new SubscribeResult(
                new SubscribeResult.Route(
                        subscriber.channel().transport(),
                        device,
                        subscriber.placement().orElse(null)),
                frameBytesMax,
                new SubscribeResult.FrameTally(frames, bytes, checksum.hex(), sources.joined(), interrupted),
                subscriber.stats(),
                latencyNs,
                lastReadyNs - firstPublishNs,
                new SubscribeResult.Check(check != null, check == null ? "" : check.firstMismatch()),
                summary);
    }

    private static long epochNs() {
        final Instant now = Instant.now();
        return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    }
}
