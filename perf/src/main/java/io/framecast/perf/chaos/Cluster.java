package io.framecast.perf.chaos;

import io.framecast.perf.harness.Records;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// All processes of a run, past and present. The run's thread.
final class Cluster implements AutoCloseable {
    private static final long TICK_MS = 20;
    private static final long JOIN_MAX_MS = 30_000;
    // As docs/host-segment.md names it.
    private static final String GROUPS = "framecast";

    private final ChaosPlan plan;
    private final ChaosNetwork network;
    private final Path directory;
    private final Consumer<String> lines;
    private final ChaosProcess publisher;
    private final Optional<ChaosProcess> attacker;
    private final List<ProcessPlace> places = new ArrayList<>();
    private final List<ChaosProcess> all = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private volatile boolean stopped;

    Cluster(final ChaosPlan plan, final ChaosNetwork network, final Consumer<String> lines) throws IOException {
        this.plan = plan;
        this.network = network;
        this.lines = lines;
        directory = Files.createTempDirectory("framecast-chaos");
        publisher = start(
                "publisher",
                ChaosNetwork.SOURCE,
                plan.publisherChannel(network.device(ChaosNetwork.SOURCE)),
                ChaosSettings.PUBLISH,
                false);
        attacker = plan.hasAttacker()
                ? Optional.of(start("attacker", plan.attackerHost(), "", ChaosSettings.ATTACK, false))
                : Optional.empty();
        for (int i = 0; i < plan.subscribers(); i++) {
            places.add(new ProcessPlace(i, plan.hostOf(i), subscriber(i)));
        }
    }

    private ChaosProcess subscriber(final int index) {
        final int host = plan.hostOf(index);
        return start(
                "subscriber " + index,
                host,
                plan.subscriberChannel(index, network.device(host)),
                ChaosSettings.SUBSCRIBE,
                index == ChaosPlan.WITNESS);
    }

    private ChaosProcess start(
            final String name, final int host, final String channel, final String role, final boolean isWitness) {
        final List<String> prefix = new ArrayList<>(network.within(host));
        // Where host groups meet: what the dead leave there is looked for at the end.
        prefix.addAll(List.of("env", "XDG_RUNTIME_DIR=" + directory));
        final ChaosProcess process = new ChaosProcess(
                name,
                prefix,
                new ChaosSettings(
                        role,
                        channel,
                        directory.resolve("counters" + all.size()),
                        new ChaosFrames(plan.seed(), plan.frameBytes()),
                        plan.rate(),
                        isWitness ? plan.bug() : InjectedBug.NONE,
                        plan.areGroups()));
        all.add(process);
        return process;
    }

    ChaosProcess publisher() {
        return publisher;
    }

    /// Has garbage sent.
    void attack(final Attacker.Order order) {
        attacker.orElseThrow().order(ChaosRole.ATTACK + " " + Records.write(order));
    }

    /// Datagrams of garbage that were sent.
    long garbage() {
        return attacker.map(process -> process.log().garbage()).orElse(0L);
    }

    /// How many subscriber processes there ever were.
    int lives() {
        return all.size() - (attacker.isPresent() ? 2 : 1);
    }

    List<ProcessPlace> places() {
        return places;
    }

    /// Every process there ever was.
    List<ChaosProcess> all() {
        return List.copyOf(all);
    }

    /// The places whose process has had frames for this long, and may have more.
    List<ProcessPlace> settled(final long forMs) {
        final long nowNs = System.nanoTime();
        return places.stream()
                .filter(place -> place.isSettled(nowNs, TimeUnit.MILLISECONDS.toNanos(forMs)))
                .toList();
    }

    /// Failures that belong to no fault.
    List<String> complaints() {
        return List.copyOf(complaints);
    }

    /// Ends every wait at once, from another thread.
    void stop() {
        stopped = true;
    }

    boolean isStopped() {
        return stopped;
    }

    /// Waits, while processes that ended are started again when they are due.
    ///
    /// @param longestMs not longer than this
    /// @return whether the condition came true
    boolean await(final BooleanSupplier condition, final long longestMs) {
        final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(longestMs);
        // Each look costs those under test their CPU, where that is emulated.
        final long tickNs = TimeUnit.MILLISECONDS.toNanos(plan.patienceMs(TICK_MS));
        while (!condition.getAsBoolean()) {
            final long nowNs = System.nanoTime();
            if (nowNs >= endNs || stopped) {
                return condition.getAsBoolean();
            }
            tick(nowNs);
            LockSupport.parkNanos(Math.min(tickNs, endNs - nowNs));
        }
        return true;
    }

    void pause(final long forMs) {
        await(() -> false, forMs);
    }

    private void tick(final long nowNs) {
        for (final ProcessPlace place : places) {
            final ChaosProcess process = place.process();
            process.tick(nowNs);
            final boolean watched = !place.isVacant() && !process.isDoomed();
            if (place.isToRestart(nowNs)) {
                place.take(subscriber(place.index()));
            } else if (watched && !process.isAlive() && !process.log().isEnded()) {
                complain(process, "ended without a reason: " + process.lastWords());
                place.restartAt(nowNs);
            } else if (watched
                    && process.log().joinedNs() == StreamLog.NONE
                    && nowNs - process.startedNs() > TimeUnit.MILLISECONDS.toNanos(joinMaxMs())) {
                complain(process, "did not join within " + joinMaxMs() / 1_000 + " s");
                process.close();
                place.restartAt(nowNs);
            }
        }
        if (!publisher.isDoomed() && !publisher.isAlive()) {
            complain(publisher, "ended without a reason: " + publisher.lastWords());
            publisher.doom();
            stop();
        }
    }

    private long joinMaxMs() {
        return plan.patienceMs(JOIN_MAX_MS);
    }

    private void complain(final ChaosProcess process, final String text) {
        complaints.add(process.name() + " " + text);
        lines.accept("framecast: " + process.name() + " " + text);
        show(process);
    }

    /// Shows the first lines of a process.
    void show(final ChaosProcess process) {
        process.lines().forEach(line -> lines.accept("  [" + process.name() + "] " + line));
    }

    /// Sockets of leaders that are left.
    List<String> sockets() throws IOException {
        final Path groups = directory.resolve(GROUPS);
        if (!Files.exists(groups)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(groups)) {
            return files.map(Path::toString)
                    .filter(name -> name.endsWith(".sock"))
                    .toList();
        }
    }

    /// Ends every process, and waits until it has.
    void endAll() {
        all.forEach(ChaosProcess::close);
    }

    @Override
    public void close() {
        all.forEach(ChaosProcess::close);
        try {
            final Path groups = directory.resolve(GROUPS);
            Files.deleteIfExists(groups.resolve("lock"));
            Files.deleteIfExists(groups);
            Files.deleteIfExists(directory);
        } catch (final IOException e) {
            complaints.add("its directory stays behind: " + e.getMessage());
        }
    }
}
