package io.framecast.samples.demo;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.CommandException;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.PeerLostException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/// Starts the demo's processes, waits for them within a bound, and ends them all when one fails. None is left
/// behind.
final class DemoRun {
    private static final long POLL_NS = 10_000_000;

    /// When one child fails, its peers often fail for it: the cause is looked for among all children that ended
    /// this soon.
    private static final long CAUSE_WAIT_NS = 300_000_000;

    private final DemoPlan plan;
    private final DemoHosts hosts;
    private final Environment environment;
    private final List<DemoChild> children = new ArrayList<>();
    private final Set<String> shown = ConcurrentHashMap.newKeySet();

    DemoRun(final DemoPlan plan, final DemoHosts hosts, final Environment environment) {
        this.plan = plan;
        this.hosts = hosts;
        this.environment = environment;
    }

    /// @throws CommandException with the line and status of the child that failed first
    /// @throws PeerLostException when a child hangs
    DemoResult run() {
        environment.console().line("channel " + plan.channel());
        try {
            for (int i = 1; i <= plan.subscribers(); i++) {
                final List<String> arguments = plan.subscriberArguments(i, hosts.channel(i, plan.channel()));
                children.add(new DemoChild("subscriber " + i, hosts.prefix(i), arguments, false, environment, shown));
            }
            final List<String> arguments = plan.publisherArguments();
            final DemoChild publisher =
                    new DemoChild("publisher", hosts.sourcePrefix(), arguments, true, environment, shown);
            children.add(publisher);
            environment.stop().onRequest(publisher::stop);
            awaitChildren();
            return result();
        } catch (final IOException e) {
            throw new ConfigException("cannot start a process: " + e.getMessage(), e);
        } finally {
            children.forEach(DemoChild::kill);
        }
    }

    private void awaitChildren() {
        while (children.stream().anyMatch(DemoChild::isAlive)) {
            if (hasFailed()) {
                LockSupport.parkNanos(this, CAUSE_WAIT_NS);
                throw cause();
            }
            if (isQuiet()) {
                throw hung();
            }
            showProgress();
            LockSupport.parkNanos(this, POLL_NS);
        }
        environment.console().clearProgress();
        if (hasFailed()) {
            throw cause();
        }
    }

    /// No child that still works has come any further.
    private boolean isQuiet() {
        final long nowNs = System.nanoTime();
        final long quietMaxNs = plan.quietMax().toNanos();
        return children.stream().allMatch(child -> nowNs - child.progressedNs() > quietMaxNs);
    }

    private boolean hasFailed() {
        return children.stream().anyMatch(child -> !child.isAlive() && child.report() == null);
    }

    /// A killed process before a complaint, a complaint about the environment before a lost peer.
    private CommandException cause() {
        CommandException best = null;
        for (final DemoChild child : children) {
            if (!child.isAlive() && child.report() == null) {
                final CommandException failure = child.failure();
                best = best == null || rank(failure) < rank(best) ? failure : best;
            }
        }
        return best == null ? new CommandException(ExitStatus.PEER_LOST, "a process failed") : best;
    }

    private static int rank(final CommandException failure) {
        final boolean killed = String.valueOf(failure.getMessage()).contains("killed by signal");
        return killed ? 0 : failure.status() == ExitStatus.USAGE ? 1 : 2;
    }

    private PeerLostException hung() {
        final String names = children.stream()
                .filter(DemoChild::isAlive)
                .map(DemoChild::name)
                .collect(Collectors.joining(", "));
        return new PeerLostException(
                "hung: " + names + " stood still for " + plan.quietMax().toSeconds() + " s");
    }

    private void showProgress() {
        final Console console = environment.console();
        if (console.isProgressDue()) {
            final String[] fields = children.getLast().progress().split(" ", 3);
            if (fields.length == 3) {
                console.progress(fields[2], Long.parseLong(fields[0]), Long.parseLong(fields[1]));
            }
        }
    }

    private DemoResult result() {
        final List<Map<?, ?>> reports = new ArrayList<>();
        for (final DemoChild child : children) {
            final Map<?, ?> report = child.report();
            if (report == null) {
                throw child.failure();
            }
            reports.add(report);
        }
        final Map<?, ?> publisher = reports.removeLast();
        return new DemoResult(plan.frameBytes(), publisher, reports, hosts.groups());
    }
}
