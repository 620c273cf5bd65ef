package io.framecast.perf.rivals;

import io.framecast.api.Channel;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameHandler;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.perf.harness.CountersFile;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameStreams;
import io.framecast.perf.harness.ProcessCost;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Framecast with its default settings, by its public interface. Frames are made where they are sent from:
/// claimed, stamped, committed; those longer than the window are offered.
///
/// @param transport as a channel's URI names it
/// @param hostGroup whether the receivers of one host share what they receive
public record FramecastSystem(String transport, boolean hostGroup) implements MeasuredSystem {
    // A leader is ready before its followers have mapped what it shares.
    private static final long FOLLOWERS_NS = 500_000_000;
    private static final Duration LINGER = Duration.ofSeconds(20);
    private static final int FRAMES_PER_POLL = 64;

    // Untouched memory would be one page of zeros in the processor's cache: the window is written once, whole.
    private static final long FILL_BYTES = 64L << 20;
    private static final int FILL_FRAMES = 4;

    public static FramecastSystem over(final String transport) {
        return new FramecastSystem(transport, false);
    }

    public static FramecastSystem ofHostGroup() {
        return new FramecastSystem("udp", true);
    }

    private Channel channel(final StreamSpec spec) {
        final StreamSpec.Link link = spec.link();
        return Channel.parse("framecast:" + transport + "?group=" + link.group() + ":" + link.port() + "|interface="
                + spec.localAddress() + "|mtu=" + link.mtuBytes()
                + (link.socketBufferBytes() == 0 ? "" : "|socket-buffer=" + link.socketBufferBytes()) + "|frame-max="
                + spec.load().frameBytes() + "|device=host"
                + (hostGroup ? "|host-group=bench" : "")
                + (spec.isBystander() ? "|delivery=" + spec.load().bystander().delivery() : ""));
    }

    private static NodeConfig config(final StreamSpec spec) {
        return FrameStreams.config()
                .withFaults(new NodeConfig.Faults(spec.link().injectedLoss()));
    }

    @Override
    public SourceReport publish(final StreamSpec spec, final Runnable gone) {
        try (CountersFile counters = CountersFile.create();
                Framecast node = Framecast.launch(config(spec).withCountersFile(counters.path()));
                Publisher publisher = node.publish(channel(spec))) {
            final EngineTraffic engine = new EngineTraffic(counters);
            FrameStreams.awaitReady(publisher, hostGroup ? 1 : spec.load().members());
            if (hostGroup) {
                LockSupport.parkNanos(FOLLOWERS_NS);
            }
            final FrameSource source = new FrameSource(
                    spec,
                    new ProcessCost(
                            spec.link().device(),
                            () -> engine.begin(publisher.stats().frames())));
            try (Arena arena = Arena.ofConfined()) {
                new Sending(publisher, source).run(spec.load().frameBytes(), arena);
            }
            // A bystander, which the source does not wait for, may keep the window from getting empty.
            if (spec.load().bystanders() == 0) {
                engine.awaitDrained();
            }
            requireReceivers(publisher, spec);
            final SourceReport report = source.report(
                    publisher.channel().transport(),
                    engine.sent(publisher.stats().frames()));
            if (!publisher.close(LINGER)) {
                throw new IllegalStateException("the receivers did not acknowledge the stream");
            }
            return report;
        }
    }

    private static void requireReceivers(final Publisher publisher, final StreamSpec spec) {
        FrameStreams.requireOpen(publisher);
        if (publisher.stats().evictedSubscribers() > spec.load().bystanders()) {
            throw new IllegalStateException(publisher.stats().evictedSubscribers() + " of "
                    + spec.load().receivers() + " receivers were evicted");
        }
    }

    /// The loop of a publisher.
    private record Sending(Publisher publisher, FrameSource source) {
        void run(final int frameBytes, final Arena arena) {
            final MemorySegment noise = arena.allocate(frameBytes, Long.BYTES);
            FrameContent.fill(noise);
            final FrameClaim claim = new FrameClaim();
            final long filled = Math.max(FILL_BYTES, (long) FILL_FRAMES * frameBytes);
            boolean claims = true;
            long sentBytes = 0;
            while (source.next()) {
                claims = claims && claim(frameBytes, claim);
                if (claims) {
                    final MemorySegment frame = claim.segment();
                    if (sentBytes < filled) {
                        frame.copyFrom(noise);
                    }
                    FrameContent.stampEnds(frame, source.stamp());
                    claim.commit(FrameOptions.DEFAULT);
                } else {
                    FrameContent.stampEnds(noise, source.stamp());
                    offer(noise);
                }
                sentBytes += frameBytes;
            }
        }

        /// @return false when the window cannot hold a frame, so that it must be offered in parts
        private boolean claim(final int frameBytes, final FrameClaim claim) {
            try {
                FrameStreams.claim(publisher, frameBytes, claim);
                return true;
            } catch (final IllegalArgumentException e) {
                return false;
            }
        }

        private void offer(final MemorySegment frame) {
            while (FrameStreams.mustWait(publisher, publisher.offer(frame, FrameOptions.DEFAULT), frame.byteSize())) {
                // Awaited.
            }
        }
    }

    @Override
    public ReceiverReport subscribe(final StreamSpec spec) {
        try (Framecast node = Framecast.launch(config(spec));
                Subscriber subscriber = node.subscribe(channel(spec))) {
            if (spec.isBystander()) {
                return new FramecastBystander(subscriber, spec).run();
            }
            final GoodputMeter meter = new GoodputMeter(spec);
            final FrameHandler receiving = frame -> {
                frame.awaitReady();
                meter.onFrame(frame.region().host());
                frame.close();
            };
            while (!meter.hasLast()) {
                if (subscriber.poll(receiving, FRAMES_PER_POLL) == 0) {
                    FrameStreams.await(subscriber);
                }
            }
            final ReceiverReport report = meter.report();
            FrameStreams.awaitEnd(subscriber);
            final long dropped = subscriber.stats().droppedFrames();
            if (dropped > 0) {
                throw new IllegalStateException(dropped + " frames were never delivered");
            }
            return report;
        }
    }
}
