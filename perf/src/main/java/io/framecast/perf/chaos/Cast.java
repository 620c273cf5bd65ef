package io.framecast.perf.chaos;

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

/// All processes of a run, past and present. The run's thread.
final class Cast implements AutoCloseable {
    private static final long TICK_MS = 20;
    private static final long JOIN_MAX_MS = 30_000;

    private final ChaosPlan plan;
    private final ChaosNetwork network;
    private final Path directory;
    private final Consumer<String> lines;
    private final ChaosProcess publisher;
    private final Optional<ChaosProcess> stranger;
    private final List<Seat> seats = new ArrayList<>();
    private final List<ChaosProcess> all = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private volatile boolean stopped;

    Cast(final ChaosPlan plan, final ChaosNetwork network, final Consumer<String> lines) throws IOException {
        this.plan = plan;
        this.network = network;
        this.lines = lines;
        directory = Files.createTempDirectory("framecast-chaos");
        publisher = start(
                "publisher",
                ChaosNetwork.SOURCE,
                ChildSettings.PUBLISH,
                plan.publisherChannel(network.device(ChaosNetwork.SOURCE)));
        stranger = plan.hasStranger() ? Optional.of(stranger()) : Optional.empty();
        for (int i = 0; i < plan.subscribers(); i++) {
            seats.add(new Seat(i, subscriber(i), System.nanoTime()));
        }
    }

    private ChaosProcess subscriber(final int index) throws IOException {
        return start(
                "subscriber " + index,
                index + 1,
                ChildSettings.SUBSCRIBE,
                plan.subscriberChannel(index, network.device(index + 1)));
    }

    private ChaosProcess stranger() throws IOException {
        final int host = plan.strangerHost();
        return start("stranger", host, ChildSettings.SHOUT, plan.publisherChannel(network.device(host)));
    }

    private ChaosProcess start(final String name, final int host, final String role, final String channel)
            throws IOException {
        final Plant plant = host == ChaosPlan.WITNESS + 1 ? plan.plant() : Plant.NONE;
        final ChaosProcess process = ChaosProcess.start(
                name,
                network.within(host),
                new ChildSettings(
                        role,
                        ProcessHandle.current().pid(),
                        channel,
                        directory.resolve("counters" + all.size()),
                        new ChaosFrames(plan.seed(), plan.frameBytes()),
                        plan.rate(),
                        plant));
        all.add(process);
        return process;
    }

    ChaosProcess publisher() {
        return publisher;
    }

    /// Has garbage sent.
    void shout(final String order) {
        stranger.orElseThrow().tell(order);
    }

    /// Datagrams of garbage that were sent.
    long shouted() {
        return stranger.map(process -> process.log().shouted()).orElse(0L);
    }

    /// Processes that are no subscribers.
    int others() {
        return stranger.isPresent() ? 2 : 1;
    }

    List<Seat> seats() {
        return seats;
    }

    /// Every process there ever was.
    List<ChaosProcess> all() {
        return List.copyOf(all);
    }

    /// Those who have had frames for this long, and may have more.
    List<Seat> settled(final long forMs) {
        final long nowNs = System.nanoTime();
        return seats.stream()
                .filter(seat -> seat.isSettled(nowNs, TimeUnit.MILLISECONDS.toNanos(forMs)))
                .toList();
    }

    /// What went wrong and belongs to no fault.
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
    boolean await(final BooleanSupplier condition, final long longestMs) throws IOException {
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

    void pause(final long forMs) throws IOException {
        await(() -> false, forMs);
    }

    private void tick(final long nowNs) throws IOException {
        for (final Seat seat : seats) {
            seat.tick(nowNs);
            final ChaosProcess process = seat.process();
            if (seat.isToRestart(nowNs)) {
                seat.take(subscriber(seat.index()), nowNs);
            } else if (!seat.isVacant() && !process.isDoomed() && hasEndedBadly(process)) {
                complain(
                        process,
                        "ended without a reason: " + process.log().over().orElse("it said nothing"));
                seat.restartAt(nowNs);
            } else if (!seat.isVacant()
                    && !process.isDoomed()
                    && process.log().joinedNs() == StreamLog.NONE
                    && nowNs - seat.startedNs() > TimeUnit.MILLISECONDS.toNanos(joinMaxMs())) {
                complain(process, "did not join within " + joinMaxMs() / 1_000 + " s");
                process.close();
                seat.restartAt(nowNs);
            }
        }
        if (!publisher.isDoomed() && !publisher.isAlive()) {
            complain(
                    publisher,
                    "ended without a reason: " + publisher.log().over().orElse("it said nothing"));
            publisher.doom();
            stop();
        }
    }

    private long joinMaxMs() {
        return plan.patienceMs(JOIN_MAX_MS);
    }

    private static boolean hasEndedBadly(final ChaosProcess process) {
        return !process.isAlive() && !process.log().isEnded();
    }

    private void complain(final ChaosProcess process, final String text) {
        complaints.add(process.name() + " " + text);
        lines.accept("framecast: " + process.name() + " " + text);
        process.said().forEach(line -> lines.accept("  [" + process.name() + "] " + line));
    }

    /// Ends every process, and waits until it has.
    void endAll() {
        all.forEach(ChaosProcess::close);
    }

    @Override
    public void close() {
        all.forEach(ChaosProcess::close);
        try {
            Files.deleteIfExists(directory);
        } catch (final IOException e) {
            complaints.add("its directory stays behind: " + e.getMessage());
        }
    }
}
