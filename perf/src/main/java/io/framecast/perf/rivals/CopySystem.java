package io.framecast.perf.rivals;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameStreams;
import io.framecast.perf.harness.ProcessCost;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A program without protocol: a writer copies each frame once into memory that all share, and each reader reads
/// it there, or copies it to its device. No system that carries frames within a host can do with less.
public final class CopySystem implements MeasuredSystem {
    private static final String NAME = "memory";
    // As much as a publisher's window: more would leave the caches.
    private static final int BYTES = 8 << 20;
    private static final int PLACES_MIN = 2;
    private static final int PLACES_MAX = 1024;

    private static int places(final StreamSpec spec) {
        return Math.clamp(BYTES / spec.load().frameBytes(), PLACES_MIN, PLACES_MAX);
    }

    @Override
    public SourceReport publish(final StreamSpec spec, final Runnable gone) throws IOException {
        try (Arena arena = Arena.ofConfined();
                SharedSegment segment = SharedSegment.create(spec, places(spec))) {
            final MemorySegment frame = arena.allocate(spec.load().frameBytes(), Long.BYTES);
            FrameContent.fill(frame);
            segment.awaitReaders();
            final FrameSource source =
                    new FrameSource(spec, new ProcessCost(spec.link().device()));
            while (source.next()) {
                FrameContent.stampEnds(frame, source.stamp());
                segment.write(frame);
            }
            segment.awaitReleased();
            return source.report(NAME, FrameSource.Traffic.NONE);
        }
    }

    @Override
    public ReceiverReport subscribe(final StreamSpec spec) throws IOException {
        final boolean isHost = spec.load().readers().choice().isHost();
        try (DeviceBackend device = spec.load().readers().open();
                SharedSegment segment = SharedSegment.attach(spec, places(spec));
                FrameReader reader = new FrameReader(spec, device)) {
            while (!reader.hasLast()) {
                final MemorySegment frame = segment.next(spec.load().frameBytes());
                if (isHost) {
                    reader.onFrame(DeviceRegion.ofHost(frame));
                    segment.release(spec.index());
                } else {
                    reader.copyOut(frame, () -> segment.release(spec.index()));
                }
            }
            return reader.report(isHost ? DeviceChoice.HOST : FrameStreams.STAGED, 0);
        }
    }
}
