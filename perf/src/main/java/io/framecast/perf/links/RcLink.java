package io.framecast.perf.links;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.api.spi.RegisteredMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// One end of a hop by RDMA writes over a reliable connection, as MPI libraries have it: parts are written into slots
/// of the
/// reader's memory, a word behind each says that it is there, and the reader writes back how many it has taken.
abstract sealed class RcLink implements HopLink permits RcReader, RcWriter {
    static final int OPERATIONS_MAX = 8;
    static final int WORD_BYTES = 64;

    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final int SPINS = 200;
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long SILENCE_MAX_NS = TimeUnit.SECONDS.toNanos(60);

    final OneSidedEndpoint endpoint;
    final long[] tokens = new long[OPERATIONS_MAX];
    private final SocketChannel channel;
    private final Arena arena;
    private final RegisteredMemory words;
    private volatile boolean interrupted;

    /// @param channel that the ends found each other by
    /// @param arena of memory that the other end writes, closed with this
    /// @param words that memory
    RcLink(
            final SocketChannel channel,
            final OneSidedEndpoint endpoint,
            final Arena arena,
            final RegisteredMemory words) {
        this.channel = channel;
        this.endpoint = endpoint;
        this.arena = arena;
        this.words = words;
    }

    /// Parts begin at multiples of a word's distance.
    static long slotBytes(final int partBytes) {
        return (partBytes + WORD_BYTES - 1L) / WORD_BYTES * WORD_BYTES;
    }

    static long wordAt(final MemorySegment memory, final long offset) {
        return (long) WORD.getAcquire(memory, offset);
    }

    /// A condition that the other end, or the device, will meet.
    interface Condition {
        boolean isMet();
    }

    /// @param what is waited for, for the error
    final void await(final String what, final Condition condition) throws IOException {
        long beginNs = 0;
        for (int i = 0; !condition.isMet(); i++) {
            if (interrupted || endpoint.state() == State.BROKEN) {
                throw new IOException("no " + what + ": " + (interrupted ? "interrupted" : endpoint.failure()));
            }
            if (i < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            LockSupport.parkNanos(PAUSE_NS);
            if (beginNs == 0) {
                beginNs = System.nanoTime();
            } else if (System.nanoTime() - beginNs > SILENCE_MAX_NS) {
                throw new IOException("no " + what + " for 60 s");
            }
        }
    }

    @Override
    public void interrupt() {
        interrupted = true;
    }

    @Override
    public void close() throws IOException {
        // The other end cannot write any more when this returns.
        endpoint.close();
        words.close();
        arena.close();
        channel.close();
    }
}
