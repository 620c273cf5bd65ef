package io.framecast.reliability.receive;

import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.PolicyLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;

/// Reports to the source for how many subscribers this receiver stands, until the source answers.
///
/// One thread.
final class PolicyReport {
    private static final long RETRY_NS = 20_000_000;
    private static final long RETRY_MAX_NS = 1_000_000_000;
    private static final int ATTEMPTS_MAX = 20;

    private final ControlWriter ids;
    private final ReceiverOutput output;
    private final Delivery delivery;
    private final RetryTimer retry = new RetryTimer(RETRY_NS, RETRY_MAX_NS, ATTEMPTS_MAX);
    private int version;
    private int subscribers = 1;

    PolicyReport(final ControlWriter ids, final ReceiverOutput output, final Delivery delivery) {
        this.ids = ids;
        this.output = output;
        this.delivery = delivery;
    }

    /// The receiver stands for so many from now on.
    void standFor(final int count, final long nowNs) {
        if (count != subscribers) {
            subscribers = count;
            version++;
            retry.begin(nowNs);
        }
    }

    Verdict onAnswer(final MemorySegment datagram, final long offset) {
        if (!PolicyLayout.isValid(datagram, offset) || PolicyLayout.VERSION.get(datagram, offset) > version) {
            return Verdict.IMPOSSIBLE;
        }
        if (PolicyLayout.VERSION.get(datagram, offset) == version) {
            retry.stop();
        }
        return Verdict.GOOD;
    }

    int onTick(final long nowNs) {
        if (!retry.isDue(nowNs)) {
            return 0;
        }
        if (retry.isExhausted()) {
            retry.stop();
            return 0;
        }
        output.sendControl(PolicyLayout.write(ids.in(output.control()), version, delivery, subscribers));
        retry.onAttempt(nowNs);
        return 1;
    }

    long dueNs() {
        return retry.dueNs();
    }
}
