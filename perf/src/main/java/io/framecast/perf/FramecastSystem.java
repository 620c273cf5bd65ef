package io.framecast.perf;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.agrona.concurrent.IdleStrategy;

/// Framecast with its default settings; each frame is offered, so it is copied once, as Aeron's is.
///
/// @param transport as a channel's URI names it
/// @param keys more of the URI, each behind a `|`; empty for defaults
record FramecastSystem(String transport, String keys) implements MeasuredSystem {
    private static final String PREFIX = "framecast:";
    private static final Duration LINGER = Duration.ofSeconds(20);

    /// @param name `framecast[:TRANSPORT][|KEY=VALUE…]`
    static FramecastSystem parse(final String name) {
        final int bar = name.indexOf('|') < 0 ? name.length() : name.indexOf('|');
        final String head = name.substring(0, bar);
        final String transport = head.startsWith(PREFIX) ? head.substring(PREFIX.length()) : "auto";
        return new FramecastSystem(transport, name.substring(bar));
    }

    private Channel channel(final StreamSpec spec) {
        return Channel.parse("framecast:" + transport + "?group=" + StreamSpec.GROUP + ":" + spec.port()
                + "|interface=" + StreamSpec.LOOPBACK + "|mtu=" + spec.mtuBytes()
                + (spec.socketBufferBytes() == 0 ? "" : "|socket-buffer=" + spec.socketBufferBytes()) + "|frame-max="
                + spec.frameBytes() + "|device=host" + keys);
    }

    @Override
    public void publish(final StreamSpec spec, final Waiting gone) {
        final IdleStrategy idle = ChildProcess.idle();
        try (Framecast node = Framecast.launch();
                Publisher publisher = node.publish(channel(spec))) {
            while (publisher.readySubscribers() == 0) {
                idle.idle();
            }
            FrameSource.run(spec, frame -> offer(publisher, frame, idle));
            if (!publisher.close(LINGER)) {
                throw new IllegalStateException("the subscriber did not acknowledge the stream");
            }
        }
    }

    private static void offer(final Publisher publisher, final MemorySegment frame, final IdleStrategy idle) {
        idle.reset();
        while (true) {
            final long code = publisher.offer(frame, FrameOptions.DEFAULT);
            if (code >= 0) {
                return;
            }
            if (code != Publisher.BACK_PRESSURED) {
                throw new IllegalStateException(publisher.failure().orElse("the subscriber is gone"));
            }
            idle.idle();
        }
    }

    @Override
    public double subscribe(final StreamSpec spec) {
        final IdleStrategy idle = ChildProcess.idle();
        final GoodputMeter meter = new GoodputMeter(spec.warmUpNs());
        try (Framecast node = Framecast.launch();
                Subscriber subscriber = node.subscribe(channel(spec))) {
            boolean last = false;
            while (!last) {
                final DeviceFrame frame = subscriber.poll();
                if (frame == null) {
                    requireAlive(subscriber);
                    idle.idle();
                    continue;
                }
                idle.reset();
                frame.awaitReady();
                last = meter.onFrame(frame.region().host());
                frame.close();
            }
            awaitEnd(subscriber, idle);
        }
        return meter.goodputMBps();
    }

    // The source waits for the last acknowledgement: the stream is left only when its end was heard.
    private static void awaitEnd(final Subscriber subscriber, final IdleStrategy idle) {
        idle.reset();
        while (subscriber.state() != Subscriber.State.END_OF_STREAM) {
            requireAlive(subscriber);
            idle.idle();
        }
    }

    private static void requireAlive(final Subscriber subscriber) {
        switch (subscriber.state()) {
            case JOINING, READY, END_OF_STREAM -> {
                // Frames may still come.
            }
            case SOURCE_LOST, FAILED, CLOSED ->
                throw new IllegalStateException(subscriber.failure().orElse("the source is gone"));
        }
    }
}
