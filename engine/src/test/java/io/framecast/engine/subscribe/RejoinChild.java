package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.SourceEvent;
import io.framecast.api.Subscriber;
import io.framecast.engine.testing.SourceLog;
import io.framecast.engine.testing.SourceLog.Feeder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/// A publisher or a subscriber in a process of its own, to be stopped or killed. Prints its events, one line
/// each.
final class RejoinChild {
    // The parent process reads the output.
    private static final NodeConfig QUIET = NodeConfig.DEFAULT.withNotices(_ -> {});

    private RejoinChild() {}

    /// `publish URI NUMBER`: publishes until killed. `subscribe URI [COUNTERS]`: checks every frame until end
    /// of stream.
    public static void main(final String[] arguments) throws IOException {
        final Channel channel = Channel.parse(arguments[1]);
        final PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        final boolean counts = arguments[0].equals("subscribe") && arguments.length > 2;
        final NodeConfig config = counts ? QUIET.withCountersFile(Path.of(arguments[2])) : QUIET;
        try (Framecast node = Framecast.launch(config)) {
            if (arguments[0].equals("publish")) {
                publish(new Feeder(node, node.publish(channel), Integer.parseInt(arguments[2])));
            } else {
                subscribe(node.subscribe(channel), out);
            }
        }
    }

    private static void publish(final Feeder feeder) {
        while (true) {
            if (!feeder.offer()) {
                feeder.publisher.awaitRoom(1, Duration.ofMillis(5));
            }
        }
    }

    private static void subscribe(final Subscriber subscriber, final PrintWriter out) {
        final SourceLog log = new SourceLog(subscriber);
        int events = 0;
        int frames = 0;
        while (subscriber.state() == Subscriber.State.JOINING || subscriber.state() == Subscriber.State.READY) {
            subscriber.awaitFrame(Duration.ofMillis(50));
            log.poll();
            for (; events < log.events.size(); events++) {
                final SourceEvent event = log.events.get(events);
                out.println(event.kind() + " " + event.firstFrameId());
            }
            if (log.frames >= frames + 50) {
                frames = log.frames;
                out.println("frames " + frames);
            }
        }
        log.sessions
                .values()
                .forEach(session -> out.println("session of " + session.publisher + " first " + session.firstFrameId
                        + " next " + session.nextFrameId + " frames " + session.frames));
        out.println(subscriber.state() + " " + subscriber.stats().rejoins() + " "
                + subscriber.failure().orElse(""));
    }
}
