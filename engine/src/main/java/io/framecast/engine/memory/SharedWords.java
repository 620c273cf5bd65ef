package io.framecast.engine.memory;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;

/// The words that processes of a host share, in a memory file. Ordered access by [#buffer].
///
/// Owns the mapping and the descriptor until [#close].
public final class SharedWords implements AutoCloseable {
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
    public void close() {
        if (!closed) {
            closed = true;
            Libc.close(descriptor);
            arena.close();
        }
    }
}
