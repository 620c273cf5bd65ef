package io.framecast.engine.ready;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.reliability.memory.Words;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/// One thread's sleep (ppoll), which ends with a descriptor, another thread's wake-up, or the time.
///
/// The thread announces its intention to sleep ([#intend]), checks once more for work, and only then sleeps. A
/// thread that makes work after that check finds the intention and wakes the sleeper.
final class Sleep implements Wakeup, AutoCloseable {
    private static final int POLLFDS_AT_FIRST = 8;
    private static final long NS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
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
    private final MemorySegment timespec = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    // The descriptors of one sleep, collected before each, so that closed ones need no removal.
    private final IntConsumer adder = this::add;
    private MemorySegment pollfds = arena.allocate((long) POLLFDS_AT_FIRST * Linux.POLLFD_BYTES, Long.BYTES);
    private int descriptors;
    private final ReadySet set;
    private final int event;
    // Read and written by its handle.
    private volatile boolean intended;
    // Another thread has written the event, or is about to: this one must read it, or it stays readable.
    private boolean awaitsEvent;
    private volatile boolean closed;

    Sleep() {
        set = ReadySet.open();
        event = Libc.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
        if (event < 0) {
            set.close();
            throw new TransportException("eventfd: no descriptor left; raise ulimit -n");
        }
        Words.setLong(one, 0, 1);
        set.add(event);
    }

    /// The descriptors that end every sleep.
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

    /// Sleeps, unless a thread has woken this one since [#intend].
    ///
    /// @return whether a descriptor polls readable
    boolean sleep(final Waits waits, final long longestNs) {
        final boolean ready = intended && await(waits, longestNs);
        final boolean woken = !INTENDED.compareAndSet(this, true, false);
        awaitsEvent |= woken;
        if (awaitsEvent && Libc.read(event, count.address(), Long.BYTES) == Long.BYTES) {
            awaitsEvent = false;
        }
        return ready && !woken;
    }

    private boolean await(final Waits waits, final long longestNs) {
        descriptors = 0;
        add(set.descriptor());
        waits.collectDescriptors(adder);
        Words.setLong(timespec, 0, longestNs / NS_PER_SECOND);
        Words.setLong(timespec, Linux.TIMESPEC_NANOS, longestNs % NS_PER_SECOND);
        return Libc.ppoll(pollfds.address(), descriptors, timespec.address()) > 0;
    }

    private void add(final int descriptor) {
        if (descriptor == ReadySet.NONE) {
            return;
        }
        final long offset = (long) descriptors * Linux.POLLFD_BYTES;
        if (offset == pollfds.byteSize()) {
            pollfds = arena.allocate(2 * offset, Long.BYTES).copyFrom(pollfds);
        }
        Words.setInt(pollfds, offset, descriptor);
        Words.setShort(pollfds, offset + Linux.POLLFD_EVENTS, (short) Linux.POLLIN);
        descriptors++;
    }

    @Override
    public void wake() {
        VarHandle.fullFence();
        if ((boolean) INTENDED.getOpaque(this) && INTENDED.compareAndSet(this, true, false)) {
            synchronized (this) {
                if (!closed) {
                    Libc.write(event, one.address(), Long.BYTES);
                }
            }
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Libc.close(event);
            set.close();
            arena.close();
        }
    }
}
