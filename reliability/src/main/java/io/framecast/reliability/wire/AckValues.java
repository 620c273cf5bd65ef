package io.framecast.reliability.wire;

/// What an ACK says. Mutable and reused.
public final class AckValues {
    long acknowledged;
    long grant;
    long highest;
    long echoTimeNs;
    long echoDelayNs;

    /// Sets what was received and what may come.
    public AckValues progress(final long cumulative, final long credit, final long highestSequence) {
        acknowledged = cumulative;
        grant = credit;
        highest = highestSequence;
        return this;
    }

    /// Sets the echo of the source's clock.
    public AckValues echo(final long sourceTimeNs, final long heldNs) {
        echoTimeNs = sourceTimeNs;
        echoDelayNs = heldNs;
        return this;
    }
}
