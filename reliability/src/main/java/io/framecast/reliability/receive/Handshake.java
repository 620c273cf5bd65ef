package io.framecast.reliability.receive;

import io.framecast.reliability.flow.RetryTimer;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.ResumeLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A receiver's side of JOIN → ADMIT → probe → READY: tokens, datagrams and their repetition. A probe may overtake
/// its ADMIT, because the two take different lanes, so the handshake remembers the last probe. Where a membership goes
/// on: RESUME → ADMIT → READY.
///
/// One thread. Each step takes the state of the receiver, and returns the next one.
final class Handshake {
    static final long RETRY_NS = 20_000_000;
    static final long RETRY_MAX_NS = 500_000_000;
    /// Attempts of each step: eight seconds.
    static final int ATTEMPTS_MAX = 20;

    private final ReceiverConfig config;
    private final ControlWriter ids;
    private final ReceiverOutput output;
    private final boolean serves;
    private final boolean fedOnly;
    private int token;
    // Of ADMIT; READY returns it.
    private long value;
    private boolean admitted;
    private boolean earlierBuild;
    private int probeToken;
    private boolean probed;
    private @Nullable Checkpoint resumed;
    private final RetryTimer retry = new RetryTimer(RETRY_NS, RETRY_MAX_NS, ATTEMPTS_MAX);

    Handshake(
            final ReceiverConfig config,
            final ControlWriter ids,
            final ReceiverOutput output,
            final boolean serves,
            final boolean fedOnly) {
        this.config = config;
        this.ids = ids;
        this.output = output;
        this.serves = serves;
        this.fedOnly = fedOnly;
    }

    State onAdmit(final State state, final int admitToken, final long admitValue, final long nowNs) {
        if (state == State.STARTING && resumed != null) {
            onMoved(admitToken, admitValue, nowNs);
            return state;
        }
        if (state != State.JOINING && state != State.PROBING) {
            return state;
        }
        if (state == State.JOINING) {
            restart(nowNs);
        }
        token = admitToken;
        value = admitValue;
        return proceed(State.PROBING, nowNs);
    }

    // ADMIT answered RESUME.
    private void onMoved(final int admitToken, final long admitValue, final long nowNs) {
        if (admitted && value == admitValue) {
            return;
        }
        token = admitToken;
        value = admitValue;
        admitted = true;
        restart(nowNs);
        send(State.STARTING, nowNs);
    }

    /// ADMIT came without a value.
    void onEarlierBuild() {
        earlierBuild = true;
    }

    /// Whether the source answered as builds do that did not know ADMIT's value: it can admit no receiver of this one.
    boolean isSourceEarlier() {
        return earlierBuild;
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

    /// The membership of another receiver goes on.
    void resume(final Checkpoint from, final long nowNs) {
        resumed = from;
        restart(nowNs);
        send(State.STARTING, nowNs);
    }

    // The next step begins.
    private void restart(final long nowNs) {
        retry.begin(nowNs + RETRY_NS);
    }

    /// JOIN is repeated while probing as well: the source answers it with ADMIT and another probe.
    void send(final State state, final long nowNs) {
        final MemorySegment datagram = output.control();
        final Checkpoint from = resumed;
        final JoinLayout.Terms terms = config.joinTerms(serves, fedOnly);
        final int bytes;
        if (from != null && !admitted) {
            bytes = ResumeLayout.write(ids.in(datagram), from.acknowledged, terms.withSecret(from.secret));
        } else if (state == State.STARTING) {
            bytes = AdmitLayout.writeReady(ids.in(datagram), token, value, config.firstGrantSlots());
        } else {
            bytes = JoinLayout.write(ids.in(datagram), terms);
        }
        output.sendControl(bytes);
        retry.onAttempt(nowNs);
    }

    /// Repeats the datagram of this step, or gives up after [#ATTEMPTS_MAX] attempts.
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
