package io.framecast.samples.publish;

import io.framecast.api.DeviceSourceReport;
import io.framecast.api.Eviction;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.MemberStats;
import io.framecast.api.Publisher;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.samples.CommandException;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.FrameChecksum;
import io.framecast.samples.NodeOptions;
import io.framecast.samples.PeerLostException;
import io.framecast.samples.Stop;
import io.framecast.samples.input.FrameInput;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.jspecify.annotations.Nullable;

/// Publishes an input from its first frame to end of stream, on the caller's thread. Frames up to the window
/// are read straight into the send window; longer ones through one reusable buffer.
public final class PublishRun {
    // A share of the time for which one subscriber is worth naming.
    private static final double HELD_BACK_SHARE = 0.1;
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    // Between looks at whether to stop.
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final Duration STOPPED_LINGER = Duration.ofSeconds(2);

    private static final long STOP_NEWS_NS = 300_000_000;

    private final Publisher publisher;
    private final FrameInput input;
    private final PublishPlan plan;
    private final Stop stop;
    private final Console console;
    private final FrameClaim claim = new FrameClaim();
    private final FrameChecksum checksum = new FrameChecksum();
    // A demo runs four processes on machines with two cores: a loop that only spins would take the time that
    // another process needs.
    private final IdleStrategy idle = new BackoffIdleStrategy(20, 5, 2_000, 100_000);
    private boolean claimable = true;
    private long frameBytes;
    private long frames;
    private long bytes;
    private long firstNs;
    private long lastNs;
    private long endNs = Long.MAX_VALUE;
    private long disconnectedNs = -1;
    private boolean frameDropped;
    private List<MemberStats> members = List.of();
    private @Nullable MemorySegment buffer;
    private @Nullable DeviceInput device;

    /// @param frameBytes length of a full frame
    public PublishRun(
            final Publisher publisher,
            final FrameInput input,
            final PublishPlan plan,
            final long frameBytes,
            final Environment environment) {
        this.publisher = publisher;
        this.input = input;
        this.plan = plan;
        this.frameBytes = frameBytes;
        this.stop = environment.stop();
        this.console = environment.console();
        final long windowBytes = publisher.channel().stream().windowBytes();
        this.claimable = windowBytes == 0 || frameBytes <= windowBytes;
    }

    /// Publishes frames out of a device's memory; before [#run].
    void from(final DeviceInput deviceInput) {
        device = deviceInput;
        buffer = deviceInput.host();
        claimable = false;
    }

    /// A run that does not get to the end of its input sends no end of stream: subscribers must not take a
    /// part for the whole.
    ///
    /// @throws PeerLostException when subscribers were lost on the way
    /// @throws ConfigException when too few subscribers came, or the input failed
    /// @throws CommandException when the user ended it while it waited for subscribers
    ///
    /// @return whether the whole input was published, and not stopped by the user before its end
    public boolean run() {
        boolean whole = false;
        try (Arena arena = Arena.ofConfined()) {
            awaitSubscribers();
            stop.onRequest(input::cancel);
            publishUntilStopped(arena);
            // They leave once they have everything.
            members = publisher.stats().members();
            whole = !isCutShort();
        } finally {
            if (!whole) {
                publisher.abandon();
            }
        }
        if (whole) {
            close();
        }
        console.clearProgress();
        return whole;
    }

    /// Ctrl-C on a terminal also ends the user's ffmpeg, often before this process has heard of it: that is
    /// no failure of the input.
    private void publishUntilStopped(final Arena arena) {
        try {
            publishFrames(arena);
        } catch (final IOException | ConfigException e) {
            if (!isStoppedSoon()) {
                throw new ConfigException(String.valueOf(e.getMessage()), e);
            }
        }
    }

    private boolean isStoppedSoon() {
        final long startNs = System.nanoTime();
        while (!stop.isRequested() && System.nanoTime() - startNs < STOP_NEWS_NS) {
            LockSupport.parkNanos(this, STOP_NEWS_NS / 20);
        }
        return stop.isRequested();
    }

    private boolean isCutShort() {
        final boolean asked = frames >= plan.framesMax() || endNs - System.nanoTime() <= 0;
        return frameDropped || (stop.isRequested() && !plan.stopEnds() && !asked && input.isUnfinished());
    }

    private void awaitSubscribers() {
        final long startNs = System.nanoTime();
        while (publisher.readySubscribers() < plan.subscribers()) {
            requireOpen();
            final int ready = publisher.readySubscribers();
            if (stop.isRequested()) {
                throw new CommandException(
                        ExitStatus.INTERRUPTED, "interrupted while waiting for subscribers: nothing was published");
            }
            if (isLimited(plan.waitMax())
                    && System.nanoTime() - startNs > plan.waitMax().toNanos()) {
                throw new ConfigException(String.format(
                        Locale.ROOT,
                        "%s subscribers: %d of %d ready on %s after %s%s",
                        ready == 0 ? "no" : "too few",
                        ready,
                        plan.subscribers(),
                        publisher.channel(),
                        seconds(plan.waitMax()),
                        whyNotReady()));
            }
            if (console.isProgressDue()) {
                console.progress(
                        String.format(Locale.ROOT, "waiting, %d of %d subscribers ready;", ready, plan.subscribers()),
                        0,
                        0);
            }
            idle.idle();
        }
        idle.reset();
    }

    // 0 means for ever.
    private static boolean isLimited(final Duration longest) {
        return longest.isPositive();
    }

    private String whyNotReady() {
        final List<String> unready = publisher.unreadySubscribers();
        return unready.isEmpty()
                ? "; no other subscriber asked to join: start framecast subscribe, read its output, or look whether another"
                        + " source is on this channel: subscribers follow one"
                : ": " + String.join("; ", unready);
    }

    private void publishFrames(final Arena arena) throws IOException {
        firstNs = System.nanoTime();
        lastNs = firstNs;
        endNs = plan.duration().compareTo(NodeOptions.FOREVER) >= 0
                ? firstNs + Long.MAX_VALUE / 2
                : firstNs + plan.duration().toNanos();
        final Pacer pacer = new Pacer(plan.framesPerSecond(), firstNs);
        try (Deadline _ = new Deadline(input, endNs)) {
            publishPaced(pacer, arena);
        }
    }

    private void publishPaced(final Pacer pacer, final Arena arena) throws IOException {
        while (frames < plan.framesMax() && !isOver()) {
            pacer.await(stop, endNs);
            final long nextBytes = input.nextBytes();
            if (nextBytes == 0 || isOver() || !publish(nextBytes, arena)) {
                break;
            }
            lastNs = System.nanoTime();
            if (console.isProgressDue()) {
                console.progress("published", frames, bytes);
            }
        }
    }

    private boolean isOver() {
        return stop.isRequested() || endNs - System.nanoTime() <= 0;
    }

    /// @return false when the input or the time has ended
    private boolean publish(final long nextBytes, final Arena arena) throws IOException {
        return (claimable && claimOrFallBack(nextBytes))
                ? publishClaimed(nextBytes, arena)
                : offerNext(nextBytes, arena);
    }

    /// A window of the publisher's own choosing may turn out to be shorter than a frame: then frames are
    /// offered.
    ///
    /// @return whether frames can be claimed; the claim may still be empty when the time has ended
    private boolean claimOrFallBack(final long nextBytes) {
        try {
            awaitClaim(nextBytes);
            return true;
        } catch (final IllegalArgumentException e) {
            claimable = false;
            return false;
        }
    }

    private boolean awaitClaim(final long length) {
        long code = publisher.tryClaim(length, claim);
        while (code < 0 && !isOver()) {
            waitAfter(code, length);
            code = publisher.tryClaim(length, claim);
        }
        return code >= 0;
    }

    private boolean publishClaimed(final long length, final Arena arena) throws IOException {
        if (claim.segment().byteSize() == 0) {
            return false;
        }
        long count = 0;
        try {
            count = input.read(claim.segment());
        } finally {
            // Also when the read failed: a claim must not stay open.
            if (count == 0) {
                claim.abort();
            }
        }
        if (count == length) {
            checksum.update(claim.segment());
            claim.commit(plan.keyframes().of(frames));
            countFrame(count);
        }
        return count == length || (count > 0 && reclaim(count, arena));
    }

    /// A pipe's last frame is known to be short only when it has been read: its bytes move to a frame of
    /// their length.
    private boolean reclaim(final long count, final Arena arena) {
        final MemorySegment kept = arena.allocate(count);
        MemorySegment.copy(claim.segment(), 0, kept, 0, count);
        claim.abort();
        return offerWhole(kept);
    }

    private boolean offerNext(final long length, final Arena arena) throws IOException {
        if (buffer == null) {
            buffer = arena.allocate(frameBytes);
        }
        final long count = input.read(buffer.asSlice(0, length));
        return count > 0 && offerWhole(buffer.asSlice(0, count));
    }

    /// Its bytes are taken from the input already, and a frame longer than the window is taken in parts: only
    /// a stop ends the waiting, and not at once.
    private boolean offerWhole(final MemorySegment frame) {
        long stoppedNs = -1;
        if (device != null) {
            device.load(frame.byteSize());
        }
        long code = offer(frame);
        while (code < 0) {
            if (stop.isRequested()) {
                stoppedNs = stoppedNs < 0 ? System.nanoTime() : stoppedNs;
                frameDropped = System.nanoTime() - stoppedNs > STOPPED_LINGER.toNanos();
            }
            if (frameDropped) {
                return false;
            }
            waitAfter(code, frame.byteSize());
            code = offer(frame);
        }
        checksum.update(frame);
        countFrame(frame.byteSize());
        return true;
    }

    private long offer(final MemorySegment frame) {
        try {
            final FrameOptions options = plan.keyframes().of(frames);
            return device == null ? publisher.offer(frame, options) : device.offer(options);
        } catch (final IllegalArgumentException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        }
    }

    private void countFrame(final long length) {
        frames++;
        bytes += length;
        disconnectedNs = -1;
    }

    private void waitAfter(final long code, final long length) {
        if (code == Publisher.CLOSED) {
            requireOpen();
            throw new TransportException("the publisher was closed after " + frames + " frames");
        }
        if (code == Publisher.NOT_CONNECTED) {
            requireSomebody();
        } else {
            disconnectedNs = -1;
        }
        if (console.isProgressDue()) {
            console.progress("published", frames, bytes);
        }
        publisher.awaitRoom(length, LOOK);
    }

    /// A subscriber that left by itself has all that it wanted. A later subscriber cannot get the whole of an input
    /// with an end, so such a run ends at once; a live input goes on when another subscriber comes.
    private void requireSomebody() {
        if (plan.rejoins()) {
            requireSomebodyWithin(plan.rejoinMax(), "--rejoin");
            return;
        }
        if (plan.framesMax() < Long.MAX_VALUE || input.isUnfinished()) {
            throw new PeerLostException("no subscriber is left after " + frames + " frames"
                    + (evicted() > 0
                            ? "; " + evictions()
                            : ": all left before the end, and none is there for the rest"));
        }
        requireSomebodyWithin(plan.waitMax(), "--wait-timeout");
    }

    private void requireSomebodyWithin(final Duration longest, final String option) {
        final long nowNs = System.nanoTime();
        if (disconnectedNs < 0) {
            disconnectedNs = nowNs;
            console.line("no subscriber is left after " + frames + " frames"
                    + (evicted() > 0 ? "; " + evictions() : "") + ": waiting "
                    + (isLimited(longest) ? seconds(longest) + " " : "") + "for another (" + option + ")");
        }
        if (isLimited(longest) && nowNs - disconnectedNs > longest.toNanos()) {
            throw new PeerLostException("no subscriber is left after " + frames + " frames, and no other came within "
                    + seconds(longest) + " (" + option + ")");
        }
    }

    private long evicted() {
        return publisher.stats().evictedSubscribers();
    }

    private String evictions() {
        final List<String> lines = publisher.stats().evictions().stream()
                .map(one -> one.address() + " at " + TIME.format(one.time()) + ", " + one.reason())
                .toList();
        return evicted() + " subscriber(s) were evicted"
                + (lines.isEmpty()
                        ? ": silent for alive-timeout, or slower than their delivery=evict allows"
                        : ": " + String.join("; ", lines));
    }

    private void requireOpen() {
        publisher.failure().ifPresent(why -> {
            throw new TransportException(why);
        });
    }

    private void close() {
        final boolean acknowledged = publisher.close(stop.isRequested() ? STOPPED_LINGER : plan.linger());
        if (evicted() > 0 && !plan.rejoins()) {
            throw new PeerLostException(evictions() + "; " + frames + " frames were published");
        }
        if (!acknowledged && !stop.isRequested()) {
            throw new PeerLostException("not every subscriber acknowledged the last frame within "
                    + seconds(plan.linger()) + "; " + frames + " frames were published");
        }
    }

    long frames() {
        return frames;
    }

    private static Map<String, Object> sourceJson(final DeviceSourceReport report) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("read_max_bytes", report.readMaxBytes());
        json.put("gather_max_bytes", report.gatherMaxBytes());
        json.put("chunk_bytes", report.chunkBytes());
        json.put("refused", report.refused());
        return json;
    }

    Map<String, Object> json(final boolean whole) {
        final Map<String, Object> published = new LinkedHashMap<>();
        published.put("frames", frames);
        published.put("bytes", bytes);
        published.put("stream_crc32c", checksum.hex());
        published.put("back_pressured", publisher.stats().backPressured());
        published.put("sent_datagrams", publisher.stats().sentDatagrams());
        if (evicted() > 0) {
            published.put("evicted_subscribers", evicted());
        }
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("transport", publisher.channel().transport());
        if (device != null) {
            json.put("device", device.deviceName());
            device.report().ifPresent(report -> json.put("source_memory", sourceJson(report)));
        }
        json.put("frame_bytes", frameBytes);
        json.put("publisher", published);
        json.put("subscribers", members.stream().map(PublishRun::json).toList());
        if (evicted() > 0) {
            json.put(
                    "evictions",
                    publisher.stats().evictions().stream().map(PublishRun::json).toList());
        }
        if (!whole) {
            json.put("interrupted", true);
        }
        return json;
    }

    private static Map<String, Object> json(final MemberStats member) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("address", member.address());
        json.put("delivery", member.delivery());
        json.put("lag_datagrams", member.lagDatagrams());
        json.put("credit_datagrams", member.creditDatagrams());
        json.put("requested_repairs", member.requestedRepairs());
        json.put("held_back_s", member.heldBack().toMillis() / 1e3);
        return json;
    }

    private static Map<String, Object> json(final Eviction eviction) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("address", eviction.address());
        json.put("reason", eviction.reason());
        json.put("time", eviction.time().toString());
        return json;
    }

    // The member that held the publisher back most, if for a tenth of the time or more.
    private String holder(final long elapsedNs) {
        return members.stream()
                .max(Comparator.comparing(MemberStats::heldBack))
                .filter(member -> member.heldBack().toNanos() > elapsedNs * HELD_BACK_SHARE)
                .map(member -> String.format(
                        Locale.ROOT,
                        "%nof all subscribers %s (delivery=%s) held it back the longest: %s",
                        member.address(),
                        member.delivery(),
                        seconds(member.heldBack())))
                .orElse("");
    }

    String text() {
        final long elapsedNs = lastNs - firstNs;
        return String.format(
                        Locale.ROOT,
                        "published %,d frames, %,d bytes by %s%s in %.1f s (%.1f MB/s), crc32c %s, back-pressured %,d times",
                        frames,
                        bytes,
                        publisher.channel().transport(),
                        device == null ? "" : " from " + device.deviceName(),
                        elapsedNs / 1e9,
                        elapsedNs == 0 ? 0 : bytes * 1e3 / elapsedNs,
                        checksum.hex(),
                        publisher.stats().backPressured())
                + holder(elapsedNs);
    }

    private static String seconds(final Duration duration) {
        return duration.toMillis() / 1e3 + " s";
    }
}
