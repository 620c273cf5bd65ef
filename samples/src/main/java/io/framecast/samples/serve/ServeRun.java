package io.framecast.samples.serve;

import io.framecast.api.Channel;
import io.framecast.api.Delivery;
import io.framecast.api.DeviceFrame;
import io.framecast.api.Framecast;
import io.framecast.api.SourceOptions;
import io.framecast.api.StreamConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import io.framecast.engine.clients.ClientPublishers;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.NodeOptions;
import io.framecast.samples.Stop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Leads the host groups of channels, and publishes for clients of other channels. Its own subscribers take the
/// newest frame now and then, and hold nothing: the source waits only for clients that want every frame. Its
/// subscribers with a GPU take every frame, at once: they copy it there for clients.
final class ServeRun implements AutoCloseable {
    private static final long LOOK_NS = 100_000_000;
    private static final long DEVICE_LOOK_NS = 500_000;
    private static final long RETRY_NS = 1_000_000_000;
    private static final String GROUP = "auto";
    private static final String HOST = "host";

    private final Framecast node;
    private final Console console;
    private final Stop stop;
    private final List<Served> streams = new ArrayList<>();
    private final List<ClientPublishers> clients = new ArrayList<>();
    private final List<Channel> channels;

    ServeRun(
            final Framecast node,
            final List<Channel> joined,
            final List<Channel> published,
            final Environment environment) {
        this.node = node;
        console = environment.console();
        stop = environment.stop();
        channels = published;
        joined.forEach(channel -> streams.add(new Served(channel)));
        try {
            for (final Channel channel : published) {
                clients.add(ClientPublishers.open(node, channel, console::line));
                console.line("publishes for clients on " + channel);
            }
        } catch (final RuntimeException e) {
            CloseHelper.quietCloseAll(clients);
            throw e;
        }
    }

    /// Channels that clients of this host share.
    static List<Channel> channels(final List<String> uris) {
        return uris.stream()
                .map(uri -> NodeOptions.checked(() -> shared(Channel.parse(uri))))
                .toList();
    }

    private static Channel shared(final Channel channel) {
        if (!(channel instanceof Channel.Multicast)) {
            throw new ConfigException("serve: expected a multicast channel such as"
                    + " framecast:udp?group=224.20.30.39:24326, got " + channel);
        }
        final SourceOptions sources = channel.stream().sources();
        final SourceOptions grouped =
                sources.hostGroup().equals(SourceOptions.NO_HOST_GROUP) ? sources.withHostGroup(GROUP) : sources;
        final boolean device = hasDevice(channel);
        return channel.withStream(channel.stream()
                .withDevice(device ? channel.stream().device() : HOST)
                .withDelivery(device ? Delivery.RELIABLE : Delivery.LATEST)
                .withSources(grouped));
    }

    // By its name: then frames are copied there once, for all clients that use it.
    private static boolean hasDevice(final Channel channel) {
        final String device = channel.stream().device();
        return !device.equals(StreamConfig.DEFAULT.device()) && !device.equals(HOST);
    }

    void run(final Duration duration) {
        final long beginNs = System.nanoTime();
        final boolean device = streams.stream().anyMatch(served -> hasDevice(served.channel));
        final long lookNs = device ? DEVICE_LOOK_NS : LOOK_NS;
        while (!stop.isRequested() && System.nanoTime() - beginNs < duration.toNanos()) {
            streams.forEach(Served::look);
            LockSupport.parkNanos(this, lookNs);
        }
    }

    Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("joined", streams.stream().map(Served::json).toList());
        final List<Map<String, Object>> published = new ArrayList<>();
        for (int i = 0; i < clients.size(); i++) {
            final Map<String, Object> one = new LinkedHashMap<>();
            one.put("channel", channels.get(i).name());
            one.put("clients", clients.get(i).clients());
            one.put("frames", clients.get(i).frames());
            one.put("unheard_frames", clients.get(i).dropped());
            published.add(one);
        }
        json.put("published", published);
        return json;
    }

    String text() {
        long frames = 0;
        for (final ClientPublishers client : clients) {
            frames += client.frames();
        }
        return "served " + streams.size() + " streams; " + frames + " frames of clients published";
    }

    @Override
    public void close() {
        CloseHelper.quietCloseAll(clients);
        streams.forEach(Served::close);
    }

    /// One stream, again after each of its ends.
    private final class Served {
        private final Channel channel;
        private @Nullable Subscriber subscriber;
        private long retryNs = System.nanoTime();
        private long sessions;
        // Of the subscriber that is open; CLOSED while none is.
        private Subscriber.State seen = Subscriber.State.CLOSED;

        Served(final Channel channel) {
            this.channel = channel;
        }

        void look() {
            final Subscriber current = subscriber;
            if (current == null) {
                if (System.nanoTime() - retryNs >= 0) {
                    subscriber = node.subscribe(channel);
                }
                return;
            }
            DeviceFrame frame = current.poll();
            while (frame != null) {
                frame.close();
                frame = hasDevice(channel) ? current.poll() : null;
            }
            note(current);
        }

        private void note(final Subscriber current) {
            final Subscriber.State state = current.state();
            if (state == seen) {
                return;
            }
            // A stream may begin and end between two looks.
            sessions += seen != Subscriber.State.READY && isJoined(state) ? 1 : 0;
            seen = state;
            switch (state) {
                case JOINING -> console.line("waits for a source of " + channel.name());
                case READY -> console.line("serves " + channel.name());
                case END_OF_STREAM, SOURCE_LOST, FAILED, CLOSED -> {
                    console.line(channel.name() + ": " + ended(state)
                            + current.failure().map(why -> ": " + why).orElse(""));
                    close();
                }
            }
        }

        private static boolean isJoined(final Subscriber.State state) {
            return switch (state) {
                case READY, END_OF_STREAM, SOURCE_LOST -> true;
                case JOINING, FAILED, CLOSED -> false;
            };
        }

        private String ended(final Subscriber.State state) {
            return switch (state) {
                case END_OF_STREAM -> "end of stream";
                case SOURCE_LOST -> "source lost";
                default -> "failed";
            };
        }

        Map<String, Object> json() {
            final Map<String, Object> json = new LinkedHashMap<>();
            json.put("channel", channel.name());
            json.put("sessions", sessions);
            return json;
        }

        void close() {
            if (subscriber != null) {
                subscriber.close();
                subscriber = null;
                // The next subscriber may show the same state at the first look.
                seen = Subscriber.State.CLOSED;
                retryNs = System.nanoTime() + RETRY_NS;
            }
        }
    }
}
