package io.framecast.samples.tool;

import io.framecast.api.Channel;
import io.framecast.api.Codec;
import io.framecast.api.Framecast;
import io.framecast.api.LossReason;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Nodes of one process that hear each other through memory, and the mishaps that a test wants. Every method
/// of network, publishers and subscribers holds the network's lock.
final class FakeNetwork {
    /// Frames in a subscriber's ring: more is back-pressure.
    static final int CREDIT_FRAMES = 3;

    final List<FakeSubscriber> subscribers = new ArrayList<>();
    final List<FakeDevice> devices = new ArrayList<>();
    final List<NodeConfig> configs = new ArrayList<>();
    FakePublisher publisher;
    long windowBytes;
    long corruptFrameId = -1;
    long dropSubscriberAtFrame = -1;
    long loseSourceAtFrame = -1;
    long rejoinAtFrame = -1;
    String refusal = "";
    /// Why subscribers hear a source and do not join it.
    String joinFailure = "";
    List<String> unready = List.of();
    /// Frames that no subscriber is given, and why.
    final Map<Long, LossReason> lost = new TreeMap<>();

    Framecast launch(final NodeConfig config) {
        synchronized (this) {
            configs.add(config);
        }
        config.notices().accept("transport auto: fake");
        return new FakeNode();
    }

    private final class FakeNode implements Framecast {
        @Override
        public Publisher publish(final Channel channel) {
            synchronized (FakeNetwork.this) {
                if (!refusal.isEmpty()) {
                    throw new ConfigException(refusal);
                }
                publisher = new FakePublisher(FakeNetwork.this, resolved(channel));
                return publisher;
            }
        }

        @Override
        public Subscriber subscribe(final Channel channel) {
            synchronized (FakeNetwork.this) {
                final FakeDevice device = new FakeDevice();
                devices.add(device);
                final FakeSubscriber subscriber = new FakeSubscriber(FakeNetwork.this, resolved(channel), device);
                subscribers.add(subscriber);
                return subscriber;
            }
        }

        private Channel resolved(final Channel channel) {
            return channel.transport().equals("auto") ? channel.withTransport("udp") : channel;
        }

        @Override
        public Codec codec(final List<Class<? extends Record>> records) {
            throw new UnsupportedOperationException("not needed by the commands");
        }

        @Override
        public int doWork() {
            throw new IllegalStateException("not in invoker mode");
        }

        @Override
        public void close() {}
    }
}
