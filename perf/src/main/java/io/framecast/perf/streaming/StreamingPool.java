package io.framecast.perf.streaming;

import io.framecast.perf.bench.ChildProcess;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// The processes of one contender: a source, and as many receivers as there are at most. They live through
/// all rounds.
final class StreamingPool implements AutoCloseable {
    private final List<ChildProcess> receivers = new ArrayList<>();
    private final ChildProcess source;
    private final BlockingQueue<ChildProcess.Answer> answers = new LinkedBlockingQueue<>();

    StreamingPool(final String name, final int receiversMax, final Consumer<String> console) {
        for (int i = 0; i < receiversMax; i++) {
            receivers.add(start(name + " receiver " + i, StreamingChild.SUBSCRIBE, console));
        }
        source = start(name + " source", StreamingChild.PUBLISH, console);
    }

    private ChildProcess start(final String name, final String role, final Consumer<String> console) {
        final ChildProcess.Program program = new ChildProcess.Program(
                StreamingChild.class,
                List.of(role, Long.toString(ProcessHandle.current().pid())));
        return new ChildProcess(name, program.start(List.of()), console, answers::add);
    }

    /// What the processes of a stream reported.
    record Reports(String source, List<String> receivers) {}

    /// A process failed, or was not done in time.
    static class FailedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final boolean framesDiffer;

        FailedException(final String message, final boolean framesDiffer) {
            super(message);
            this.framesDiffer = framesDiffer;
        }

        boolean framesDiffer() {
            return framesDiffer;
        }
    }

    /// Nothing moved for so long that waiting again would only cost time.
    static final class StuckException extends FailedException {
        private static final long serialVersionUID = 1L;

        StuckException(final String message) {
            super(message, false);
        }
    }

    /// Has the source and the first receivers carry one stream.
    ///
    /// @throws FailedException when one has failed: the pool is of no use then
    Reports run(final StreamingSpec spec, final long endNs) throws InterruptedException, FailedException {
        final List<ChildProcess> taking = receivers.subList(0, spec.receivers());
        for (int i = 0; i < taking.size(); i++) {
            taking.get(i).begin(spec.ofReceiver(i).words());
        }
        source.begin(spec.words());
        final Map<ChildProcess, String> reports = new HashMap<>();
        while (reports.size() < taking.size() + 1) {
            final ChildProcess.Answer answer =
                    answers.poll(Math.max(0, endNs - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (answer == null) {
                throw new StuckException("a process did not end in time");
            }
            if (answer.kind() != ChildProcess.Kind.REPORT) {
                throw new FailedException(answer.text(), answer.kind() == ChildProcess.Kind.DIFFERENCE);
            }
            reports.put(answer.child(), answer.text());
        }
        return new Reports(
                reports.getOrDefault(source, ""),
                taking.stream().map(child -> reports.getOrDefault(child, "")).toList());
    }

    @Override
    public void close() {
        receivers.forEach(ChildProcess::close);
        source.close();
    }
}
