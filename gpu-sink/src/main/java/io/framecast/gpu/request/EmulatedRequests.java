package io.framecast.gpu.request;

import io.framecast.api.spi.KernelSource.DeviceMemory;
import io.framecast.gpu.SharedWords;
import io.framecast.gpu.arrival.Pause;
import java.lang.foreign.MemorySegment;

/// The request functions of `framecast.cuh` for a kernel's emulation in Java. Any thread of the kernel.
public final class EmulatedRequests {
    private final MemorySegment queue;
    private final MemorySegment tickets;
    private final int requests;

    private EmulatedRequests(final MemorySegment queue, final MemorySegment tickets, final int requests) {
        this.queue = queue;
        this.tickets = tickets;
        this.requests = requests;
    }

    /// Begins.
    ///
    /// @param address of the queue, an argument of the kernel
    public static EmulatedRequests open(final DeviceMemory memory, final long address) {
        final MemorySegment header = memory.at(address, RequestLayout.REQUEST_HEADER_BYTES);
        final int requests = SharedWords.intAt(header, RequestLayout.REQUESTS_OFFSET);
        final long counter = SharedWords.longAt(header, RequestLayout.TICKETS_OFFSET);
        return new EmulatedRequests(
                memory.at(address, RequestLayout.queueBytes(requests)), memory.at(counter, Integer.BYTES), requests);
    }

    /// Asks the host to publish bytes of device memory, which stay as they are until the answer. Waits while
    /// the queue is full.
    ///
    /// @return the ticket as an unsigned number, or −1 when the host has closed the queue
    public long publish(final int channel, final long address, final long bytes, final int flags, final int tag) {
        final int ticket = (int) SharedWords.INT.getAndAdd(tickets, 0L, 1);
        final Pause pause = new Pause();
        while (answeredSequence(ticket) - (ticket + 1 - requests) < 0) {
            if (isStopped()) {
                return -1;
            }
            pause.rest();
        }
        final long at = RequestLayout.requestOffset(ticket & (requests - 1));
        SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_ADDRESS, address);
        SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_LENGTH, bytes);
        SharedWords.LONG.set(queue, at + RequestLayout.REQUEST_TIMESTAMP, 0L);
        SharedWords.INT.set(queue, at + RequestLayout.REQUEST_CHANNEL, channel);
        SharedWords.INT.set(queue, at + RequestLayout.REQUEST_FLAGS, flags);
        SharedWords.INT.set(queue, at + RequestLayout.REQUEST_TAG, tag);
        // The frame's bytes, and the request, before the sequence.
        SharedWords.intAt(queue, at, ticket + 1);
        return Integer.toUnsignedLong(ticket);
    }

    /// The answer: 0 while there is none, else a status of [RequestLayout].
    public int answered(final long ticket) {
        final int slot = (int) ticket & (requests - 1);
        final long answer = SharedWords.longAt(queue, RequestLayout.answerOffset(requests, slot));
        final int ahead = (int) answer - ((int) ticket + 1);
        return ahead < 0 ? 0 : ahead > 0 ? RequestLayout.STATUS_FORGOTTEN : (int) (answer >>> 32);
    }

    /// Waits for the answer.
    public int await(final long ticket) {
        final Pause pause = new Pause();
        while (true) {
            final int status = answered(ticket);
            if (status != 0) {
                return status;
            }
            if (isStopped()) {
                return RequestLayout.STATUS_CLOSED;
            }
            pause.rest();
        }
    }

    private boolean isStopped() {
        return Thread.currentThread().isInterrupted()
                || SharedWords.intAt(queue, RequestLayout.REQUEST_STOP_OFFSET) != 0;
    }

    private int answeredSequence(final int ticket) {
        final int slot = ticket & (requests - 1);
        return (int) SharedWords.longAt(queue, RequestLayout.answerOffset(requests, slot));
    }
}
