package io.framecast.perf.rivals;

import io.framecast.api.Channel;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameHandler;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.harness.CountersFile;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameStreams;
import io.framecast.perf.harness.ProcessCost;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/// Framecast with its default settings, by its public interface. Frames are made where they are sent from:
/// claimed, stamped, committed; those longer than the window are offered.
///
/// @param transport as a channel's URI names it
public record FramecastSystem(String transport, Sharing sharing, Protection protection) implements MeasuredSystem {
    private static final Duration LINGER = Duration.ofSeconds(20);
    private static final int FRAMES_PER_POLL = 64;

    // Untouched memory would be one page of zeros in the processor's cache: the window is written once, whole.
    private static final long FILL_BYTES = 64L << 20;
    private static final int FILL_FRAMES = 4;

    /// Processes that share what is received.
    public enum Sharing {
        /// Each receives by itself.
        NONE,
        /// One receives, and copies for the others are not Framecast's.
        LEADER_ALONE,
        /// Receivers of one host are a host group.
        RECEIVERS,
        /// Their source on that host is in the group.
        ALL
    }

    public FramecastSystem(final String transport, final Sharing sharing) {
        this(transport, sharing, Protection.PLAIN);
    }

    public static FramecastSystem over(final String transport, final Protection protection) {
        return new FramecastSystem(transport, Sharing.NONE, protection);
    }

    /// Into the host's memory, by itself.
    Channel hostChannel(final StreamSpec spec) {
        return channel(spec, DeviceChoice.HOST, false, "");
    }

    private Channel channel(final StreamSpec spec, final String device, final boolean isGroup, final String options) {
        final StreamSpec.Link link = spec.link();
        return Channel.parse("framecast:" + transport + "?group=" + link.group() + ":" + link.port() + "|interface="
                + spec.localAddress() + "|mtu=" + link.mtuBytes()
                + (link.socketBufferBytes() == 0 ? "" : "|socket-buffer=" + link.socketBufferBytes()) + "|frame-max="
                + spec.load().frameBytes() + "|device=" + device + "|host-group=" + (isGroup ? "bench" : "off")
                + (spec.isBystander() ? "|delivery=" + spec.load().bystander().delivery() : "")
                + options);
    }

    private static NodeConfig config(final StreamSpec spec) {
        return FrameStreams.config()
                .withFaults(new NodeConfig.Faults(spec.link().injectedLoss()));
    }

    @Override
    public SourceReport publish(final StreamSpec spec, final Runnable gone) throws IOException {
        try (CountersFile counters = CountersFile.create();
                Protection.Options options = protection.options();
                Framecast node = Framecast.launch(config(spec).withCountersFile(counters.path()));
                Publisher publisher =
                        node.publish(channel(spec, DeviceChoice.HOST, sharing == Sharing.ALL, options.text()))) {
            final EngineTraffic engine = new EngineTraffic(counters);
            FrameStreams.awaitReady(
                    publisher, sharing == Sharing.LEADER_ALONE ? 1 : spec.load().members());
            final FrameSource source = new FrameSource(
                    spec,
                    new ProcessCost(
                            spec.link().device(),
                            () -> engine.begin(publisher.stats().frames())));
            try (Arena arena = Arena.ofConfined()) {
                new Sending(publisher, source)
                        .run(spec.load().frameBytes(), spec.load().readers().areSumming(), arena);
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
        /// @param writes whether every byte of every frame is written
        void run(final int frameBytes, final boolean writes, final Arena arena) {
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
                    if (writes || sentBytes < filled) {
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
    public ReceiverReport subscribe(final StreamSpec spec) throws IOException {
        final StreamSpec.Readers readers = spec.load().readers();
        final boolean isGroup = sharing == Sharing.RECEIVERS || sharing == Sharing.ALL;
        DeviceChoice.limitLink(readers.linkBytesPerSecond());
        try (CountersFile counters = CountersFile.create();
                Protection.Options options = protection.options();
                Framecast node = Framecast.launch(
                        readers.areSumming() ? config(spec).withCountersFile(counters.path()) : config(spec));
                Subscriber subscriber =
                        node.subscribe(channel(spec, readers.choice().text(), isGroup, options.text()))) {
            if (spec.isBystander()) {
                return new FramecastBystander(subscriber, spec).run();
            }
            final ReceiverReport report;
            try (FrameReader reader = new FrameReader(spec, subscriber.device())) {
                final FrameHandler receiving = frame -> {
                    frame.awaitReady();
                    reader.onFrame(frame.region());
                    frame.close();
                };
                while (!reader.hasLast()) {
                    if (subscriber.poll(receiving, FRAMES_PER_POLL) == 0) {
                        FrameStreams.await(subscriber);
                    }
                }
                report = reader.report(FrameStreams.placement(subscriber), 0);
            }
            FrameStreams.awaitEnd(subscriber);
            final long dropped = subscriber.stats().droppedFrames();
            if (dropped > 0) {
                throw new IllegalStateException(dropped + " frames were never delivered");
            }
            return readers.areSumming() ? report.read(counters.sum(EngineCounter.RECEIVED_DATAGRAMS)) : report;
        }
    }
}
