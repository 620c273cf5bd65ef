package io.framecast.perf.streaming;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.perf.harness.BackgroundLoad;
import io.framecast.perf.harness.DeviceChoice;
import java.io.IOException;

/// Broadcast over unicast, by TCP or writes over reliable connections: a ring, a k-nomial tree or a connection to
/// each, in chunks. Each hop receives a chunk in pinned host memory, has it copied into its device, and passes it
/// on from there meanwhile. A chunk as long as a frame makes it the scheme without pipelining.
final class TreeScheme implements Scheme {
    private static final int SOURCE = 0;

    @Override
    public SentReport publish(final StreamingSpec spec) throws IOException {
        try (DeviceBackend device = spec.openDevice(spec.plan().deviceOfSource());
                Acknowledgements acknowledgements = new Acknowledgements(spec);
                TreeLinks links = TreeLinks.open(spec, SOURCE);
                SourceFrames frames = new SourceFrames(spec, device)) {
            frames.use(links);
            return StreamingSource.run(
                    spec,
                    acknowledgements,
                    device,
                    links.transport(),
                    stamp -> frames.send(stamp, links),
                    () -> SentReport.UNKNOWN);
        }
    }

    @Override
    public ReceivedReport subscribe(final StreamingSpec spec) throws IOException {
        try (DeviceBackend device = spec.openDevice(spec.plan().deviceOfReceiver(spec.index()));
                TreeLinks links = TreeLinks.open(spec, spec.rank());
                Acknowledgements.Sending acknowledgements = new Acknowledgements.Sending(spec);
                BackgroundLoad background = spec.backgroundAtReceiver(device);
                StreamingMeter meter = new StreamingMeter(spec, device, acknowledgements, background);
                TreeReceiver receiver = new TreeReceiver(spec, device, links, meter)) {
            receiver.run();
            return meter.report(device.hostAddressable() ? DeviceChoice.HOST : STAGED);
        }
    }
}
