package io.framecast.reliability.wire;

/// What an ACK says. Mutable and reused.
public final class AckValues {
    long acknowledged;
    long grant;
    long highest;
    long echoTimeNs;
    long echoDelayNs;
    int flags;
    int covered;
    long laggard;

    /// Sets what was received and what may come.
    public AckValues progress(final long cumulative, final long credit, final long highestSequence) {
        acknowledged = cumulative;
        grant = credit;
        highest = highestSequence;
        return this;
    }

    /// Sets whether the receiver has the whole stream.
    public AckValues complete(final boolean whole) {
        flags = (flags & ~AckLayout.FLAG_COMPLETE) | (whole ? AckLayout.FLAG_COMPLETE : 0);
        return this;
    }

    public long acknowledged() {
        return acknowledged;
    }

    public long grant() {
        return grant;
    }

    public long highest() {
        return highest;
    }

    public boolean isComplete() {
        return (flags & AckLayout.FLAG_COMPLETE) != 0;
    }

    /// Makes it one receiver's own word.
    public AckValues single() {
        flags &= ~AckLayout.FLAG_AGGREGATE;
        covered = 0;
        return this;
    }

    /// Makes it a set's word.
    ///
    /// @param coveredEpoch it speaks for those who joined the set up to this epoch
    /// @param laggardId whose acknowledgement, or else grant, is the least
    public AckValues aggregate(final int coveredEpoch, final long laggardId) {
        flags |= AckLayout.FLAG_AGGREGATE;
        covered = coveredEpoch;
        laggard = laggardId;
        return this;
    }

    /// Sets the echo of the source's clock.
    public AckValues echo(final long sourceTimeNs, final long heldNs) {
        echoTimeNs = sourceTimeNs;
        echoDelayNs = heldNs;
        return this;
    }
}
