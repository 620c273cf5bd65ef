package io.framecast.samples.subscribe;

import io.framecast.api.DeviceFrame;
import io.framecast.api.LossReason;
import io.framecast.api.PlacementReport;
import io.framecast.api.SourceOptions;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.error.ConfigException;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.session.EpochClock;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.FrameChecksum;
import io.framecast.samples.FrameWorker;
import io.framecast.samples.PeerLostException;
import io.framecast.samples.Stop;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Takes frames until end of stream, on the caller's thread: each is given to the worker, read back from
/// device memory into the host, checked and written.
final class SubscribeRun {
    // Between looks at whether to stop.
    // Frames and the stream's end wake the thread; it looks by itself for a stop and for --wait-timeout.
    private static final Duration LOOK = Duration.ofMillis(250);

    private final Subscriber subscriber;
    private final long framesMax;
    private final Duration waitMax;
    private @Nullable FrameWorker worker;
    private @Nullable FrameCheck check;
    private @Nullable FrameOutput output;
    private final Stop stop;
    private final Console console;
    private final boolean verbose;
    private final LossLines losses;
    private final SourceLines sources;
    private final UserBuffers buffers;
    private final FrameChecksum checksum = new FrameChecksum();
    // As the engine's: a step of the system clock does not distort a latency.
    private final EpochClock clock = EpochClock.ofProcess();
    private final SourceLatencies latencies = new SourceLatencies();
    private long frames;
    private long bytes;
    private long frameBytesMax;
    private long firstPublishNs;
    private long lastReadyNs;
    private boolean interrupted;
    // Of the newest frame.
    private FrameFormat format = FrameFormat.EMPTY;
    private MemorySegment host = MemorySegment.NULL;

    /// @param framesMax frames to take; `Long.MAX_VALUE` for all until end of stream
    /// @param buffers that are posted for the frames
    /// @param waitMax longest wait for a source; zero waits for ever
    /// @param verbose whether the placements that were not taken are shown
    SubscribeRun(
            final Subscriber subscriber,
            final UserBuffers buffers,
            final long framesMax,
            final Duration waitMax,
            final Environment environment,
            final boolean verbose) {
        this.subscriber = subscriber;
        this.buffers = buffers;
        this.framesMax = framesMax;
        this.waitMax = waitMax;
        this.stop = environment.stop();
        this.console = environment.console();
        this.verbose = verbose;
        losses = new LossLines(console);
        subscriber.onLoss(losses);
        sources = new SourceLines(console, subscriber.channel().stream());
        subscriber.onSource(sources);
    }

    /// Before the run: each frame is given to these, as far as they are there.
    SubscribeRun giveTo(
            final @Nullable FrameWorker frameWorker,
            final @Nullable FrameCheck frameCheck,
            final @Nullable FrameOutput frameOutput) {
        worker = frameWorker;
        check = frameCheck;
        output = frameOutput;
        return this;
    }

    /// @throws PeerLostException when the source was lost
    /// @throws ConfigException when no source was heard, or the join was refused
    void run() {
        final DeviceBackend device = subscriber.device();
        try (DeviceStream stream = device.openStream()) {
            takeFrames(stream);
        } finally {
            freeHost();
            losses.report();
        }
        console.clearProgress();
    }

    private void takeFrames(final DeviceStream stream) {
        final long startNs = System.nanoTime();
        while (frames < framesMax && !stop.isRequested()) {
            buffers.post();
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
                take(frame, stream);
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
                // The source has announced the end of its stream.
            }
        }
    }

    private void take(final DeviceFrame frame, final DeviceStream stream) {
        final long frameId = frame.frameId();
        final long length = frame.length();
        final MemorySegment target = hostMemory(length);
        boolean released = false;
        buffers.note(frame);
        try {
            frame.awaitReady();
            noteReady(frame);
            if (worker != null) {
                worker.onFrame(frame);
            }
            stream.await(frame.ready());
            stream.copyToHost(target, 0, frame.region().address(), length);
            // The slots go back to the source as soon as the copy is done, not after the checks.
            frame.release(stream);
            released = true;
        } finally {
            if (!released) {
                frame.close();
            }
        }
        stream.synchronize();
        if (verbose && frames == 0) {
            subscriber.placement().ifPresent(report -> console.line("placement: " + report));
        }
        frames++;
        bytes += length;
        frameBytesMax = Math.max(frameBytesMax, length);
        consume(frameId, target);
        if (console.isProgressDue()) {
            console.progress("received", frames, bytes);
        }
    }

    // Pinned memory that grows to the longest frame seen.
    private MemorySegment hostMemory(final long length) {
        if (host.byteSize() < length) {
            freeHost();
            host = subscriber.device().allocatePinned(length);
        }
        return host.asSlice(0, length);
    }

    private void freeHost() {
        if (host.byteSize() > 0) {
            subscriber.device().freePinned(host);
            host = MemorySegment.NULL;
        }
    }

    private void noteReady(final DeviceFrame frame) {
        noteFormat(frame.format().orElse(FrameFormat.EMPTY));
        lastReadyNs = clock.epochNs();
        firstPublishNs = frames == 0 ? frame.sourceTimestampNs() : firstPublishNs;
        latencies.record(
                frame.session(), lastReadyNs - frame.sourceTimestampNs(), frame.clockOffsetNs(), frame.clockErrorNs());
    }

    private void noteFormat(final FrameFormat ofFrame) {
        if (!ofFrame.equals(format)) {
            format = ofFrame;
            if (verbose && !format.equals(FrameFormat.EMPTY)) {
                console.line("format: " + format);
            }
        }
    }

    private void consume(final long frameId, final MemorySegment frame) {
        checksum.update(frame);
        if (check != null) {
            check.check(frameId, frame);
        }
        if (output != null) {
            output.write(frame);
        }
    }

    /// Whether the user stopped the run before the stream's end: more frames may have followed.
    boolean isInterrupted() {
        return interrupted;
    }

    long frames() {
        return frames;
    }

    /// The first wrong content, in one line; empty when no frame was wrong, or none was checked.
    String mismatch() {
        return check == null ? "" : check.firstMismatch();
    }

    /// Payload, in units of 10^6 bytes per second, rounded to a kilobyte.
    private double goodputMBps() {
        final long spanNs = lastReadyNs + latencies.offsetNs() - firstPublishNs;
        return spanNs <= 0 ? 0 : Math.round(bytes * 1e6 / spanNs) / 1e3;
    }

    private Map<String, Object> subscriberJson() {
        final SubscriberStats stats = subscriber.stats();
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("frames", frames);
        json.put("bytes", bytes);
        json.put("stream_crc32c", checksum.hex());
        if (!format.equals(FrameFormat.EMPTY)) {
            json.put("format", FormatJson.of(format));
        }
        json.put("in_place_frames", stats.inPlaceFrames());
        if (buffers.isUsed()) {
            json.put("posted_frames", buffers.filled());
        }
        json.put("reassembled_bytes", stats.reassembledBytes());
        json.put("repaired_datagrams", stats.repairedDatagrams());
        json.put("dropped_frames", stats.droppedFrames());
        if (!subscriber.channel().stream().sources().hostGroup().equals(SourceOptions.NO_HOST_GROUP)) {
            json.put("received_datagrams", receivedDatagrams());
        }
        final Map<String, Object> lost = new LinkedHashMap<>();
        for (final LossReason reason : LossReason.values()) {
            lost.put(LossLines.name(reason), stats.lost().of(reason));
        }
        json.put("lost_frames", lost);
        json.put("sources", sources.joined());
        json.put("rejoins", stats.rejoins());
        json.put("latency_us", latencies.json());
        if (!latencies.sourcesJson().isEmpty()) {
            json.put("source_latency_us", latencies.sourcesJson());
        }
        return json;
    }

    // All bytes that this process read from its sockets, for itself and for other processes of its host.
    private static long receivedDatagrams() {
        long sum = 0;
        for (final Path file : CounterReader.own()) {
            try (CounterReader reader = CounterReader.open(file)) {
                sum += reader.samples().stream()
                        .filter(sample -> sample.name().equals(EngineCounter.RECEIVED_DATAGRAMS.exportedName()))
                        .mapToLong(CounterSample::value)
                        .sum();
            } catch (final ConfigException e) {
                // Its node was closed just now.
            }
        }
        return sum;
    }

    Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("transport", subscriber.channel().transport());
        json.put("device", subscriber.device().name());
        subscriber.placement().ifPresent(report -> json.put("placement", placementJson(report)));
        json.put("frame_bytes", frameBytesMax);
        json.put("subscribers", List.of(subscriberJson()));
        json.put("goodput_MBps", goodputMBps());
        if (check != null) {
            json.put("verified", mismatch().isEmpty());
        }
        if (worker != null) {
            json.put("worker", worker.summary());
        }
        if (interrupted) {
            json.put("interrupted", true);
        }
        return json;
    }

    private static Map<String, Object> placementJson(final PlacementReport report) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("way", report.kind().word());
        if (report.fastcopyMaxBytes() > 0) {
            json.put("fastcopy_max_bytes", report.fastcopyMaxBytes());
        }
        final Map<String, Object> refused = new LinkedHashMap<>();
        report.refused().forEach(refusal -> refused.put(refusal.kind().word(), refusal.reason()));
        json.put("refused", refused);
        if (!report.frames().isEmpty()) {
            json.put("frames", new TreeMap<>(report.frames()));
        }
        return json;
    }

    String text() {
        final SubscriberStats stats = subscriber.stats();
        final List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "received %,d frames, %,d bytes by %s into %s%s (%.1f MB/s), crc32c %s",
                frames,
                bytes,
                subscriber.channel().transport(),
                subscriber.device().name(),
                subscriber.placement().map(report -> ", " + report.summary()).orElse(""),
                goodputMBps(),
                checksum.hex()));
        lines.add(String.format(
                Locale.ROOT,
                "in place %,d frames, reassembled %,d bytes, repaired %,d datagrams, dropped %,d frames",
                stats.inPlaceFrames(),
                stats.reassembledBytes(),
                stats.repairedDatagrams(),
                stats.droppedFrames()));
        if (buffers.isUsed()) {
            lines.add(String.format(Locale.ROOT, "in posted buffers %,d frames", buffers.filled()));
        }
        if (sources.joined() > 1) {
            lines.add(String.format(
                    Locale.ROOT, "sources joined %,d, of these %,d after a loss", sources.joined(), stats.rejoins()));
        }
        lines.addAll(latencies.lines());
        if (check != null) {
            lines.add(mismatch().isEmpty() ? "verified" : "MISMATCH: " + mismatch());
        }
        if (worker != null) {
            worker.summary().forEach((key, value) -> lines.add(key.replace('_', ' ') + ": " + value));
        }
        return String.join(System.lineSeparator(), lines);
    }
}
