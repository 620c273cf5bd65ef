package io.framecast.perf.streaming;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.streaming.FrameContent.Stamp;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Broadcast over unicast, TCP here: a ring or a k-nomial tree, in chunks. Each hop receives a chunk in
/// pinned host memory, has it copied into its device, and passes it on from there meanwhile. A chunk as long
/// as a frame makes it the scheme without pipelining.
final class TreeScheme implements Scheme {
    private static final String TRANSPORT = "tcp";
    private static final int SOURCE = 0;

    @Override
    public SentReport publish(final StreamingSpec spec) throws IOException {
        try (DeviceBackend device = spec.openDevice(spec.plan().deviceOfSource());
                Acknowledgements acknowledgements = new Acknowledgements(spec);
                TreeLinks links = TreeLinks.open(spec, SOURCE);
                SourceFrames frames = new SourceFrames(spec, device)) {
            acknowledgements.accept(spec.receivers());
            try (BackgroundLoad background = spec.backgroundAtSource(device);
                    Chunks chunks = new Chunks(spec, device, frames)) {
                final StreamingSource source = new StreamingSource(spec, acknowledgements, background);
                while (source.next()) {
                    chunks.send(source.stamp(), links);
                }
                return source.finish(TRANSPORT, device.name());
            }
        }
    }

    /// Cuts frames, one chunk on its way out of the device while the one before it is sent.
    private static final class Chunks implements AutoCloseable {
        private final DeviceBackend device;
        private final SourceFrames frames;
        private final List<MemorySegment> slots;
        private final List<DeviceEvent> events;
        private final int frameBytes;
        private final int chunkBytes;

        Chunks(final StreamingSpec spec, final DeviceBackend device, final SourceFrames frames) {
            this.device = device;
            this.frames = frames;
            frameBytes = spec.frameBytes();
            chunkBytes = spec.chunkBytes();
            slots = List.of(device.allocatePinned(chunkBytes), device.allocatePinned(chunkBytes));
            events = List.of(device.openEvent(), device.openEvent());
        }

        void send(final Stamp stamp, final TreeLinks links) throws IOException {
            if (frames.inDevice()) {
                sendFromDevice(stamp, links);
                return;
            }
            final MemorySegment frame = frames.inHost(stamp);
            for (int offset = 0; offset < frameBytes; offset += chunkBytes) {
                links.write(frame.asSlice(offset, length(offset)));
            }
        }

        private void sendFromDevice(final Stamp stamp, final TreeLinks links) throws IOException {
            fetch(0);
            for (int offset = 0; offset < frameBytes; offset += chunkBytes) {
                if (offset + chunkBytes < frameBytes) {
                    fetch(offset + chunkBytes);
                }
                events.get(slot(offset)).synchronize();
                final MemorySegment part = part(offset);
                FrameContent.stampPart(part, offset, frameBytes, stamp);
                links.write(part);
            }
        }

        private void fetch(final int offset) {
            frames.fetch(part(offset), offset);
            frames.stream().record(events.get(slot(offset)));
        }

        private MemorySegment part(final int offset) {
            return slots.get(slot(offset)).asSlice(0, length(offset));
        }

        private int slot(final int offset) {
            return offset / chunkBytes % slots.size();
        }

        private int length(final int offset) {
            return Math.min(chunkBytes, frameBytes - offset);
        }

        @Override
        public void close() {
            events.forEach(DeviceEvent::close);
            slots.forEach(device::freePinned);
        }
    }

    @Override
    public ReceivedReport subscribe(final StreamingSpec spec) throws IOException {
        try (DeviceBackend device = spec.openDevice(spec.plan().deviceOfReceiver(spec.index()));
                TreeLinks links = TreeLinks.open(spec, spec.index() + 1);
                Acknowledgements.Sending acknowledgements = new Acknowledgements.Sending(spec);
                BackgroundLoad background = spec.backgroundAtReceiver(device);
                StreamingMeter meter = new StreamingMeter(spec, device, acknowledgements, background);
                TreeReceiver receiver = new TreeReceiver(spec, device, links, meter)) {
            receiver.run();
            return meter.report(device.hostAddressable() ? DeviceChoice.HOST : STAGED);
        }
    }
}
