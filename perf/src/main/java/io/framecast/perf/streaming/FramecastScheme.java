package io.framecast.perf.streaming;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.perf.harness.BackgroundLoad;
import io.framecast.perf.harness.CountersFile;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent.Stamp;
import io.framecast.perf.harness.FrameStreams;
import java.io.IOException;
import java.time.Duration;

/// Framecast by its public interface, with its default settings but for the window, of which no more could be
/// used: each stream would begin in memory that is untouched.
final class FramecastScheme implements Scheme {
    private static final Duration LINGER = Duration.ofSeconds(10);
    private static final String AUTO = "auto";

    @Override
    public SentReport publish(final StreamingSpec spec) throws IOException {
        final DeviceChoice choice = spec.plan().deviceOfSource();
        final boolean inDevice = spec.plan().sourceInDevice() && !choice.isHost();
        final DeviceChoice published = inDevice ? choice : new DeviceChoice(DeviceChoice.HOST, 0);
        // The publisher's device is its own, and closed with it.
        try (DeviceBackend apart = spec.openDevice(choice);
                Acknowledgements acknowledgements = new Acknowledgements(spec);
                CountersFile counters = CountersFile.create();
                Framecast node = Framecast.launch(FrameStreams.config().withCountersFile(counters.path()));
                Publisher publisher = node.publish(spec.channel(0, published, AUTO))) {
            final DeviceBackend device = inDevice ? publisher.device() : apart;
            final SentReport report;
            try (SourceFrames frames = new SourceFrames(spec, device)) {
                FrameStreams.awaitReady(publisher, spec.receivers());
                final FrameClaim claim = new FrameClaim();
                final String transport = publisher.channel().transport();
                // The counters go with the publisher.
                report = StreamingSource.run(
                        spec,
                        acknowledgements,
                        device,
                        transport,
                        stamp -> send(spec, publisher, frames, claim, stamp),
                        counters::controlPerDatagram);
            }
            publisher.close(LINGER);
            return report;
        }
    }

    private static void send(
            final StreamingSpec spec,
            final Publisher publisher,
            final SourceFrames frames,
            final FrameClaim claim,
            final Stamp stamp) {
        final int bytes = spec.frameBytes();
        if (frames.inDevice()) {
            // Chunks come out of the device while those before are sent.
            final DeviceEvent written = frames.stampInDevice(stamp);
            while (FrameStreams.mustWait(
                    publisher, publisher.offer(frames.region(), written, FrameOptions.DEFAULT), bytes)) {
                // Awaited.
            }
        } else {
            FrameStreams.claim(publisher, bytes, claim);
            frames.copyTo(claim.segment(), stamp);
            claim.commit(FrameOptions.DEFAULT);
        }
    }

    @Override
    public ReceivedReport subscribe(final StreamingSpec spec) throws IOException {
        final DeviceChoice choice = spec.plan().deviceOfReceiver(spec.index());
        DeviceChoice.limitLink(spec.plan().linkBytesPerSecond());
        try (Framecast node = Framecast.launch(FrameStreams.config());
                Subscriber subscriber = node.subscribe(
                        spec.channel(spec.rank(), choice, spec.contender().placement()));
                Acknowledgements.Sending acknowledgements = new Acknowledgements.Sending(spec);
                BackgroundLoad background = spec.backgroundAtReceiver(subscriber.device());
                StreamingMeter meter = new StreamingMeter(spec, subscriber.device(), acknowledgements, background)) {
            final boolean whole = take(spec, subscriber, meter);
            final ReceivedReport report = meter.report(FrameStreams.placement(subscriber));
            if (whole) {
                FrameStreams.awaitEnd(subscriber);
            }
            return report;
        }
    }

    /// @return whether the last frame came, which is not so for each that is slow
    private static boolean take(final StreamingSpec spec, final Subscriber subscriber, final StreamingMeter meter) {
        boolean last = false;
        while (!last) {
            final DeviceFrame frame = subscriber.poll();
            if (frame == null) {
                if (!mayGetMore(spec, subscriber)) {
                    return false;
                }
            } else {
                frame.awaitReady();
                last = meter.onFrame(frame.region(), System.nanoTime());
                frame.close();
            }
        }
        return true;
    }

    // A slow one may lose the last frame, or be evicted.
    private static boolean mayGetMore(final StreamingSpec spec, final Subscriber subscriber) {
        try {
            return FrameStreams.await(subscriber) || !spec.isSlow();
        } catch (final IllegalStateException e) {
            if (spec.isSlow()) {
                return false;
            }
            throw e;
        }
    }
}
