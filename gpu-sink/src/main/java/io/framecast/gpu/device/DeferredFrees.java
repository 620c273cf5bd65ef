package io.framecast.gpu.device;

import io.framecast.api.provider.ScopedLock;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import java.util.function.BooleanSupplier;

/// Memory whose freeing would wait for a persistent kernel. The next allocation or free without such a kernel
/// frees it; else a closed subscriber, or a source that leaves, would hold up the engine until the kernel ends.
/// Until then an allocation of the same length takes the memory again, so a source that comes and goes for days
/// takes it only once. Any thread may call any method.
public final class DeferredFrees {
    /// The answer of [#take] when no block fits.
    public static final long NONE = 0;

    private final ScopedLock lock = new ScopedLock();
    private final Set<Long> addresses = new HashSet<>();
    private final ArrayDeque<Block> blocks = new ArrayDeque<>();

    /// Memory that waits.
    ///
    /// @param idle whether nothing that was enqueued before it was freed may still use it
    /// @param free frees it
    public record Block(long address, long bytes, BooleanSupplier idle, Runnable free) {}

    /// As [#free(boolean, Block)], of memory that is not given out again.
    ///
    /// @param free frees the memory at the address
    public void free(final boolean running, final long address, final Runnable free) {
        free(running, new Block(address, 0, () -> false, free));
    }

    /// Frees now, or keeps it for later.
    ///
    /// @param running whether a persistent kernel runs
    /// @throws IllegalArgumentException when the address is being freed already
    public void free(final boolean running, final Block block) {
        if (running) {
            try (ScopedLock.Scope _ = lock.hold()) {
                if (!addresses.add(block.address())) {
                    throw new IllegalArgumentException(
                            "memory at 0x" + Long.toHexString(block.address()) + " was freed already; free it once");
                }
                blocks.add(block);
            }
            return;
        }
        flush(false);
        block.free().run();
    }

    /// Gives memory out again that waits to be freed.
    ///
    /// @return the address of exactly as many bytes, or [#NONE]
    public long take(final long bytes) {
        try (ScopedLock.Scope _ = lock.hold()) {
            for (final Iterator<Block> all = blocks.iterator(); all.hasNext(); ) {
                final Block block = all.next();
                if (block.bytes() == bytes && block.idle().getAsBoolean()) {
                    all.remove();
                    addresses.remove(block.address());
                    return block.address();
                }
            }
            return NONE;
        }
    }

    /// Frees the waiting memory, unless a persistent kernel runs.
    public void flush(final boolean running) {
        while (!running) {
            final Block block;
            try (ScopedLock.Scope _ = lock.hold()) {
                if (blocks.isEmpty()) {
                    addresses.clear();
                    return;
                }
                block = blocks.remove();
            }
            block.free().run();
        }
    }

    /// Forgets the waiting memory: the device is closed, and all memory goes with it.
    public void clear() {
        try (ScopedLock.Scope _ = lock.hold()) {
            blocks.clear();
            addresses.clear();
        }
    }
}
