package io.framecast.gpu.emulated;

import java.util.concurrent.atomic.AtomicInteger;

/// A stream's commands: one enqueuer, consumed by the DMA thread in order. Positions only grow and go on
/// where the slot's last stream stopped, so that an old event never mistakes a new stream for its own.
final class CommandRing {
    static final long NEVER = Long.MAX_VALUE;

    private final Command[] commands;
    private final int slot;

    // Commands enqueued, and commands done: a thread that reads `done` sees the effects of all commands below it.
    private volatile long enqueued;
    private volatile long done;

    // Of persistent kernels that were enqueued and have not ended.
    private final AtomicInteger residentBlocks = new AtomicInteger();

    // The nearest position that a thread sleeps for; set under the DMA thread's lock.
    private volatile long awaited = NEVER;

    // When the link delivers the bytes that the DMA thread moved last; the DMA thread's own.
    long busyUntilNs = Long.MIN_VALUE;
    // Whether the delay of the oldest command was drawn; the DMA thread's own.
    boolean delayDrawn;

    CommandRing(final int slot, final int commandsMax, final long firstPosition) {
        this.slot = slot;
        this.commands = new Command[commandsMax];
        for (int i = 0; i < commandsMax; i++) {
            commands[i] = new Command();
        }
        enqueued = firstPosition;
        done = firstPosition;
    }

    int slot() {
        return slot;
    }

    long enqueued() {
        return enqueued;
    }

    long done() {
        return done;
    }

    long awaited() {
        return awaited;
    }

    void awaited(final long position) {
        awaited = position;
    }

    /// How far the DMA thread must get for a quarter of the ring to be free: waking the enqueuer for every
    /// slot would cost more than the copies.
    long roomPosition() {
        return enqueued - commands.length + Math.max(1, commands.length / 4);
    }

    boolean isEmpty() {
        return done == enqueued;
    }

    boolean isFull() {
        return enqueued - done == commands.length;
    }

    /// The slot to fill next; the ring must not be full.
    Command next() {
        return commands[(int) enqueued & commands.length - 1];
    }

    /// Hands the slot from [#next] to the DMA thread.
    // One thread at a time enqueues, so reading and writing back loses nothing.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    void publish() {
        enqueued = enqueued + 1;
    }

    /// The oldest command not done; the ring must not be empty.
    Command oldest() {
        return commands[(int) done & commands.length - 1];
    }

    @SuppressWarnings("NonAtomicVolatileUpdate")
    void complete() {
        done = done + 1;
    }

    /// Blocks of persistent kernels, from enqueued to ended.
    int residentBlocks() {
        return residentBlocks.get();
    }

    void addResident(final int blocks) {
        residentBlocks.addAndGet(blocks);
    }
}
