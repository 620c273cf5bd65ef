package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.Codec;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.Transport;
import io.framecast.engine.codec.KryoCodec;
import io.framecast.engine.hostgroup.GroupLeader;
import io.framecast.engine.hostgroup.GroupSubscriber;
import io.framecast.engine.hostgroup.HostGroups;
import io.framecast.engine.hostgroup.MemberFactory;
import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.PrometheusExporter;
import io.framecast.engine.publish.EnginePublisher;
import io.framecast.engine.publish.SourceSession;
import io.framecast.engine.publish.WindowSharing;
import io.framecast.engine.ready.Uninterrupted;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.EncryptionLimits;
import io.framecast.engine.session.EpochClock;
import io.framecast.engine.session.SessionAgent;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.engine.subscribe.EngineSubscriber;
import io.framecast.engine.subscribe.GroupRole;
import io.framecast.engine.subscribe.ReceiverAgent;
import io.framecast.engine.subscribe.Subscription;
import io.framecast.engine.topology.Topology;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/// The engine: agents, their threads, and the publishers and subscribers they serve.
public final class FramecastNode implements Framecast, SessionHost {
    private static final long CLOSE_WAIT_NS = TimeUnit.SECONDS.toNanos(5);
    private static final int CLOSE_ROUNDS = 100;
    private static final Duration WAIT_MAX = Duration.ofDays(365);

    private final NodeConfig config;
    private final SecureRandom secrets = new SecureRandom();
    private final SessionAgent<SessionAgent.Member> conductor;
    private final SessionAgent<SourceSession> sender;
    private final ReceiverAgent receiver;
    private final NodeThreads threads;
    private final Providers providers;
    private final SessionContext context;
    private final CounterTable counters;
    private final @Nullable PrometheusExporter exporter;
    private final List<Publisher> publishers = new CopyOnWriteArrayList<>();
    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();
    // Memory that a running kernel may still access.
    private final List<Subscription> unfreed = new CopyOnWriteArrayList<>();
    private final ReentrantLock lifecycle = new ReentrantLock();
    private boolean closed;

    /// Starts the agents.
    public FramecastNode(final NodeConfig config) {
        this(config, Providers.found(guarded(config).notices()));
    }

    FramecastNode(final NodeConfig asked, final Providers providers) {
        config = guarded(asked);
        this.providers = providers;
        final long startNs = System.nanoTime();
        final NanoClock clock = () -> System.nanoTime() - startNs;
        conductor = new SessionAgent<>("framecast-conductor", clock, config.notices());
        sender = new SessionAgent<>("framecast-sender", clock, config.notices());
        receiver = new ReceiverAgent(clock, conductor, config.notices());
        final long seed = config.seed() == 0 ? secrets.nextLong() : config.seed();
        counters = config.countersFile().map(CounterTable::create).orElseGet(CounterTable::create);
        exporter = openExporter();
        context = new SessionContext(
                seed,
                config.faults().lossProbability(),
                config.notices(),
                clock,
                EpochClock.ofProcess().offsetNs() + startNs,
                counters,
                NumaPolicy.ANY_NODE);
        final ErrorHandler errors = e -> config.notices().accept("agent failed: " + e);
        threads = new NodeThreads(config.threading(), sender, receiver, conductor, errors);
        threads.start();
    }

    // A consumer of notices must not throw. If it does, the exception must not end an agent, because all the
    // agent's sessions would stop.
    private static NodeConfig guarded(final NodeConfig config) {
        return config.withNotices(notice -> {
            try {
                config.notices().accept(notice);
            } catch (final RuntimeException | Error _) {
                // An exception of the consumer itself cannot be reported.
                Thread.onSpinWait();
            }
        });
    }

    private @Nullable PrometheusExporter openExporter() {
        if (config.metrics().port() == NodeConfig.NO_METRICS) {
            return null;
        }
        try {
            final PrometheusExporter opened = PrometheusExporter.open(counters, config.metrics());
            config.notices().accept("metrics: http://" + config.metrics().address() + ":" + opened.port() + "/metrics");
            return opened;
        } catch (final RuntimeException e) {
            counters.close();
            throw e;
        }
    }

    @Override
    public Publisher publish(final Channel channel) {
        lifecycle.lock();
        try {
            requireOpen();
            final EnginePublisher publisher = publisher(providers.resolve(channel));
            publishers.add(publisher);
            sender.send(() -> sender.add(publisher.session()));
            return publisher;
        } finally {
            lifecycle.unlock();
        }
    }

    // Under the lock, so that close finds everything opened before it.
    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the node is closed; launch another");
        }
    }

    private EnginePublisher publisher(final Channel channel) {
        EncryptionLimits.requireNoGather(channel);
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final Transport transport = opened.add(providers.openTransport(channel));
            final int memoryNode = HostPlace.memoryNode(Topology.ofHost(), transport.networkInterface());
            final SourceSession session =
                    new SourceSession(transport, channel, context.on(memoryNode), sharing(channel), secrets);
            opened.keep();
            opened.add(session);
            final EnginePublisher publisher = new EnginePublisher(channel, session, this, this::remove);
            opened.keep();
            return publisher;
        }
    }

    @Override
    public Subscriber subscribe(final Channel wanted) {
        lifecycle.lock();
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            requireOpen();
            final Channel resolved = providers.resolve(wanted);
            final boolean grouped = !threads.areInvoked() && HostPlace.isGrouped(resolved);
            final HostPlace place = opened.add(HostPlace.of(resolved, grouped, providers, Topology.ofHost()));
            place.reasons().forEach(config.notices());
            final DeviceBackend device = opened.add(place.openDevice());
            final Subscriber subscriber = grouped
                    ? new GroupSubscriber(
                            place.channel(),
                            place.part(),
                            device,
                            receiverWakeup(),
                            config.notices(),
                            members(place),
                            closing -> {
                                subscribers.remove(closing);
                                place.close();
                            })
                    : open(place, device, GroupRole.alone());
            opened.keep();
            subscribers.add(subscriber);
            return subscriber;
        } finally {
            lifecycle.unlock();
        }
    }

    private WindowSharing sharing(final Channel channel) {
        return !threads.areInvoked() && HostGroups.isWantedBySource(channel)
                ? WindowSharing.onHost(senderWakeup())
                : WindowSharing.none();
    }

    private MemberFactory members(final HostPlace place) {
        return new MemberFactory() {
            @Override
            public Subscriber open(final GroupLeader leader) {
                return lead(place, leader);
            }

            @Override
            public void warmUp(final GroupLeader leader) {
                try (RollbackOnFailure opened = new RollbackOnFailure()) {
                    final DeviceBackend host = opened.add(providers.openDevice("host"));
                    final Subscription subscription =
                            subscription(place, host, GroupRole.leading(leader, place.channel()), _ -> {});
                    opened.keep();
                    subscription.warmUp();
                }
            }
        };
    }

    // The member that the source sees receives into host memory, wherever its followers want their frames.
    private EngineSubscriber lead(final HostPlace place, final GroupLeader leader) {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final DeviceBackend host = opened.add(providers.openDevice("host"));
            final EngineSubscriber member = open(place, host, GroupRole.leading(leader, place.channel()));
            opened.keep();
            return member;
        }
    }

    private EngineSubscriber open(final HostPlace place, final DeviceBackend device, final GroupRole role) {
        final Subscription subscription = subscription(place, device, role, this::remove);
        receiver.send(() -> receiver.add(subscription));
        return subscription.subscriber();
    }

    private Subscription subscription(
            final HostPlace place,
            final DeviceBackend device,
            final GroupRole role,
            final Consumer<EngineSubscriber> removal) {
        final Channel channel = place.channel();
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            opened.add(role);
            EncryptionLimits.requirePlacement(channel, device);
            final EngineSubscriber subscriber = new EngineSubscriber(channel, device, this, removal);
            final Transport transport = opened.add(providers.openTransport(channel));
            final int memoryNode = place.memoryNode(transport.networkInterface());
            final Subscription made = new Subscription(subscriber, role, transport, context.on(memoryNode), receiver);
            opened.keep();
            return made;
        }
    }

    @Override
    public Codec codec(final List<Class<? extends Record>> records) {
        return new KryoCodec(records);
    }

    @Override
    public int doWork() {
        if (!threads.areInvoked()) {
            throw new IllegalStateException("doWork: this node runs its own threads; launch it with INVOKER");
        }
        return threads.invoke();
    }

    ReceiverAgent receiver() {
        return receiver;
    }

    @Override
    public long nowNs() {
        return receiver.nowNs();
    }

    @Override
    public DeviceBackend openDevice(final String device) {
        return providers.openDevice(device);
    }

    @Override
    public Consumer<String> notices() {
        return config.notices();
    }

    @Override
    public Wakeup senderWakeup() {
        return threads.senderWakeup();
    }

    @Override
    public Wakeup receiverWakeup() {
        return threads.receiverWakeup();
    }

    @Override
    public boolean await(final BooleanSupplier condition, final Duration longest) {
        if (!threads.areInvoked()) {
            return Uninterrupted.await(condition, nanos(longest));
        }
        final Waiter unwoken = new Waiter();
        final long endNs = System.nanoTime() + nanos(longest);
        boolean interrupted = false;
        do {
            interrupted |= Thread.interrupted();
            threads.invokeUntil(unwoken, condition, endNs - System.nanoTime());
        } while (Thread.currentThread().isInterrupted());
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return condition.getAsBoolean();
    }

    @Override
    public void await(final Waiter sleeper, final BooleanSupplier condition, final Duration longest) {
        if (threads.areInvoked()) {
            threads.invokeUntil(sleeper, condition, nanos(longest));
        } else {
            sleeper.await(condition, nanos(longest));
        }
    }

    private static long nanos(final Duration duration) {
        return duration.compareTo(WAIT_MAX) < 0 ? duration.toNanos() : WAIT_MAX.toNanos();
    }

    // Takes a publisher out of the duty cycle and closes its session: its lanes by the agent, then all else, which may
    // wait for the publisher's device.
    private void remove(final EnginePublisher publisher) {
        final boolean finished = awaitAgent(sender, () -> {
            sender.remove(publisher.session());
            publisher.session().finish(sender.nowNs());
        });
        if (finished) {
            publisher.release();
        } else {
            sender.send(publisher::release);
        }
        // Only after the removal, because a closing node waits for it.
        publishers.remove(publisher);
    }

    private void remove(final EngineSubscriber subscriber) {
        subscribers.remove(subscriber);
        awaitAgent(receiver, () -> receiver.remove(subscriber));
    }

    private boolean awaitAgent(final SessionAgent<?> agent, final Runnable command) {
        final AtomicBoolean done = new AtomicBoolean();
        agent.send(() -> {
            try {
                command.run();
            } finally {
                done.set(true);
            }
        });
        return await(done::get, Duration.ofNanos(CLOSE_WAIT_NS));
    }

    @Override
    public void close() {
        final boolean again;
        lifecycle.lock();
        try {
            again = closed;
            closed = true;
        } finally {
            lifecycle.unlock();
        }
        if (again) {
            closeUnfreed();
            return;
        }
        final List<AutoCloseable> steps = new ArrayList<>();
        steps.addAll(publishers);
        steps.addAll(subscribers);
        // The agents free the memory that the user does not hold; the node frees the rest here.
        steps.add(() -> await(receiver::isIdle, Duration.ofMillis(200)));
        steps.add(threads::stop);
        steps.add(this::closeSessions);
        steps.add(threads);
        steps.add(exporter);
        steps.add(counters);
        CloseHelper.closeAll(steps);
    }

    // The agents have stopped, so this thread finishes their work: half-open sessions, commands not yet taken.
    private void closeSessions() {
        for (int i = 0; i < CLOSE_ROUNDS && sender.doWork() + receiver.doWork() + conductor.doWork() > 0; i++) {
            Thread.onSpinWait();
        }
        final List<SourceSession> left = List.copyOf(sender.members());
        left.forEach(sender::remove);
        left.forEach(session -> session.finish(sender.nowNs()));
        left.forEach(SourceSession::close);
        unfreed.addAll(receiver.closing());
        closeUnfreed();
    }

    // The node cannot end a kernel of the user, and a device that frees memory of a running kernel may block for
    // ever. The node waits for a bounded time, and then leaves that memory allocated.
    private void closeUnfreed() {
        Uninterrupted.await(() -> unfreed.stream().noneMatch(Subscription::isBusy), CLOSE_WAIT_NS);
        final List<AutoCloseable> steps = new ArrayList<>();
        for (final Subscription subscription : List.copyOf(unfreed)) {
            if (!subscription.isBusy() && unfreed.remove(subscription)) {
                steps.add(subscription);
            }
        }
        unfreed.forEach(subscription -> steps.add(() -> {
            throw new DeviceException(
                    subscription.name() + ": a kernel or a copy on "
                            + subscription.subscriber().device().name() + " has not ended "
                            + TimeUnit.NANOSECONDS.toSeconds(CLOSE_WAIT_NS)
                            + " s after it was closed; memory that it may touch is not freed: end it, then close the node again");
        }));
        CloseHelper.closeAll(steps);
    }
}
