package io.framecast.engine.clients;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.Channel;
import io.framecast.engine.hostgroup.HostGroups;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;

/// A client as a program in C is one, by docs/host-segment.md alone.
final class TestClient implements AutoCloseable {
    static final int RING_BYTES = 256 << 10;

    private final Arena arena = Arena.ofShared();
    private final UnixSocket socket;
    private final MemorySegment ring;
    final UnsafeBuffer words;
    final int code;
    final long frameMaxBytes;
    private final int[] descriptors = new int[4];
    private long committed;

    TestClient(final Channel channel, final long frameMax) {
        descriptors[ClientLayout.RING] = memory(RING_BYTES);
        descriptors[ClientLayout.WORDS] = memory(ClientLayout.WORDS_BYTES);
        descriptors[ClientLayout.CLIENT_WAKER] = EventCount.open();
        descriptors[ClientLayout.SERVER_WAKER] = EventCount.open();
        ring = map(descriptors[ClientLayout.RING], RING_BYTES);
        words = new UnsafeBuffer(
                map(descriptors[ClientLayout.WORDS], ClientLayout.WORDS_BYTES).address(), ClientLayout.WORDS_BYTES);
        words.putLong(ClientLayout.RING_BYTES_AT, RING_BYTES);
        final UnixSocket connected = UnixSocket.connect(HostGroups.clientsPath(channel, ""));
        if (connected == null) {
            throw new AssertionError("no server listens");
        }
        socket = connected;
        final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, 8);
        message.set(JAVA_LONG, 0, ClientLayout.MAGIC);
        message.set(JAVA_INT, ClientLayout.MESSAGE_VERSION, ClientLayout.VERSION);
        message.set(JAVA_INT, ClientLayout.MESSAGE_TYPE, ClientLayout.TYPE_PUBLISH);
        message.set(JAVA_LONG, ClientLayout.MESSAGE_FRAME_MAX, frameMax);
        socket.send(message.asSlice(0, ClientLayout.MESSAGE_BYTES), descriptors);
        socket.receive(message, new int[4], 0);
        code = message.get(JAVA_INT, ClientLayout.MESSAGE_CODE);
        frameMaxBytes = message.get(JAVA_LONG, ClientLayout.MESSAGE_FRAME_MAX);
    }

    private int memory(final int bytes) {
        final int made = Libc.memfdCreate(arena.allocateFrom("test"), Linux.MFD_CLOEXEC | Linux.MFD_ALLOW_SEALING);
        Libc.posixFallocate(made, bytes);
        Libc.fcntl(made, Linux.F_ADD_SEALS, Linux.F_SEAL_SHRINK | Linux.F_SEAL_GROW);
        return made;
    }

    private MemorySegment map(final int descriptor, final int bytes) {
        return Libc.mapped(Libc.mmap(0, bytes, Linux.PROT_READ_WRITE, Linux.MAP_SHARED, descriptor), bytes, arena);
    }

    void awaitReady() {
        while (words.getIntVolatile(ClientLayout.READY_AT) == 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    int state() {
        return words.getIntVolatile(ClientLayout.STATE_AT);
    }

    /// Writes a record, and waits for room where there is none.
    void write(final int kind, final int flags, final long timestampNs, final byte[] payload, final byte[] metadata) {
        final long bytes = ClientLayout.recordBytes(payload.length, metadata.length);
        while (RING_BYTES - (committed - words.getLongVolatile(ClientLayout.CONSUMED_AT)) < bytes) {
            if (state() != ClientLayout.OPEN) {
                throw new AssertionError("the stream is over");
            }
            LockSupport.parkNanos(100_000);
        }
        final MemorySegment header = arena.allocate(ClientLayout.RECORD_BYTES, 8);
        header.set(JAVA_INT, ClientLayout.RECORD_KIND, kind);
        header.set(JAVA_INT, ClientLayout.RECORD_FLAGS, flags);
        header.set(JAVA_LONG, ClientLayout.RECORD_LENGTH, payload.length);
        header.set(JAVA_LONG, ClientLayout.RECORD_TIMESTAMP, timestampNs);
        header.set(JAVA_INT, ClientLayout.RECORD_METADATA, metadata.length);
        put(committed, header.toArray(JAVA_BYTE));
        put(committed + ClientLayout.RECORD_BYTES, payload);
        put(committed + ClientLayout.RECORD_BYTES + ClientLayout.align(payload.length), metadata);
        commit(bytes);
    }

    private void put(final long at, final byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            ring.set(JAVA_BYTE, (at + i) % RING_BYTES, bytes[i]);
        }
    }

    void commit(final long bytes) {
        committed += bytes;
        words.putLongVolatile(ClientLayout.COMMITTED_AT, committed);
        if (words.compareAndSetInt(ClientLayout.SERVER_SLEEPS_AT, 1, 0)) {
            EventCount.add(descriptors[ClientLayout.SERVER_WAKER]);
        }
    }

    @Override
    public void close() {
        socket.close();
        for (final int descriptor : descriptors) {
            Libc.close(descriptor);
        }
        arena.close();
    }
}
