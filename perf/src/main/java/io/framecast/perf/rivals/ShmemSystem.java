package io.framecast.perf.rivals;

import io.framecast.api.DeviceFrame;
import io.framecast.api.Framecast;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.harness.CountersFile;
import io.framecast.perf.harness.FrameStreams;
import java.io.IOException;

/// The baseline of Chu et al. 2019, §6 and figure 4(a): one process of a host receives the stream by multicast
/// and copies each frame once more, into shared memory; each process copies it from there to where it wants it.
/// All of them are done with a frame before the next one is copied.
public final class ShmemSystem implements MeasuredSystem {
    private static final int LEADER = 0;
    private static final int PLACES = 1;
    private static final String COPIED = "copied";
    private static final FramecastSystem NETWORK = new FramecastSystem("udp", FramecastSystem.Sharing.LEADER_ALONE);

    @Override
    public SourceReport publish(final StreamSpec spec, final Runnable gone) throws IOException {
        return NETWORK.publish(spec, gone);
    }

    @Override
    public ReceiverReport subscribe(final StreamSpec spec) throws IOException {
        try (DeviceBackend device = spec.load().readers().open();
                FrameReader reader = new FrameReader(spec, device)) {
            final long datagrams = spec.index() == LEADER ? lead(spec, reader) : follow(spec, reader);
            final boolean isHost = spec.load().readers().choice().isHost();
            return reader.report(isHost ? COPIED : FrameStreams.STAGED, datagrams);
        }
    }

    private static long follow(final StreamSpec spec, final FrameReader reader) throws IOException {
        try (SharedSegment segment = SharedSegment.attach(spec, PLACES)) {
            while (!reader.hasLast()) {
                reader.copyOut(segment.next(spec.load().frameBytes()), () -> segment.release(spec.index()));
            }
            return 0;
        }
    }

    /// @return datagrams that it read
    private static long lead(final StreamSpec spec, final FrameReader reader) throws IOException {
        final boolean isHost = spec.load().readers().choice().isHost();
        try (SharedSegment segment = SharedSegment.create(spec, PLACES)) {
            segment.attach(LEADER);
            segment.awaitReaders();
            try (CountersFile counters = CountersFile.create();
                    Framecast node = Framecast.launch(FrameStreams.config().withCountersFile(counters.path()));
                    Subscriber subscriber = node.subscribe(NETWORK.hostChannel(spec))) {
                while (!reader.hasLast()) {
                    final DeviceFrame frame = subscriber.poll();
                    if (frame == null) {
                        FrameStreams.await(subscriber);
                        continue;
                    }
                    frame.awaitReady();
                    final var place = segment.write(frame.region().host());
                    if (isHost) {
                        // It is where its reader wants it.
                        reader.onFrame(frame.region());
                        frame.close();
                        segment.releaseOwn(LEADER);
                    } else {
                        frame.close();
                        reader.copyOut(place, () -> segment.releaseOwn(LEADER));
                    }
                }
                FrameStreams.awaitEnd(subscriber);
                return counters.sum(EngineCounter.RECEIVED_DATAGRAMS);
            }
        }
    }
}
