package io.framecast.reliability.wire;

/// The values of an ACK. Mutable and reused.
public final class AckValues {
    long acknowledged;
    long grant;
    long highest;
    long echoTimeNs;
    long echoDelayNs;
    int flags;
    int covered;
    long slowestMember;

    /// Sets the acknowledgement, the grant and the highest sequence received.
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

    /// Makes it one receiver's own ACK.
    public AckValues single() {
        flags &= ~AckLayout.FLAG_AGGREGATE;
        covered = 0;
        return this;
    }

    /// Makes it a group's ACK.
    ///
    /// @param coveredEpoch the ACK covers members that joined the group up to this epoch
    /// @param slowestId the member with the least acknowledgement, or else the least grant
    public AckValues aggregate(final int coveredEpoch, final long slowestId) {
        flags |= AckLayout.FLAG_AGGREGATE;
        covered = coveredEpoch;
        slowestMember = slowestId;
        return this;
    }

    /// Sets the echo of the source's clock.
    public AckValues echo(final long sourceTimeNs, final long heldNs) {
        echoTimeNs = sourceTimeNs;
        echoDelayNs = heldNs;
        return this;
    }
}
