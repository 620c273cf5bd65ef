package io.framecast.engine.memory;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.reliability.group.SegmentMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;

/// The words that processes of a host share, in a memory file.
///
/// Owns the mapping and the descriptor until [#close].
public final class SharedWords extends SegmentMemory implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final int descriptor;
    private final UnsafeBuffer buffer;
    private boolean closed;

    private SharedWords(final int descriptor, final int bytes) {
        this.descriptor = descriptor;
        final long address = Libc.mmap(0, bytes, Linux.PROT_READ_WRITE, Linux.MAP_SHARED, descriptor);
        if (address == Linux.MAP_FAILED) {
            Libc.close(descriptor);
            throw new TransportException("host group: cannot map " + bytes + " bytes of words");
        }
        final MemorySegment segment = Libc.mapped(address, bytes, arena);
        buffer = new UnsafeBuffer(segment.address(), bytes);
    }

    /// A new file of zeros.
    public static SharedWords create(final int bytes) {
        try (Arena scratch = Arena.ofConfined()) {
            final int made = Libc.memfdCreate(
                    scratch.allocateFrom("framecast-words"), Linux.MFD_CLOEXEC | Linux.MFD_ALLOW_SEALING);
            if (made < 0 || Libc.posixFallocate(made, bytes) != 0) {
                Libc.close(made);
                throw new TransportException("host group: no memory for " + bytes + " bytes");
            }
            Libc.fcntl(made, Linux.F_ADD_SEALS, Linux.F_SEAL_SHRINK | Linux.F_SEAL_GROW | Linux.F_SEAL_SEAL);
            return new SharedWords(made, bytes);
        }
    }

    /// Another process's file. The descriptor is this object's from now on, also where this throws.
    ///
    /// @throws TransportException when it is shorter, or could be made so
    public static SharedWords attach(final int descriptor, final int bytes) {
        if (Libc.length(descriptor) < bytes || !Libc.isSealed(descriptor)) {
            Libc.close(descriptor);
            throw new TransportException("host group: its words are no sealed file of " + bytes + " bytes");
        }
        return new SharedWords(descriptor, bytes);
    }

    public int descriptor() {
        return descriptor;
    }

    public UnsafeBuffer buffer() {
        return buffer;
    }

    @Override
    public byte getByte(final int offset) {
        return buffer.getByte(offset);
    }

    @Override
    public int getInt(final int offset) {
        return buffer.getInt(offset);
    }

    @Override
    public long getLong(final int offset) {
        return buffer.getLong(offset);
    }

    @Override
    public int getIntVolatile(final int offset) {
        return buffer.getIntVolatile(offset);
    }

    @Override
    public long getLongVolatile(final int offset) {
        return buffer.getLongVolatile(offset);
    }

    @Override
    public void getBytes(final int offset, final byte[] target) {
        buffer.getBytes(offset, target);
    }

    @Override
    public void putByte(final int offset, final byte value) {
        buffer.putByte(offset, value);
    }

    @Override
    public void putInt(final int offset, final int value) {
        buffer.putInt(offset, value);
    }

    @Override
    public void putLong(final int offset, final long value) {
        buffer.putLong(offset, value);
    }

    @Override
    public void putIntRelease(final int offset, final int value) {
        buffer.putIntOrdered(offset, value);
    }

    @Override
    public void putLongRelease(final int offset, final long value) {
        buffer.putLongOrdered(offset, value);
    }

    @Override
    public void putIntVolatile(final int offset, final int value) {
        buffer.putIntVolatile(offset, value);
    }

    @Override
    public void putLongVolatile(final int offset, final long value) {
        buffer.putLongVolatile(offset, value);
    }

    @Override
    public void putBytes(final int offset, final byte[] bytes, final int count) {
        buffer.putBytes(offset, bytes, 0, count);
    }

    @Override
    public void clear(final int offset, final int count) {
        buffer.setMemory(offset, count, (byte) 0);
    }

    @Override
    public boolean compareAndSetInt(final int offset, final int expected, final int value) {
        return buffer.compareAndSetInt(offset, expected, value);
    }

    @Override
    public boolean compareAndSetLong(final int offset, final long expected, final long value) {
        return buffer.compareAndSetLong(offset, expected, value);
    }

    @Override
    public int getAndAddInt(final int offset, final int increment) {
        return buffer.getAndAddInt(offset, increment);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Libc.close(descriptor);
            arena.close();
        }
    }
}
