package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/// Writes the control datagrams of one machine: keeps their identities, and the datagram that is being written.
/// Mutable and reused.
public final class ControlWriter {
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final long session;
    private final Counter counter;
    private long receiver;
    private int epoch;
    private MemorySegment datagram = MemorySegment.NULL;

    // Numbers the datagrams of one sender on the control lane, whichever of its writers wrote them.
    private static final class Counter {
        private long count;

        long next() {
            return ++count;
        }
    }

    public ControlWriter(final long session) {
        this(session, new Counter());
    }

    private ControlWriter(final long session, final Counter counter) {
        this.session = session;
        this.counter = counter;
    }

    /// A writer of other datagrams of the same sender.
    public ControlWriter another() {
        return new ControlWriter(session, counter);
    }

    public long session() {
        return session;
    }

    /// 0 stands for the whole group.
    public ControlWriter receiver(final long id) {
        receiver = id;
        return this;
    }

    public long receiver() {
        return receiver;
    }

    /// The newest epoch that the sender of the datagram knows for itself.
    public ControlWriter epoch(final int value) {
        epoch = value;
        return this;
    }

    public int epoch() {
        return epoch;
    }

    /// The next datagram is written here, at offset 0.
    public ControlWriter in(final MemorySegment memory) {
        datagram = memory;
        return this;
    }

    /// Writes the common header; [#seal] completes it.
    ControlWriter begin(final int type, final int flags) {
        ControlLayout.begin(datagram, type);
        return put(ControlLayout.FLAGS, flags)
                .put(ControlLayout.SESSION, session)
                .put(ControlLayout.RECEIVER, receiver)
                .put(ControlLayout.EPOCH, epoch)
                .put(ControlLayout.COUNTER, counter.next());
    }

    ControlWriter put(final LongField field, final long value) {
        return putLong(field.at(), value);
    }

    ControlWriter put(final IntField field, final int value) {
        field.set(datagram, 0, value);
        return this;
    }

    ControlWriter put(final AddressField field, final byte[] address) {
        field.write(datagram, 0, address);
        return this;
    }

    ControlWriter putLong(final int at, final long value) {
        Wire.setLong(datagram, at, value);
        return this;
    }

    ControlWriter put(final int at, final byte[] bytes) {
        MemorySegment.copy(bytes, 0, datagram, JAVA_BYTE, at, bytes.length);
        return this;
    }

    ControlWriter zero(final int at, final int bytes) {
        Wire.zero(datagram, at, bytes);
        return this;
    }

    /// Writes length and checksum.
    ///
    /// @return `length`
    int seal(final int length) {
        put(ControlLayout.DATAGRAM_BYTES, length);
        put(ControlLayout.CHECKSUM, checksum.ofControl(datagram, 0, length));
        return length;
    }
}
