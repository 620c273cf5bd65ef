package io.framecast.reliability.wire;

/// The identities in a control datagram: mutable and reused, one per machine.
public final class ControlIds {
    private final long session;
    private long receiver;
    private int epoch;

    public ControlIds(final long session) {
        this.session = session;
    }

    public long session() {
        return session;
    }

    /// 0 stands for the whole group.
    public ControlIds receiver(final long id) {
        receiver = id;
        return this;
    }

    public long receiver() {
        return receiver;
    }

    /// The newest epoch that the sender of the datagram knows for itself.
    public ControlIds epoch(final int value) {
        epoch = value;
        return this;
    }

    public int epoch() {
        return epoch;
    }
}
