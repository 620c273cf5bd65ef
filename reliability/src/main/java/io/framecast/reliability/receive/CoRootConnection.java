package io.framecast.reliability.receive;

import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;

/// A member's RC connection to its co-root's replica of the window; each assignment makes a new one. The member
/// repeats its endpoint until the co-root answers with its own, and then reads missing datagrams there. The machine
/// closes the previous connection before the member obeys, so that no former member still reads a group's replica.
/// Where no connection stands, or it broke or is slow, the member asks the co-root by datagram.
///
/// One thread. The caller of the machine reports the outcome of each request.
public final class CoRootConnection {
    private static final long RETRY_NS = 20_000_000;
    private static final long RETRY_MAX_NS = RETRY_NS << 4;
    private static final int ATTEMPTS_MAX = 20;

    private enum Stage {
        NONE,
        ASKING,
        CONNECTING,
        UP,
        BROKEN
    }

    private final ReceiverOutput output;
    private final Counts<ReceiverCount> counts;
    private final ControlWriter ids;
    private final boolean able;
    private Stage stage = Stage.NONE;
    private final RetryTimer retry = new RetryTimer(RETRY_NS, RETRY_MAX_NS, ATTEMPTS_MAX);

    /// @param ids of this receiver; their epoch is the one it obeys
    /// @param able whether this receiver can act on peers' memory at all
    CoRootConnection(
            final ReceiverOutput output,
            final Counts<ReceiverCount> counts,
            final ControlWriter ids,
            final boolean able) {
        this.output = output;
        this.counts = counts;
        this.ids = ids;
        this.able = able;
    }

    /// The receiver reports to a co-root from now on; it was parted from the previous one.
    void onAssigned(final long nowNs) {
        if (able && output.remote().openCoRootEndpoint()) {
            stage = Stage.ASKING;
            retry.begin(nowNs);
        }
    }

    /// The receiver leaves its co-root: when this returns it reads nothing there.
    void onParted() {
        if (stage != Stage.NONE) {
            stage = Stage.NONE;
            retry.stop();
            output.remote().closeCoRootEndpoint();
        }
    }

    /// The co-root's RC_CONNECT. A RC_CONNECT of an earlier assignment is not this co-root's.
    Verdict onOffer(final MemorySegment datagram, final long offset) {
        if (!RcConnectLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        if (stage == Stage.ASKING && ControlLayout.EPOCH.get(datagram, offset) == ids.epoch()) {
            retry.stop();
            stage = Stage.CONNECTING;
            if (!output.remote().connectCoRootEndpoint(RcConnectLayout.offer(datagram, offset))) {
                fail();
            }
        }
        return Verdict.GOOD;
    }

    /// The connection stands.
    public void onUp() {
        stage = stage == Stage.CONNECTING ? Stage.UP : stage;
    }

    /// The connection is gone, or could not be made.
    public void onBroken() {
        if (stage != Stage.NONE && stage != Stage.BROKEN) {
            fail();
        }
    }

    private void fail() {
        stage = Stage.BROKEN;
        retry.stop();
        counts.add(ReceiverCount.CO_ROOT_CONNECTION_FAILURES);
        output.remote().closeCoRootEndpoint();
    }

    /// Whether missing datagrams may be read out of the co-root's replica.
    public boolean isUp() {
        return stage == Stage.UP;
    }

    /// Sends the endpoint to the co-root when that is due.
    void onTick(final long nowNs) {
        if (!retry.isDue(nowNs)) {
            return;
        }
        if (retry.isExhausted()) {
            fail();
            return;
        }
        retry.onAttempt(nowNs);
        final byte[] descriptor = output.remote().coRootDescriptor();
        if (descriptor != null) {
            output.sendToCoRoot(
                    RcConnectLayout.writeOfSet(ids.in(output.control()), EndpointOffer.ofMember(descriptor)));
        }
    }

    long nextDeadlineNs() {
        return retry.dueNs();
    }
}
