package io.framecast.perf.streaming;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameStreams;
import io.framecast.perf.rivals.StreamSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/// Framecast by its public interface, with its default settings but for the window, of which no more could be
/// used: each stream would begin in memory that is untouched.
final class FramecastScheme implements Scheme {
    private static final Duration LINGER = Duration.ofSeconds(10);
    private static final String AUTO = "auto";

    private static Channel channel(final StreamingSpec spec, final String device) {
        final StreamSpec.Link link = spec.stream().link();
        final String asked = spec.way().placement();
        return Channel.parse("framecast:" + spec.way().transport() + "?group=" + link.group() + ":" + link.port()
                + "|interface=" + link.localAddress() + "|mtu=" + link.mtuBytes() + "|frame-max=" + spec.frameBytes()
                + "|window=" + spec.windowBytes()
                + (device.equals(DeviceChoice.HOST)
                        ? ""
                        : "|chunk=" + spec.way().chunkBytes())
                + "|device=" + device + (asked.equals(AUTO) ? "" : "|placement=" + asked));
    }

    @Override
    public SentReport publish(final StreamingSpec spec) throws IOException {
        final StreamingSpec own =
                new StreamingSpec(spec.stream(), withPlacement(spec.way(), AUTO), spec.devices(), spec.flow());
        final DeviceChoice choice = spec.devices().ofSource();
        final boolean inDevice = spec.devices().sourceInDevice() && !choice.isHost();
        // The publisher's device is its own, and closed with it.
        try (DeviceBackend apart = choice.open(spec.devices().linkBytesPerSecond());
                Acknowledgements acknowledgements = new Acknowledgements(spec);
                Framecast node = Framecast.launch(FrameStreams.config());
                Publisher publisher = node.publish(channel(own, inDevice ? choice.text() : DeviceChoice.HOST))) {
            final SentReport report = publish(spec, publisher, acknowledgements, inDevice ? publisher.device() : apart);
            publisher.close(LINGER);
            return report;
        }
    }

    private static SentReport publish(
            final StreamingSpec spec,
            final Publisher publisher,
            final Acknowledgements acknowledgements,
            final DeviceBackend device)
            throws IOException {
        try (SourceFrames frames = new SourceFrames(spec, device)) {
            FrameStreams.awaitReady(publisher, spec.receivers());
            acknowledgements.accept(spec.receivers());
            try (BackgroundLoad background = new BackgroundLoad(
                    device, spec.flow().direction().atSource(), spec.flow().backgroundBytesPerSecond())) {
                final StreamingSource source = new StreamingSource(spec, acknowledgements, background);
                if (frames.inDevice()) {
                    offer(spec, publisher, frames, source);
                } else {
                    send(spec, publisher, frames, source);
                }
                return source.finish(publisher.channel().transport(), device.name());
            }
        }
    }

    private static StreamingSpec.Way withPlacement(final StreamingSpec.Way way, final String value) {
        return new StreamingSpec.Way(way.scheme(), way.transport(), value, way.radix(), way.chunkBytes());
    }

    // Chunks come out of the device while those before are sent (eq. 8).
    private static void offer(
            final StreamingSpec spec,
            final Publisher publisher,
            final SourceFrames frames,
            final StreamingSource source) {
        while (source.next()) {
            final DeviceEvent written = frames.stampInDevice(source.stamp());
            while (FrameStreams.mustWait(
                    publisher, publisher.offer(frames.region(), written, FrameOptions.DEFAULT), spec.frameBytes())) {
                // Awaited.
            }
        }
    }

    private static void send(
            final StreamingSpec spec,
            final Publisher publisher,
            final SourceFrames frames,
            final StreamingSource source) {
        final FrameClaim claim = new FrameClaim();
        while (source.next()) {
            FrameStreams.claim(publisher, spec.frameBytes(), claim);
            final MemorySegment frame = claim.segment();
            frames.fetch(frame, 0);
            FrameContent.stamp(frame, source.stamp());
            claim.commit(FrameOptions.DEFAULT);
        }
    }

    @Override
    public ReceivedReport subscribe(final StreamingSpec spec) throws IOException {
        final DeviceChoice choice = spec.devices().ofReceiver(spec.stream().index());
        if (choice.isEmulated()) {
            DeviceChoice.limitLink(spec.devices().linkBytesPerSecond());
        }
        try (Framecast node = Framecast.launch(FrameStreams.config());
                Subscriber subscriber = node.subscribe(channel(spec, choice.text()));
                Acknowledgements.Sending acknowledgements = new Acknowledgements.Sending(spec);
                BackgroundLoad background = new BackgroundLoad(
                        subscriber.device(),
                        spec.flow().direction().atReceiver(),
                        spec.flow().backgroundBytesPerSecond());
                StreamingMeter meter = new StreamingMeter(spec, subscriber.device(), acknowledgements, background)) {
            take(subscriber, meter);
            final ReceivedReport report = meter.report(placementOf(subscriber));
            FrameStreams.awaitEnd(subscriber);
            return report;
        }
    }

    private static void take(final Subscriber subscriber, final StreamingMeter meter) {
        boolean last = false;
        while (!last) {
            final DeviceFrame frame = subscriber.poll();
            if (frame == null) {
                FrameStreams.await(subscriber);
            } else {
                frame.awaitReady();
                last = meter.onFrame(frame.region(), System.nanoTime());
                frame.close();
            }
        }
    }

    // Memory that the host addresses gets frames in place.
    private static String placementOf(final Subscriber subscriber) {
        return subscriber
                .placement()
                .map(report -> report.kind().word())
                .orElse(subscriber.device().hostAddressable() ? DeviceChoice.HOST : STAGED);
    }
}
