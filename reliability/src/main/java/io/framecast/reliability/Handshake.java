package io.framecast.reliability;

import io.framecast.reliability.ReceiverMachine.State;
import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.ControlIds;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.JoinLayout;
import java.lang.foreign.MemorySegment;

/// A receiver's side of JOIN → ADMIT → probe → READY: tokens, what is said, and when it is said again. A
/// probe may overtake its ADMIT, for the two take different lanes, so the last one seen is remembered.
///
/// One thread. Each step is told where the receiver stands, and answers where it stands then.
final class Handshake {
    static final long RETRY_NS = 20_000_000;
    static final long RETRY_MAX_NS = 500_000_000;
    /// Of each step: eight seconds.
    static final int ATTEMPTS_MAX = 20;

    private final ReceiverConfig config;
    private final ControlIds ids;
    private final HeaderChecksum checksum;
    private final ReceiverOutput output;
    private final boolean serves;
    private int token;
    private int probeToken;
    private boolean probed;
    private final RetryTimer retry = new RetryTimer(RETRY_NS, RETRY_MAX_NS, ATTEMPTS_MAX);

    Handshake(
            final ReceiverConfig config,
            final ControlIds ids,
            final HeaderChecksum checksum,
            final ReceiverOutput output,
            final boolean serves) {
        this.config = config;
        this.ids = ids;
        this.checksum = checksum;
        this.output = output;
        this.serves = serves;
    }

    State onAdmit(final State state, final int admitToken, final long nowNs) {
        if (state != State.JOINING && state != State.PROBING) {
            return state;
        }
        if (state == State.JOINING) {
            restart(nowNs);
        }
        token = admitToken;
        return proceed(State.PROBING, nowNs);
    }

    State onProbe(final State state, final int arrivedToken, final long nowNs) {
        probeToken = arrivedToken;
        probed = true;
        return proceed(state, nowNs);
    }

    private State proceed(final State state, final long nowNs) {
        if (state != State.PROBING || !probed || probeToken != token) {
            return state;
        }
        restart(nowNs);
        send(State.STARTING, nowNs);
        return State.STARTING;
    }

    // The next step begins.
    private void restart(final long nowNs) {
        retry.begin(nowNs + RETRY_NS);
    }

    /// JOIN is repeated while probing as well: the source answers it with ADMIT and another probe.
    void send(final State state, final long nowNs) {
        final MemorySegment datagram = output.control();
        output.sendControl(
                state == State.STARTING
                        ? AdmitLayout.writeReady(datagram, ids, token, config.firstGrantSlots(), checksum)
                        : JoinLayout.write(datagram, ids, config.joinTerms(serves), checksum));
        retry.onAttempt(nowNs);
    }

    /// It is time to say something again; or to give up, when it was said often enough.
    State onTick(final State state, final long nowNs) {
        if (retry.isExhausted()) {
            return state == State.PROBING ? State.REFUSED : State.LOST;
        }
        send(state, nowNs);
        return state;
    }

    long dueNs() {
        return retry.dueNs();
    }
}
