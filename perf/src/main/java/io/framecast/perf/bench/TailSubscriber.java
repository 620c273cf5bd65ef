package io.framecast.perf.bench;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.Framecast;
import io.framecast.api.Subscriber;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Takes a stream and notes when each frame was ready.
final class TailSubscriber implements FrameHandler {
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final int FRAMES_PER_POLL = 64;

    private final long[] readyNs;
    private long frames;

    private TailSubscriber(final int framesMax) {
        readyNs = new long[framesMax];
    }

    static Map<String, Object> run(final TailSpec spec) throws IOException {
        final TailSubscriber taking = new TailSubscriber(spec.load().frames());
        final Map<String, Object> report = new LinkedHashMap<>();
        final Door door = new Door(spec);
        try (door;
                TailPing _ = TailPing.answering(spec.localAddress(), spec.link().pingPort());
                Framecast node = Framecast.launch(TailChild.config());
                Subscriber subscriber = node.subscribe(TailChild.channel(spec))) {
            taking.takeAll(subscriber);
            report.put("frames", taking.frames);
            report.put("repaired", subscriber.stats().repairedDatagrams());
            report.put("dropped", subscriber.stats().droppedFrames());
            report.put("clock_ns", System.nanoTime());
        }
        if (!spec.file().isEmpty()) {
            final List<TailLog.Event> events = door.events();
            new TailLog(taking.readyNs, events).write(Path.of(spec.file()));
        }
        return report;
    }

    private void takeAll(final Subscriber subscriber) {
        while (subscriber.state() != Subscriber.State.END_OF_STREAM) {
            if (subscriber.poll(this, FRAMES_PER_POLL) == 0) {
                switch (subscriber.state()) {
                    case JOINING, READY, END_OF_STREAM -> subscriber.awaitFrame(LOOK);
                    case SOURCE_LOST, FAILED, CLOSED ->
                        throw new IllegalStateException(subscriber.failure().orElse("the source is gone"));
                }
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
