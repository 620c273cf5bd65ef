package io.framecast.engine.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// While open, memory that the calling thread touches first comes from one NUMA node, as long as that has room:
/// plain and mapped memory, memory files, and memory that a driver pins for this thread. A policy that the process
/// was started with, as by numactl(8), stays as it is.
///
/// One thread opens and closes it.
public final class NumaPolicy implements AutoCloseable {
    /// No node in particular.
    public static final int ANY_NODE = -1;

    private static final int NODES_MAX = 1024;
    private static final NumaPolicy UNCHANGED = new NumaPolicy(false);

    private final boolean changed;

    private NumaPolicy(final boolean changed) {
        this.changed = changed;
    }

    /// @param node a number of Linux, or [#ANY_NODE], which changes nothing
    /// @param notices takes one line where the kernel refuses: memory then comes from any node
    public static NumaPolicy prefer(final int node, final Consumer<String> notices) {
        if (node < 0 || node >= NODES_MAX || !Linux.isPresent()) {
            return UNCHANGED;
        }
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment mode = arena.allocate(JAVA_INT);
            if (Libc.getMempolicy(mode) == 0 && mode.get(JAVA_INT, 0) != Linux.MPOL_DEFAULT) {
                return UNCHANGED;
            }
            final MemorySegment nodes = arena.allocate(NODES_MAX / Byte.SIZE, Long.BYTES);
            nodes.set(JAVA_LONG, (long) node / Long.SIZE * Long.BYTES, 1L << node);
            final MemorySegment capture = Libc.newCapture(arena);
            if (Libc.setMempolicy(capture, Linux.MPOL_PREFERRED, nodes) != 0) {
                final int error = Libc.errno(capture);
                notices.accept("memory: the kernel refuses memory of NUMA node " + node + " (errno " + error + "), "
                        + (error == Linux.EPERM
                                ? "so any node's is taken; give the container CAP_SYS_NICE"
                                : "so any node's is taken; does the process's cpuset have that node?"));
                return UNCHANGED;
            }
            return new NumaPolicy(true);
        }
    }

    @Override
    public void close() {
        if (changed) {
            try (Arena arena = Arena.ofConfined()) {
                Libc.setMempolicy(Libc.newCapture(arena), Linux.MPOL_DEFAULT, MemorySegment.NULL);
            }
        }
    }
}
