package io.framecast.engine.clients;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.SharedWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// One client's ring of records, and its words, as the publishing process reads them. The client may write anything
/// there at any time: each record is read once, and its lengths are checked.
///
/// One thread. Owns the descriptors and the mappings.
final class ClientRing implements AutoCloseable {
    private static final int METADATA_BYTES_MAX = 1024;

    /// A record, as it was read once.
    record Entry(int kind, boolean keyframe, long timestampNs, MemorySegment payload, byte[] metadata) {}

    private final Arena arena = Arena.ofShared();
    private final int[] descriptors;
    private final MemorySegment ring;
    private final UnsafeBuffer words;
    private @Nullable SharedWords file;
    private final long ringBytes;
    private final MemorySegment scratch;
    private long consumed;
    private long next;
    // Subscribers that the client knows of.
    private int said;

    /// @param descriptors of the message PUBLISH; this object's from now on, also where this throws
    /// @throws TransportException with one line, when they are not sealed files of the announced lengths
    ClientRing(final int[] descriptors) {
        this.descriptors = descriptors.clone();
        boolean made = false;
        try {
            file = SharedWords.attach(descriptors[ClientLayout.WORDS], ClientLayout.WORDS_BYTES);
            words = file.buffer();
            ringBytes = words.getLong(ClientLayout.RING_BYTES_AT);
            final MemorySegment view = MirroredMemory.view(descriptors[ClientLayout.RING], ringBytes, arena);
            if (view == null) {
                throw new TransportException("its ring is no sealed file of " + ringBytes + " bytes, whole pages");
            }
            ring = view;
            scratch = arena.allocate(Long.BYTES, Long.BYTES);
            made = true;
        } finally {
            if (!made) {
                close();
            }
        }
    }

    /// The next record, which stays where it is until [#release].
    ///
    /// @param frameMaxBytes longest frame
    /// @return null when there is none
    /// @throws TransportException when the client wrote an impossible record
    @Nullable
    Entry poll(final long frameMaxBytes) {
        final long committed = words.getLongVolatile(ClientLayout.COMMITTED_AT);
        final long there = committed - consumed;
        if (there == 0) {
            return null;
        }
        if (there < ClientLayout.RECORD_BYTES || there > ringBytes) {
            throw new TransportException("its ring is broken: " + there + " bytes of " + ringBytes + " are committed");
        }
        final MemorySegment record = ring.asSlice(consumed % ringBytes, there);
        final int kind = record.get(ValueLayout.JAVA_INT, ClientLayout.RECORD_KIND);
        final int flags = record.get(ValueLayout.JAVA_INT, ClientLayout.RECORD_FLAGS);
        final long length = record.get(ValueLayout.JAVA_LONG, ClientLayout.RECORD_LENGTH);
        final int metadataBytes = record.get(ValueLayout.JAVA_INT, ClientLayout.RECORD_METADATA);
        final long lengthMax = kind == ClientLayout.FRAME ? frameMaxBytes : METADATA_BYTES_MAX;
        final boolean possible = length >= (kind == ClientLayout.END ? 0 : 1)
                && length <= lengthMax
                && metadataBytes >= 0
                && metadataBytes <= METADATA_BYTES_MAX
                && ClientLayout.recordBytes(length, metadataBytes) <= there;
        if (!possible) {
            throw new TransportException("its ring is broken: a record of kind " + kind + " with " + length + " and "
                    + metadataBytes + " bytes, where " + there + " are committed");
        }
        next = consumed + ClientLayout.recordBytes(length, metadataBytes);
        final byte[] metadata = new byte[metadataBytes];
        MemorySegment.copy(
                record,
                ValueLayout.JAVA_BYTE,
                ClientLayout.RECORD_BYTES + ClientLayout.align(length),
                metadata,
                0,
                metadataBytes);
        return new Entry(
                kind,
                (flags & ClientLayout.KEYFRAME) != 0,
                record.get(ValueLayout.JAVA_LONG, ClientLayout.RECORD_TIMESTAMP),
                record.asSlice(ClientLayout.RECORD_BYTES, length),
                metadata);
    }

    /// Gives the record of [#poll] back to the client.
    void release() {
        consumed = next;
        words.putLongVolatile(ClientLayout.CONSUMED_AT, consumed);
        if (words.compareAndSetInt(ClientLayout.CLIENT_SLEEPS_AT, 1, 0)) {
            EventCount.add(descriptors[ClientLayout.CLIENT_WAKER]);
        }
    }

    /// Whether the caller may wait for [#wakerDescriptor]: there is no record, and the client knows that it waits.
    boolean sleeps() {
        words.putIntVolatile(ClientLayout.SERVER_SLEEPS_AT, 1);
        return words.getLongVolatile(ClientLayout.COMMITTED_AT) == consumed;
    }

    /// Behind the wait.
    void wakes() {
        words.putIntVolatile(ClientLayout.SERVER_SLEEPS_AT, 0);
        EventCount.drain(wakerDescriptor(), scratch);
    }

    int wakerDescriptor() {
        return descriptors[ClientLayout.SERVER_WAKER];
    }

    /// Whether the client waits: for room, or for subscribers.
    boolean isAwaited() {
        return words.getIntVolatile(ClientLayout.CLIENT_SLEEPS_AT) != 0;
    }

    /// Shows the client the state of its stream, and wakes it where that is news.
    void report(final int readySubscribers, final int state) {
        final boolean news = readySubscribers != said || state != ClientLayout.OPEN;
        said = readySubscribers;
        words.putIntOrdered(ClientLayout.READY_AT, readySubscribers);
        words.putIntVolatile(ClientLayout.STATE_AT, state);
        if (news && words.compareAndSetInt(ClientLayout.CLIENT_SLEEPS_AT, 1, 0)) {
            EventCount.add(descriptors[ClientLayout.CLIENT_WAKER]);
        }
    }

    @Override
    public void close() {
        arena.close();
        if (file != null) {
            file.close();
        }
        Libc.close(descriptors[ClientLayout.RING]);
        Libc.close(descriptors[ClientLayout.CLIENT_WAKER]);
        Libc.close(descriptors[ClientLayout.SERVER_WAKER]);
    }
}
