package io.framecast.reliability.receive;

import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.PolicyLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;

/// Reports to the source for how many subscribers this receiver stands, and the strongest of their policies, until
/// the source answers.
///
/// One thread.
final class PolicyReport {
    private static final long RETRY_NS = 20_000_000;
    private static final long RETRY_MAX_NS = 1_000_000_000;
    // The source answers when it can wait for this receiver; one that is gone is noticed elsewhere.
    private static final int ATTEMPTS_MAX = Integer.MAX_VALUE;

    private final ControlWriter ids;
    private final ReceiverOutput output;
    private final RetryTimer retry = new RetryTimer(RETRY_NS, RETRY_MAX_NS, ATTEMPTS_MAX);
    private Delivery delivery;
    private int version;
    private int subscribers = 1;
    // By the source's answers.
    private boolean waitedFor;

    PolicyReport(final ControlWriter ids, final ReceiverOutput output, final Delivery delivery) {
        this.ids = ids;
        this.output = output;
        this.delivery = delivery;
        waitedFor = delivery.isWaitedFor();
    }

    /// The receiver stands for so many from now on.
    ///
    /// @param strongest of their policies
    void standFor(final int count, final Delivery strongest, final long nowNs) {
        if (count != subscribers || !strongest.equals(delivery)) {
            subscribers = count;
            delivery = strongest;
            waitedFor &= strongest.isWaitedFor();
            version++;
            retry.begin(nowNs);
        }
    }

    /// The membership was another receiver's: the source must hear which subscribers this one stands for.
    void onResumed() {
        subscribers = 0;
    }

    /// True while the source waits for this receiver: it announced that, and got no other policy since.
    boolean isWaitedFor() {
        return waitedFor;
    }

    Verdict onAnswer(final MemorySegment datagram, final long offset) {
        if (!PolicyLayout.isValid(datagram, offset) || PolicyLayout.VERSION.get(datagram, offset) > version) {
            return Verdict.IMPOSSIBLE;
        }
        if (PolicyLayout.VERSION.get(datagram, offset) == version) {
            retry.stop();
            waitedFor = delivery.isWaitedFor();
        }
        return Verdict.GOOD;
    }

    int onTick(final long nowNs) {
        if (!retry.isDue(nowNs)) {
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
