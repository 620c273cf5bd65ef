package io.framecast.samples;

import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.PublisherStats;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.samples.input.FrameInput;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Locale;
import org.agrona.concurrent.IdleStrategy;
import org.jspecify.annotations.Nullable;

/// Publishes an input from its first frame to end of stream, on the caller's thread. Frames up to the window are read
/// straight into the send window; longer ones through one reusable buffer.
final class PublishRun {
    /// A stopped publisher says goodbye, but does not keep the user waiting.
    private static final Duration STOPPED_LINGER = Duration.ofSeconds(2);

    private final Publisher publisher;
    private final FrameInput input;
    private final PublishPlan plan;
    private final Stop stop;
    private final Console console;
    private final FrameClaim claim = new FrameClaim();
    private final FrameChecksum checksum = new FrameChecksum();
    private final IdleStrategy idle = Idle.strategy();
    private boolean claimable = true;
    private long frameBytes;
    private long frames;
    private long bytes;
    private long firstNs;
    private long lastNs;
    private long endNs = Long.MAX_VALUE;
    private long disconnectedNs = -1;
    private @Nullable MemorySegment buffer;

    /// @param frameBytes length of a full frame
    PublishRun(
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

    /// @throws PeerLostException when subscribers were lost on the way
    /// @throws ConfigException when nobody came, or the input failed; end of stream was sent
    PublishResult run() {
        awaitSubscribers();
        stop.onRequest(input::cancel);
        try (Arena arena = Arena.ofConfined()) {
            publishFrames(arena);
        } catch (final IOException e) {
            publisher.close(STOPPED_LINGER);
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        } catch (final ConfigException e) {
            publisher.close(STOPPED_LINGER);
            throw e;
        }
        return finish();
    }

    private void awaitSubscribers() {
        final long startNs = System.nanoTime();
        while (publisher.readySubscribers() < plan.subscribers()) {
            requireOpen();
            final int ready = publisher.readySubscribers();
            if (stop.isRequested()) {
                throw new ConfigException("stopped while waiting for subscribers: nothing was published");
            }
            if (System.nanoTime() - startNs > plan.waitMax().toNanos()) {
                throw new ConfigException(String.format(
                        Locale.ROOT,
                        "no subscribers: %d of %d ready on %s after %s; start framecast subscribe",
                        ready,
                        plan.subscribers(),
                        publisher.channel(),
                        seconds(plan.waitMax())));
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

    private void publishFrames(final Arena arena) throws IOException {
        firstNs = System.nanoTime();
        lastNs = firstNs;
        endNs = plan.duration().compareTo(PublishPlan.FOREVER) >= 0
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

    /// A window of the publisher's own choosing may turn out to be shorter than a frame: then frames are offered.
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
            waitAfter(code);
            code = publisher.tryClaim(length, claim);
        }
        idle.reset();
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
        if (count > 0 && count < length && !reclaim(count, arena)) {
            return false;
        }
        if (count > 0) {
            final MemorySegment frame = claim.segment();
            checksum.update(frame);
            claim.commit(FrameOptions.KEYFRAME);
            countFrame(count);
        }
        return count > 0;
    }

    /// A pipe's last frame is known to be short only when it has been read: its bytes move to a claim of their length.
    private boolean reclaim(final long count, final Arena arena) {
        final MemorySegment kept = arena.allocate(count);
        MemorySegment.copy(claim.segment(), 0, kept, 0, count);
        claim.abort();
        // The bytes are taken from the input already, so that the end of time does not drop them.
        endNs = System.nanoTime() + plan.linger().toNanos();
        if (!awaitClaim(count)) {
            return false;
        }
        claim.segment().copyFrom(kept);
        return true;
    }

    private boolean offerNext(final long length, final Arena arena) throws IOException {
        if (buffer == null) {
            buffer = arena.allocate(frameBytes);
        }
        final long count = input.read(buffer.asSlice(0, length));
        if (count == 0) {
            return false;
        }
        final MemorySegment frame = buffer.asSlice(0, count);
        long code = offer(frame);
        // A frame longer than the window is taken in parts: once begun it is finished, whatever the time.
        while (code < 0) {
            if (stop.isRequested()) {
                return false;
            }
            waitAfter(code);
            code = offer(frame);
        }
        idle.reset();
        checksum.update(frame);
        countFrame(count);
        return true;
    }

    private long offer(final MemorySegment frame) {
        try {
            return publisher.offer(frame, FrameOptions.KEYFRAME);
        } catch (final IllegalArgumentException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        }
    }

    private void countFrame(final long length) {
        frames++;
        bytes += length;
        disconnectedNs = -1;
    }

    private void waitAfter(final long code) {
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
        idle.idle();
    }

    private void requireSomebody() {
        final long nowNs = System.nanoTime();
        disconnectedNs = disconnectedNs < 0 ? nowNs : disconnectedNs;
        final long evicted = publisher.stats().evictedSubscribers();
        if (evicted > 0 || nowNs - disconnectedNs > plan.waitMax().toNanos()) {
            throw new PeerLostException(
                    "no subscriber is left after " + frames + " frames; " + evicted + " of them fell silent");
        }
    }

    private void requireOpen() {
        publisher.failure().ifPresent(why -> {
            throw new TransportException(why);
        });
    }

    private PublishResult finish() {
        final boolean acknowledged = publisher.close(stop.isRequested() ? STOPPED_LINGER : plan.linger());
        final PublisherStats stats = publisher.stats();
        console.clearProgress();
        if (stats.evictedSubscribers() > 0) {
            throw new PeerLostException("subscribers that fell silent and were given up: " + stats.evictedSubscribers()
                    + "; " + frames + " frames were published");
        }
        if (!acknowledged && !stop.isRequested()) {
            throw new PeerLostException("not every subscriber acknowledged the last frame within "
                    + seconds(plan.linger()) + "; " + frames + " frames were published");
        }
        final String transport = publisher.channel().transport();
        return new PublishResult(
                transport, frameBytes, frames, bytes, checksum.hex(), stats.backPressured(), lastNs - firstNs);
    }

    private static String seconds(final Duration duration) {
        return duration.toMillis() / 1e3 + " s";
    }
}
