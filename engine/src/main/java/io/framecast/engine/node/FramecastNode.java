package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.Codec;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.Transport;
import io.framecast.engine.codec.KryoCodec;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.PrometheusExporter;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.CompositeAgent;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/// The engine: agents, their threads, and the publishers and subscribers they serve.
public final class FramecastNode implements Framecast, SessionHost {
    private static final long CLOSE_WAIT_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long PARK_MIN_NS = 1_000;
    private static final long PARK_MAX_NS = 200_000;

    private final NodeConfig config;
    private final SecureRandom secrets = new SecureRandom();
    private final ConductorAgent conductor = new ConductorAgent();
    private final SenderAgent sender;
    private final ReceiverAgent receiver;
    private final List<AgentRunner> runners = new ArrayList<>();
    private final AgentInvoker invoker;
    private final Providers providers;
    private final SessionContext context;
    private final CounterTable counters;
    private final @Nullable PrometheusExporter exporter;
    private final List<Publisher> publishers = new CopyOnWriteArrayList<>();
    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();
    private volatile boolean closed;

    /// Starts the agents.
    public FramecastNode(final NodeConfig config) {
        this.config = config;
        final long startNs = System.nanoTime();
        final NanoClock clock = () -> System.nanoTime() - startNs;
        sender = new SenderAgent(clock);
        receiver = new ReceiverAgent(clock, conductor.queue());
        providers = new Providers(config.notices());
        final long seed = config.seed() == 0 ? secrets.nextLong() : config.seed();
        counters = config.countersFile().map(CounterTable::create).orElseGet(CounterTable::create);
        exporter = openExporter();
        context = new SessionContext(seed, config.faults().lossProbability(), config.notices(), counters);
        final ErrorHandler errors = e -> config.notices().accept("agent failed: " + e);
        final Agent shared = new CompositeAgent(sender, receiver, conductor);
        invoker = new AgentInvoker(errors, null, shared);
        switch (config.threading()) {
            case INVOKER -> invoker.start();
            case SHARED -> start(shared, errors);
            case DEDICATED -> {
                start(sender, errors);
                start(receiver, errors);
                start(conductor, errors);
            }
        }
    }

    private @Nullable PrometheusExporter openExporter() {
        if (config.metricsPort() == NodeConfig.NO_METRICS) {
            return null;
        }
        try {
            final PrometheusExporter opened = PrometheusExporter.open(counters, config.metricsPort());
            config.notices().accept("metrics: http://localhost:" + opened.port() + "/metrics");
            return opened;
        } catch (final RuntimeException e) {
            counters.close();
            throw e;
        }
    }

    private void start(final Agent agent, final ErrorHandler errors) {
        final AgentRunner runner =
                new AgentRunner(new BackoffIdleStrategy(20, 10, PARK_MIN_NS, PARK_MAX_NS), errors, null, agent);
        AgentRunner.startOnThread(runner, task -> {
            final Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        runners.add(runner);
    }

    @Override
    public Publisher publish(final Channel wanted) {
        final Channel channel = providers.resolve(wanted);
        final Transport transport = providers.openTransport(channel);
        final EnginePublisher publisher;
        try {
            publisher = new EnginePublisher(channel, new SourceSession(transport, channel, context, secrets), this);
        } catch (final RuntimeException e) {
            transport.close();
            throw e;
        }
        publishers.add(publisher);
        sender.queue().send(() -> sender.add(publisher));
        return publisher;
    }

    @Override
    public Subscriber subscribe(final Channel wanted) {
        final Channel channel = providers.resolve(wanted);
        final DeviceBackend device = providers.openDevice(channel.stream().device());
        final EngineSubscriber subscriber = new EngineSubscriber(channel, device, this);
        final Subscription subscription;
        try {
            subscription = subscription(channel, subscriber);
        } catch (final RuntimeException e) {
            device.close();
            throw e;
        }
        subscribers.add(subscriber);
        receiver.queue().send(() -> receiver.add(subscription));
        return subscriber;
    }

    private Subscription subscription(final Channel channel, final EngineSubscriber subscriber) {
        final Transport transport = providers.openTransport(channel);
        try {
            return new Subscription(subscriber, transport, context, (s, stream) -> conductor.open(s, stream, receiver));
        } catch (final RuntimeException e) {
            transport.close();
            throw e;
        }
    }

    @Override
    public Codec codec(final List<Class<? extends Record>> records) {
        return new KryoCodec(records);
    }

    @Override
    public int doWork() {
        if (config.threading() != Threading.INVOKER) {
            throw new IllegalStateException("doWork: this node runs its own threads; launch it with INVOKER");
        }
        return invoker.invoke();
    }

    @Override
    public boolean await(final BooleanSupplier condition, final Duration longest) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs >= longest.toNanos()) {
                return false;
            }
            if (config.threading() == Threading.INVOKER) {
                invoker.invoke();
            } else {
                LockSupport.parkNanos(PARK_MAX_NS);
            }
        }
        return true;
    }

    @Override
    public void remove(final EnginePublisher publisher) {
        publishers.remove(publisher);
        final Completion done = new Completion();
        sender.queue().send(() -> {
            sender.remove(publisher);
            publisher.finishSession(sender.nowNs());
            done.complete();
        });
        awaitAgent(done);
    }

    @Override
    public void remove(final EngineSubscriber subscriber) {
        subscribers.remove(subscriber);
        final Completion done = new Completion();
        receiver.queue().send(() -> {
            receiver.remove(subscriber);
            done.complete();
        });
        awaitAgent(done);
    }

    private void awaitAgent(final Completion done) {
        await(done::isComplete, Duration.ofNanos(CLOSE_WAIT_NS));
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        publishers.forEach(Publisher::close);
        subscribers.forEach(Subscriber::close);
        // What nobody holds is freed by the agents; what is still held then is freed here, with the node.
        await(() -> receiver.isIdle(), Duration.ofMillis(200));
        runners.forEach(AgentRunner::close);
        if (config.threading() == Threading.INVOKER) {
            invoker.close();
        }
        receiver.closing().forEach(Subscription::close);
        conductor.doWork();
        if (exporter != null) {
            exporter.close();
        }
        counters.close();
    }

    /// Set by an agent, awaited by a caller.
    private static final class Completion {
        private volatile boolean complete;

        void complete() {
            complete = true;
        }

        boolean isComplete() {
            return complete;
        }
    }
}
