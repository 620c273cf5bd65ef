package io.framecast.perf.bench;

import io.framecast.perf.rivals.StreamSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// The processes of one system, a publisher and as many receivers as a group of cases has at most. They live
/// through the group's rounds; a round in which one of them fails is the last of all.
final class SystemPool implements AutoCloseable {
    private static final long LEAVE_SECONDS = 40;

    private final BlockingQueue<ChildProcess.Answer> answers = new LinkedBlockingQueue<>();
    private final List<ChildProcess> receivers = new ArrayList<>();
    private final ChildProcess source;

    SystemPool(final Starting starting, final int receiversMax) {
        for (int i = 0; i < receiversMax; i++) {
            receivers.add(starting.receiver(i, answers::add));
        }
        source = starting.source(answers::add);
    }

    /// Starts the processes; what they answer goes to `answers`.
    interface Starting {
        ChildProcess source(Consumer<ChildProcess.Answer> answers);

        ChildProcess receiver(int index, Consumer<ChildProcess.Answer> answers);
    }

    /// What the processes of a round reported.
    record Reports(String source, List<String> receivers) {}

    /// Has the publisher and the first receivers carry one stream. A bystander is the last of them: it may
    /// have been stopped, and is waited for when all others are done.
    ///
    /// @param specs the stream as each of its receivers sees it
    /// @throws MeasurementFailedException when one has failed or is not done in time; then the pool is of no
    ///     use
    Reports run(final StreamSpec ofSource, final List<StreamSpec> specs, final long endNs)
            throws InterruptedException, MeasurementFailedException {
        final int bystanders = ofSource.load().bystander().isThere() ? 1 : 0;
        final List<ChildProcess> taking = receivers.subList(0, specs.size() - bystanders);
        final List<ChildProcess> others = receivers.subList(taking.size(), specs.size());
        for (int i = 0; i < specs.size(); i++) {
            receivers.get(i).begin(specs.get(i));
        }
        source.begin(ofSource);
        final Map<ChildProcess, String> reports = new HashMap<>();
        await(taking, reports, endNs);
        for (final ChildProcess other : others) {
            other.resume();
        }
        source.sayGone();
        final long leaveNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LEAVE_SECONDS);
        await(List.of(source), reports, leaveNs);
        await(others, reports, leaveNs);
        final List<String> ofReceivers = new ArrayList<>();
        for (final ChildProcess receiver : receivers.subList(0, specs.size())) {
            ofReceivers.add(reports.getOrDefault(receiver, ""));
        }
        return new Reports(reports.getOrDefault(source, ""), ofReceivers);
    }

    // When one end has failed the other waits for it in vain: the first complaint is the reason.
    private void await(final List<ChildProcess> wanted, final Map<ChildProcess, String> reports, final long endNs)
            throws InterruptedException, MeasurementFailedException {
        while (!reports.keySet().containsAll(wanted)) {
            final ChildProcess.Answer answer =
                    answers.poll(Math.max(0, endNs - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (answer == null) {
                final String late = wanted.stream()
                        .filter(child -> !reports.containsKey(child))
                        .map(ChildProcess::name)
                        .findFirst()
                        .orElse("a process");
                throw new MeasurementFailedException(late + " did not end in time", false);
            }
            if (answer.kind() != ChildProcess.Kind.REPORT) {
                throw new MeasurementFailedException(answer.text(), answer.kind() == ChildProcess.Kind.DIFFERENCE);
            }
            reports.put(answer.child(), answer.text());
        }
    }

    @Override
    public void close() {
        receivers.forEach(ChildProcess::close);
        source.close();
    }
}
