package io.framecast.perf.rivals;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameHandler;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.agrona.concurrent.IdleStrategy;

/// Framecast with its default settings, by its public interface. Frames are made where they are sent from:
/// claimed, stamped, committed; those longer than the window are offered.
///
/// @param transport as a channel's URI names it
public record FramecastSystem(String transport) implements MeasuredSystem {
    private static final Duration LINGER = Duration.ofSeconds(20);
    // Between looks at whether the source is there.
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final int FRAMES_PER_POLL = 64;

    // Untouched memory would be one page of zeros in the processor's cache: the window is written once, whole.
    private static final long FILL_BYTES = 64L << 20;
    private static final int FILL_FRAMES = 4;

    private Channel channel(final StreamSpec spec) {
        final StreamSpec.Link link = spec.link();
        return Channel.parse("framecast:" + transport + "?group=" + link.group() + ":" + link.port() + "|interface="
                + link.localAddress() + "|mtu=" + link.mtuBytes()
                + (link.socketBufferBytes() == 0 ? "" : "|socket-buffer=" + link.socketBufferBytes()) + "|frame-max="
                + spec.load().frameBytes() + "|device=host"
                + (spec.isBystander() ? "|delivery=" + spec.load().bystander().delivery() : ""));
    }

    private static NodeConfig config(final StreamSpec spec) {
        return NodeConfig.DEFAULT
                .withFaults(new NodeConfig.Faults(spec.link().injectedLoss()))
                .withNotices(FramecastSystem::tell);
    }

    // Warnings (a socket buffer that is too small) belong to a measurement; what was chosen is in the report.
    private static void tell(final String notice) {
        if (!notice.startsWith("transport: ") && !notice.startsWith("device: ")) {
            System.err.println(notice);
        }
    }

    @Override
    public SourceReport publish(final StreamSpec spec, final Waiting gone) {
        final IdleStrategy idle = MeasuredSystem.idle();
        try (EngineTraffic engine = EngineTraffic.create();
                Framecast node = Framecast.launch(config(spec).withCountersFile(engine.file()));
                Publisher publisher = node.publish(channel(spec))) {
            while (publisher.readySubscribers() < spec.load().members()) {
                requireOpen(publisher);
                idle.idle();
            }
            final FrameSource source = new FrameSource(
                    spec,
                    new ProcessCost(
                            spec.link().device(),
                            () -> engine.begin(publisher.stats().frames())));
            try (Arena arena = Arena.ofConfined()) {
                new Sending(publisher, source).run(spec.load().frameBytes(), arena);
            }
            // Who is not waited for may keep the window from getting empty.
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

    private static void requireOpen(final Publisher publisher) {
        publisher.failure().ifPresent(why -> {
            throw new IllegalStateException(why);
        });
    }

    private static void requireReceivers(final Publisher publisher, final StreamSpec spec) {
        requireOpen(publisher);
        if (publisher.stats().evictedSubscribers() > spec.load().bystanders()) {
            throw new IllegalStateException(publisher.stats().evictedSubscribers() + " of "
                    + spec.load().receivers() + " receivers were evicted");
        }
    }

    /// The loop of a publisher.
    private record Sending(Publisher publisher, FrameSource source) {
        void run(final int frameBytes, final Arena arena) {
            final MemorySegment noise = arena.allocate(frameBytes, Long.BYTES);
            FrameStamp.fill(noise);
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
                    FrameStamp.write(frame, source);
                    claim.commit(FrameOptions.DEFAULT);
                } else {
                    FrameStamp.write(noise, source);
                    offer(noise);
                }
                sentBytes += frameBytes;
            }
        }

        /// @return false when the window cannot hold a frame, so that it must be offered in parts
        private boolean claim(final int frameBytes, final FrameClaim claim) {
            try {
                while (isBackPressured(publisher.tryClaim(frameBytes, claim))) {
                    publisher.awaitRoom(frameBytes, LOOK);
                }
                return true;
            } catch (final IllegalArgumentException e) {
                return false;
            }
        }

        private void offer(final MemorySegment frame) {
            while (isBackPressured(publisher.offer(frame, FrameOptions.DEFAULT))) {
                publisher.awaitRoom(frame.byteSize(), LOOK);
            }
        }

        private boolean isBackPressured(final long code) {
            if (code < 0 && code != Publisher.BACK_PRESSURED) {
                throw new IllegalStateException(publisher.failure().orElse("the receivers are gone"));
            }
            return code < 0;
        }
    }

    @Override
    public ReceiverReport subscribe(final StreamSpec spec) {
        if (spec.isBystander()) {
            return standBy(spec);
        }
        final Receiving receiving = new Receiving(new GoodputMeter(spec));
        try (Framecast node = Framecast.launch(config(spec));
                Subscriber subscriber = node.subscribe(channel(spec))) {
            while (!receiving.last) {
                final int frames = subscriber.poll(receiving, FRAMES_PER_POLL);
                if (frames == 0) {
                    requireAlive(subscriber);
                    subscriber.awaitFrame(LOOK);
                }
            }
            final ReceiverReport report = receiving.meter.report();
            awaitEnd(subscriber);
            requireNoDrop(subscriber.stats());
            return report;
        }
    }

    private ReceiverReport standBy(final StreamSpec spec) {
        try (Framecast node = Framecast.launch(config(spec));
                Subscriber subscriber = node.subscribe(channel(spec))) {
            return new FramecastBystander(subscriber, spec).run();
        }
    }

    private static void requireNoDrop(final SubscriberStats stats) {
        if (stats.droppedFrames() > 0) {
            throw new IllegalStateException(stats.droppedFrames() + " frames were never delivered");
        }
    }

    // The source waits for the last acknowledgement: the stream is left only when its end was heard.
    private static void awaitEnd(final Subscriber subscriber) {
        while (subscriber.state() != Subscriber.State.END_OF_STREAM) {
            requireAlive(subscriber);
            subscriber.awaitFrame(LOOK);
        }
    }

    private static void requireAlive(final Subscriber subscriber) {
        switch (subscriber.state()) {
            case JOINING, READY, END_OF_STREAM -> {
                // Frames may still come.
            }
            case SOURCE_LOST, FAILED, CLOSED ->
                throw new IllegalStateException(subscriber.failure().orElse("the source is gone"));
        }
    }

    /// Takes frames; a subscriber's own thread.
    private static final class Receiving implements FrameHandler {
        private final GoodputMeter meter;
        private boolean last;

        Receiving(final GoodputMeter meter) {
            this.meter = meter;
        }

        @Override
        public void onFrame(final DeviceFrame frame) {
            frame.awaitReady();
            last = meter.onFrame(frame.region().host());
            frame.close();
        }
    }
}
