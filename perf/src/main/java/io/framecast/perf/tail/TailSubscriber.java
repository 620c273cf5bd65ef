package io.framecast.perf.tail;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.Framecast;
import io.framecast.api.Subscriber;
import io.framecast.perf.harness.FrameStreams;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Takes a stream and notes when each frame was ready.
final class TailSubscriber implements FrameHandler {
    private static final int FRAMES_PER_POLL = 64;

    private final long[] readyNs;
    private long frames;

    private TailSubscriber(final int framesMax) {
        readyNs = new long[framesMax];
    }

    static Map<String, Object> run(final TailSpec spec) throws IOException {
        final TailSubscriber taking = new TailSubscriber(spec.load().frames());
        final Map<String, Object> report = new LinkedHashMap<>();
        final PacketTap tap = new PacketTap(spec);
        try (tap;
                TailPing _ = TailPing.answering(spec.localAddress(), spec.link().pingPort());
                Framecast node = Framecast.launch(FrameStreams.config());
                Subscriber subscriber = node.subscribe(TailRole.channel(spec))) {
            taking.takeAll(subscriber);
            report.put("frames", taking.frames);
            report.put("repaired", subscriber.stats().repairedDatagrams());
            report.put("dropped", subscriber.stats().droppedFrames());
            report.put("clock_ns", System.nanoTime());
        }
        if (!spec.file().isEmpty()) {
            final List<TailLog.Event> events = tap.events();
            new TailLog(taking.readyNs, events).write(Path.of(spec.file()));
        }
        return report;
    }

    private void takeAll(final Subscriber subscriber) {
        boolean open = true;
        while (open) {
            if (subscriber.poll(this, FRAMES_PER_POLL) == 0) {
                open = FrameStreams.await(subscriber);
            }
        }
    }

    @Override
    public void onFrame(final DeviceFrame frame) {
        frame.awaitReady();
        final long nowNs = System.nanoTime();
        final long id = frame.frameId();
        frame.close();
        if (id < readyNs.length) {
            readyNs[(int) id] = nowNs;
        }
        frames++;
    }
}
