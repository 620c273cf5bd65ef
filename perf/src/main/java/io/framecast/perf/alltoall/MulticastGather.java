package io.framecast.perf.alltoall;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameContent.Stamp;
import io.framecast.perf.harness.FrameStreams;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Framecast: a channel for each source, to which all others subscribe.
final class MulticastGather implements Gather {
    private static final Duration LINGER = Duration.ofSeconds(10);
    private static final long NAP_NS = 20_000;
    private static final long SILENCE_MAX_NS = 30_000_000_000L;

    private final Arena arena = Arena.ofShared();
    private final Framecast node = Framecast.launch(FrameStreams.config());
    private final @Nullable Publisher publisher;
    private final Map<Integer, Subscriber> subscribers = new TreeMap<>();
    private final List<FrameCheck> checks = new ArrayList<>();
    private final MemorySegment frame;
    private long sent;

    MulticastGather(final AllToAllSpec spec) {
        frame = arena.allocate(spec.plan().frameBytes(), Long.BYTES);
        FrameContent.fill(frame);
        final DeviceChoice device = spec.plan().deviceOfSource();
        final String inDevice = "|device=" + device.text()
                + (device.isHost() ? "" : "|chunk=" + spec.plan().chunkBytes());
        publisher = spec.isSource() ? node.publish(Channel.parse(spec.channel(spec.index(), ""))) : null;
        for (int source = 0; source < spec.sources(); source++) {
            if (source != spec.index()) {
                subscribers.put(source, node.subscribe(Channel.parse(spec.channel(source, inDevice))));
            }
        }
        subscribers
                .values()
                .forEach(one ->
                        checks.add(new FrameCheck(one.device(), spec.plan().frameBytes(), spec.processes())));
        if (publisher != null) {
            FrameStreams.awaitReady(publisher, spec.processes() - 1);
        }
    }

    @Override
    public void exchange(final int frames) {
        final Publisher own = publisher;
        int toSend = own == null ? 0 : frames;
        int toTake = frames * subscribers.size();
        long movedNs = System.nanoTime();
        while (toSend > 0 || toTake > 0) {
            final int taken = take();
            toTake -= taken;
            final boolean offered = own != null && toSend > 0 && offer(own);
            toSend -= offered ? 1 : 0;
            if (taken > 0 || offered) {
                movedNs = System.nanoTime();
            } else if (System.nanoTime() - movedNs > SILENCE_MAX_NS) {
                throw new IllegalStateException("no frame came for long; " + toTake + " are due");
            } else {
                LockSupport.parkNanos(NAP_NS);
            }
        }
    }

    private boolean offer(final Publisher own) {
        FrameContent.stamp(frame, new Stamp(sent, System.nanoTime(), 0));
        if (own.offer(frame, FrameOptions.DEFAULT) < 0) {
            FrameStreams.requireOpen(own);
            return false;
        }
        sent++;
        return true;
    }

    private int take() {
        int count = 0;
        int place = 0;
        for (final Map.Entry<Integer, Subscriber> one : subscribers.entrySet()) {
            final FrameCheck check = checks.get(place++);
            for (DeviceFrame got = one.getValue().poll();
                    got != null;
                    got = one.getValue().poll()) {
                got.awaitReady();
                check.onFrame(one.getKey(), got.region());
                got.close();
                count++;
            }
        }
        return count;
    }

    @Override
    public void end() {
        if (publisher != null) {
            publisher.close(LINGER);
        }
        subscribers.values().forEach(FrameStreams::awaitEnd);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(checks);
        CloseHelper.closeAll(subscribers.values());
        CloseHelper.closeAll(publisher, node, arena);
    }
}
