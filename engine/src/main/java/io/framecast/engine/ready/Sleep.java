package io.framecast.engine.ready;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// One thread's sleep, ended by descriptors, by other threads, or by time.
///
/// The thread says that it means to sleep ([#intend]), looks once more whether there is work, and only then sleeps:
/// whoever makes work after that look finds the intention and wakes it.
final class Sleep implements Wakeup, AutoCloseable {
    private static final VarHandle INTENDED;

    static {
        try {
            INTENDED = MethodHandles.lookup().findVarHandle(Sleep.class, "intended", boolean.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Arena arena = Arena.ofShared();
    private final MemorySegment one = arena.allocate(JAVA_LONG);
    private final MemorySegment count = arena.allocate(JAVA_LONG);
    private final PollList descriptors = new PollList(arena);
    private final ReadySet set;
    private final int event;
    // Read and written by its handle.
    private volatile boolean intended;
    // Somebody wakes this thread: what he writes must be read, or the event stays readable.
    private boolean awaitsEvent;
    private volatile boolean closed;

    Sleep() {
        set = ReadySet.open();
        event = ReadyCalls.eventfd();
        if (event < 0) {
            set.close();
            throw new TransportException("eventfd: no descriptor left; raise ulimit -n");
        }
        one.set(JAVA_LONG, 0, 1);
        set.add(event);
    }

    /// What else ends every sleep.
    ReadySet set() {
        return set;
    }

    /// The thread is about to sleep, unless it finds work.
    void intend() {
        intended = true;
        VarHandle.fullFence();
    }

    /// The thread found work.
    void giveUp() {
        awaitsEvent |= !INTENDED.compareAndSet(this, true, false);
    }

    /// Sleeps, unless somebody has made work since [#intend].
    ///
    /// @return whether a descriptor polls readable
    boolean sleep(final Waits waits, final long longestNs) {
        final boolean ready = intended && await(waits, longestNs);
        final boolean woken = !INTENDED.compareAndSet(this, true, false);
        awaitsEvent |= woken;
        if (awaitsEvent && ReadyCalls.read(event, count.address(), Long.BYTES) == Long.BYTES) {
            awaitsEvent = false;
        }
        return ready && !woken;
    }

    private boolean await(final Waits waits, final long longestNs) {
        descriptors.clear();
        descriptors.accept(set.descriptor());
        waits.tellDescriptors(descriptors);
        return descriptors.await(longestNs);
    }

    @Override
    public void wake() {
        VarHandle.fullFence();
        if ((boolean) INTENDED.getOpaque(this) && INTENDED.compareAndSet(this, true, false)) {
            synchronized (this) {
                if (!closed) {
                    ReadyCalls.write(event, one.address(), Long.BYTES);
                }
            }
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            ReadyCalls.close(event);
            set.close();
            arena.close();
        }
    }
}
