package io.framecast.reliability.wire;

/// What an ACK says. Mutable and reused.
public final class AckValues {
    long acknowledged;
    long grant;
    long highest;
    long echoTimeNs;
    long echoDelayNs;
    int flags;

    /// Sets what was received and what may come.
    public AckValues progress(final long cumulative, final long credit, final long highestSequence) {
        acknowledged = cumulative;
        grant = credit;
        highest = highestSequence;
        return this;
    }

    /// Sets whether the receiver has the whole stream.
    public AckValues complete(final boolean whole) {
        flags = whole ? AckLayout.FLAG_COMPLETE : 0;
        return this;
    }

    /// Sets the echo of the source's clock.
    public AckValues echo(final long sourceTimeNs, final long heldNs) {
        echoTimeNs = sourceTimeNs;
        echoDelayNs = heldNs;
        return this;
    }
}
