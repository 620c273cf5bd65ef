package io.framecast.perf.harness;

import io.framecast.perf.harness.MeasurementFailedException.Reason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongConsumer;

/// The processes of one contender: a source, and as many receivers as its cases have at most. They live
/// through all rounds; a round in which one of them fails is the last of all.
public final class Pool implements AutoCloseable {
    /// Index of the source.
    public static final int SOURCE = -1;

    private static final long LEAVE_SECONDS = 40;

    private final BlockingQueue<Child.Line> answers = new LinkedBlockingQueue<>();
    private final List<Child> receivers = new ArrayList<>();
    private final Child source;

    public Pool(final int receiversMax, final Starting starting) {
        for (int i = 0; i < receiversMax; i++) {
            receivers.add(starting.start(i, answers::add));
        }
        source = starting.start(SOURCE, answers::add);
    }

    /// Starts a process, whose lines go to `answers`.
    public interface Starting {
        /// @param index of a receiver, or [#SOURCE]
        Child start(int index, Consumer<Child.Line> answers);
    }

    /// Starts a pool of JVMs. The words of their role are [ChildRole#PUBLISH] or [ChildRole#SUBSCRIBE], and
    /// `words`.
    ///
    /// @param hosts of the processes, by index
    /// @param afterEnd takes the number of each process when it was closed
    public static Pool start(
            final String name,
            final int receiversMax,
            final Class<? extends ChildRole> role,
            final List<String> words,
            final IntFunction<Network.Host> hosts,
            final Consumer<String> console,
            final LongConsumer afterEnd) {
        return new Pool(receiversMax, (index, answers) -> {
            final boolean source = index == SOURCE;
            final String process = name + (source ? " source" : " receiver " + index);
            final List<String> all = new ArrayList<>(List.of(source ? ChildRole.PUBLISH : ChildRole.SUBSCRIBE));
            all.addAll(words);
            return new Child(
                    process,
                    Child.start(hosts.apply(index).prefix(), List.of(), role, all),
                    line -> console.accept("[" + process + "] " + line),
                    answers,
                    afterEnd);
        });
    }

    /// The reports of a round, as JSON.
    public record Reports(String source, List<String> receivers) {
        public <T extends Record> List<T> receivers(final Class<T> type) {
            return receivers.stream().map(report -> Records.read(type, report)).toList();
        }
    }

    /// Runs one round with the source and the first receivers.
    ///
    /// @param ofReceivers the round as each of its receivers sees it
    /// @param bystanders receivers at the end of the list that may have been stopped: the pool waits for
    ///     them last
    /// @param endNs when the receivers must be done
    /// @throws MeasurementFailedException when a process has failed or is not done in time; the pool is of
    ///     no use then
    public Reports run(
            final Record ofSource, final List<? extends Record> ofReceivers, final int bystanders, final long endNs)
            throws InterruptedException, MeasurementFailedException {
        final List<Child> all = receivers.subList(0, ofReceivers.size());
        final List<Child> awaited = all.subList(0, all.size() - bystanders);
        final List<Child> others = all.subList(awaited.size(), all.size());
        for (int i = 0; i < all.size(); i++) {
            all.get(i).order(ParentLink.ROUND + " " + Records.write(ofReceivers.get(i)));
        }
        source.order(ParentLink.ROUND + " " + Records.write(ofSource));
        final Map<Child, String> reports = new HashMap<>();
        await(awaited, reports, endNs);
        for (final Child other : others) {
            try {
                other.signal(Signal.CONT);
            } catch (final IOException e) {
                // The process is gone, and its last line says so.
            }
        }
        source.order(ParentLink.GONE);
        final long leaveNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LEAVE_SECONDS);
        await(List.of(source), reports, leaveNs);
        await(others, reports, leaveNs);
        return new Reports(
                reports.getOrDefault(source, ""),
                all.stream().map(child -> reports.getOrDefault(child, "")).toList());
    }

    // When one end has failed the other waits for it in vain: the first failure is the reason.
    private void await(final List<Child> wanted, final Map<Child, String> reports, final long endNs)
            throws InterruptedException, MeasurementFailedException {
        while (!reports.keySet().containsAll(wanted)) {
            final Child.Line answer = answers.poll(Math.max(0, endNs - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (answer == null) {
                final Child late = wanted.stream()
                        .filter(child -> !reports.containsKey(child))
                        .findFirst()
                        .orElseThrow();
                throw new MeasurementFailedException(late.name() + " did not end in time", Reason.STUCK);
            }
            if (!answer.kind().equals(ParentLink.REPORT)) {
                throw new MeasurementFailedException(
                        answer.child().name() + ": " + answer.text(),
                        answer.kind().equals(ParentLink.DIFFERENCE) ? Reason.FRAMES_DIFFER : Reason.FAILED);
            }
            reports.put(answer.child(), answer.text());
        }
    }

    @Override
    public void close() {
        receivers.forEach(Child::close);
        source.close();
    }
}
