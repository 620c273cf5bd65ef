package io.framecast.gpu.emulated;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.framecast.api.error.DeviceException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Zeroed host memory with a descriptor by which other processes map it (memfd): in place of a dma-buf.
///
/// @param segment the memory, unmapped and its descriptor closed with its arena
/// @param descriptor its own; other processes get copies
record SharedMemory(MemorySegment segment, int descriptor) {
    private static final int MFD_CLOEXEC = 1;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle MEMFD_CREATE =
            handle("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle DUP = handle("dup", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static MethodHandle handle(final String name, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), descriptor);
    }

    /// @param arena frees the memory when it closes
    static SharedMemory allocate(final Arena arena, final long bytes) {
        final int made = create();
        try (FileChannel file =
                FileChannel.open(Path.of("/proc/self/fd/" + made), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final MemorySegment segment = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
            return new SharedMemory(segment.reinterpret(arena, _ -> close(made)), made);
        } catch (final IOException e) {
            close(made);
            throw new DeviceException(
                    "emulated device: the host has no " + bytes + " bytes to share; allocate less", e);
        }
    }

    /// Memory of another process, to be read.
    ///
    /// @param file of the descriptor by which that process has it, below /proc
    /// @param arena unmaps it when it closes
    static MemorySegment open(final Arena arena, final Path file, final long inode, final long bytes) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if ((long) Files.getAttribute(file, "unix:ino") != inode || channel.size() < bytes) {
                throw new DeviceException("emulated device: " + file + " is not the memory that was shared");
            }
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes, arena);
        } catch (final IOException e) {
            throw new DeviceException(
                    "emulated device: cannot open " + file + ", memory of another process (" + e
                            + "); both must be of one user and see each other's process number",
                    e);
        }
    }

    /// The memory file's number, by which another process knows it.
    long inode() {
        try {
            return (long) Files.getAttribute(Path.of("/proc/self/fd/" + descriptor), "unix:ino");
        } catch (final IOException e) {
            throw new DeviceException("emulated device: no /proc here: " + e.getMessage(), e);
        }
    }

    private static int create() {
        try (Arena scratch = Arena.ofConfined()) {
            return (int) MEMFD_CREATE.invokeExact(scratch.allocateFrom("framecast-emulated"), MFD_CLOEXEC);
        } catch (final Throwable e) {
            throw new AssertionError("memfd_create cannot throw", e);
        }
    }

    /// A descriptor of the memory, the caller's until [#close].
    int export() {
        try {
            final int copy = (int) DUP.invokeExact(descriptor);
            if (copy < 0) {
                throw new DeviceException("emulated device: too many open files; raise ulimit -n");
            }
            return copy;
        } catch (final DeviceException e) {
            throw e;
        } catch (final Throwable e) {
            throw new AssertionError("dup cannot throw", e);
        }
    }

    static void close(final int descriptor) {
        try {
            final int _ = (int) CLOSE.invokeExact(descriptor);
        } catch (final Throwable e) {
            throw new AssertionError("close cannot throw", e);
        }
    }
}
