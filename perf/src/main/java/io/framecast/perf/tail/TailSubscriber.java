package io.framecast.perf.tail;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.Framecast;
import io.framecast.api.Subscriber;
import io.framecast.perf.harness.FrameStreams;
import java.io.IOException;
import java.util.List;

/// Takes a stream and notes when each frame was ready.
final class TailSubscriber implements FrameHandler {
    private static final int FRAMES_PER_POLL = 64;

    private final long[] readyNs;

    private TailSubscriber(final int framesMax) {
        readyNs = new long[framesMax];
    }

    static TailReport run(final TailSpec spec) throws IOException {
        final TailSubscriber taking = new TailSubscriber(spec.load().frames());
        final long repaired;
        final PacketTap tap = new PacketTap(spec);
        try (tap;
                TailPing _ = TailPing.answering(spec.localAddress(), TailSpec.PING_PORT);
                Framecast node = Framecast.launch(FrameStreams.config());
                Subscriber subscriber = node.subscribe(spec.channel())) {
            taking.takeAll(subscriber);
            repaired = subscriber.stats().repairedDatagrams();
        }
        final TailLog log = new TailLog(taking.readyNs, taking.readyNs.length == 0 ? List.of() : tap.events());
        return new TailReport(log, System.nanoTime(), repaired, 0, List.of(), List.of());
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
    }
}
