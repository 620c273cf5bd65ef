package io.framecast.rdma.verbs;

import static io.framecast.rdma.verbs.VerbsConstants.*;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A ring of send requests, built once and posted again and again: request `slot` gathers up to `elements`
/// buffers and does one operation. A posted request has been copied by the device's driver, so it may be
/// changed at once; its buffers may not, until it completes.
///
/// A request that asks for no signal completes silently: it is known to be done when a later one of the same
/// queue pair completes. At least one request of every queue length must ask, or the queue fills for good.
///
/// Shapes: requests are `[slots]`, each linked to the next and the last to the first; buffers are
/// `[slots][elements]`.
///
/// Threading: one thread at a time. Memory is the arena's and must be open while posting.
public final class SendRequests {
    private static final long BYTES = VerbsLayouts.SEND_WR.byteSize();
    private static final long WR_ID = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr_id");
    private static final long NEXT = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "next");
    private static final long SG_LIST = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "sg_list");
    private static final long NUM_SGE = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "num_sge");
    private static final long OPCODE = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "opcode");
    private static final long SEND_FLAGS = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "send_flags");
    private static final long IMM_DATA = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "imm_data");
    private static final long AH = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "ud", "ah");
    private static final long REMOTE_QPN = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "ud", "remote_qpn");
    private static final long REMOTE_QKEY = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "ud", "remote_qkey");
    private static final long RDMA_ADDR = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "rdma", "remote_addr");
    private static final long RDMA_RKEY = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "rdma", "rkey");
    private static final long ATOMIC_ADDR = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "atomic", "remote_addr");
    private static final long COMPARE_ADD = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "atomic", "compare_add");
    private static final long SWAP = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "atomic", "swap");
    private static final long ATOMIC_RKEY = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "atomic", "rkey");

    private final MemorySegment requests;
    private final Elements elements;
    private final MemorySegment refused;
    private final int slots;
    private final @Nullable AddressHandle[] handles;

    public SendRequests(final Arena arena, final int slots, final int elements) {
        this.slots = slots;
        requests = arena.allocate(VerbsLayouts.SEND_WR, slots);
        this.elements = new Elements(arena, slots, elements);
        refused = arena.allocate(JAVA_LONG);
        handles = new AddressHandle[slots];
        for (int slot = 0; slot < slots; slot++) {
            final long at = slot * BYTES;
            requests.set(JAVA_LONG, at + WR_ID, slot);
            requests.set(JAVA_LONG, at + NEXT, address((slot + 1) % slots));
            requests.set(JAVA_LONG, at + SG_LIST, this.elements.address(slot));
            requests.set(JAVA_INT, at + OPCODE, IBV_WR_SEND);
        }
    }

    public int slots() {
        return slots;
    }

    private long at(final int slot) {
        return Objects.checkIndex(slot, slots) * BYTES;
    }

    private long address(final int slot) {
        return requests.address() + slot * BYTES;
    }

    /// Sets buffer `element` of a slot. A request has as many elements as the highest set.
    public void element(final int slot, final int element, final long address, final int bytes, final int localKey) {
        elements.set(slot, element, address, bytes, localKey);
        final long count = at(slot) + NUM_SGE;
        requests.set(JAVA_INT, count, Math.max(requests.get(JAVA_INT, count), element + 1));
    }

    /// Sets how much of a buffer goes.
    public void length(final int slot, final int element, final int bytes) {
        elements.length(slot, element, bytes);
    }

    /// Bytes that a slot sends.
    public int bytes(final int slot) {
        final int count = requests.get(JAVA_INT, at(slot) + NUM_SGE);
        int bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += elements.length(slot, i);
        }
        return bytes;
    }

    /// Sets the identifier that the completion carries; the slot's number at first.
    public void request(final int slot, final long identifier) {
        requests.set(JAVA_LONG, at(slot) + WR_ID, identifier);
    }

    /// @param signalled whether success is told by a completion; failure always is
    /// @param inline whether the driver copies the buffers at once, which may then be used again and need no
    ///     region; at most as long as the queue pair's limit
    public void flags(final int slot, final boolean signalled, final boolean inline) {
        requests.set(
                JAVA_INT, at(slot) + SEND_FLAGS, (signalled ? IBV_SEND_SIGNALED : 0) | (inline ? IBV_SEND_INLINE : 0));
    }

    /// Has the receiver's completion wake those who wait for solicited ones only. Call after [#flags].
    public void solicit(final int slot) {
        final long at = at(slot) + SEND_FLAGS;
        requests.set(JAVA_INT, at, requests.get(JAVA_INT, at) | IBV_SEND_SOLICITED);
    }

    /// Has it wait for the reads and atomics posted before. Call after [#flags].
    public void fence(final int slot) {
        final long at = at(slot) + SEND_FLAGS;
        requests.set(JAVA_INT, at, requests.get(JAVA_INT, at) | IBV_SEND_FENCE);
    }

    /// UD: sends a datagram by an address handle.
    ///
    /// @param queuePair number of the receiver's queue pair, or [QueuePair#MULTICAST]
    public void datagram(final int slot, final AddressHandle handle, final int queuePair, final int queueKey) {
        final long at = at(slot);
        handles[slot] = handle;
        requests.set(JAVA_INT, at + OPCODE, IBV_WR_SEND);
        requests.set(JAVA_LONG, at + AH, handle.pointer().address());
        requests.set(JAVA_INT, at + REMOTE_QPN, queuePair);
        requests.set(JAVA_INT, at + REMOTE_QKEY, queueKey);
    }

    /// RC: sends to a receive that the peer has posted.
    public void send(final int slot) {
        operation(slot, IBV_WR_SEND);
    }

    /// RC: writes into the peer's memory.
    public void write(final int slot, final long remoteAddress, final int remoteKey) {
        remote(operation(slot, IBV_WR_RDMA_WRITE), remoteAddress, remoteKey);
    }

    /// RC: writes into the peer's memory, then completes one of its receives with four bytes.
    public void writeWithImmediate(final int slot, final long remoteAddress, final int remoteKey, final int immediate) {
        final long at = operation(slot, IBV_WR_RDMA_WRITE_WITH_IMM);
        remote(at, remoteAddress, remoteKey);
        requests.set(JAVA_INT, at + IMM_DATA, Integer.reverseBytes(immediate));
    }

    /// RC: reads the peer's memory into the slot's buffers.
    public void read(final int slot, final long remoteAddress, final int remoteKey) {
        remote(operation(slot, IBV_WR_RDMA_READ), remoteAddress, remoteKey);
    }

    /// RC: adds to a word of the peer's memory; its old value goes to the slot's buffer of 8 bytes.
    ///
    /// @param remoteAddress aligned to 8
    public void fetchAdd(final int slot, final long remoteAddress, final int remoteKey, final long added) {
        final long at = atomic(operation(slot, IBV_WR_ATOMIC_FETCH_AND_ADD), remoteAddress, remoteKey);
        requests.set(JAVA_LONG, at + COMPARE_ADD, added);
    }

    /// RC: replaces a word of the peer's memory if it is `expected`; its old value goes to the slot's buffer
    /// of 8 bytes.
    ///
    /// @param remoteAddress aligned to 8
    public void compareSwap(
            final int slot,
            final long remoteAddress,
            final int remoteKey,
            final long expected,
            final long replacement) {
        final long at = atomic(operation(slot, IBV_WR_ATOMIC_CMP_AND_SWP), remoteAddress, remoteKey);
        requests.set(JAVA_LONG, at + COMPARE_ADD, expected);
        requests.set(JAVA_LONG, at + SWAP, replacement);
    }

    private long operation(final int slot, final int opcode) {
        final long at = at(slot);
        handles[slot] = null;
        requests.set(JAVA_INT, at + OPCODE, opcode);
        return at;
    }

    private void remote(final long at, final long address, final int key) {
        requests.set(JAVA_LONG, at + RDMA_ADDR, address);
        requests.set(JAVA_INT, at + RDMA_RKEY, key);
    }

    private long atomic(final long at, final long address, final int key) {
        requests.set(JAVA_LONG, at + ATOMIC_ADDR, address);
        requests.set(JAVA_INT, at + ATOMIC_RKEY, key);
        return at;
    }

    /// Posts `count` consecutive slots beginning at `first`, wrapping at the ring's end.
    ///
    /// @return how many were taken, from the first on: fewer when the queue is full
    /// @throws IllegalStateException when an address handle that one of them uses is closed
    /// @throws io.framecast.api.error.NativeException when the queue pair takes none at all, such as in a
    ///     wrong state
    public int post(final QueuePair queuePair, final int first, final int count) {
        Objects.checkIndex(first, slots);
        if (count <= 0) {
            return 0;
        }
        if (count > slots) {
            throw new IllegalArgumentException("sends: expected at most " + slots + " slots, got " + count);
        }
        final int end = first + count;
        final int last = end > slots ? end - slots - 1 : end - 1;
        requireWays(first, Math.min(end, slots));
        requireWays(0, Math.max(0, end - slots));
        requests.set(JAVA_LONG, last * BYTES + NEXT, 0);
        refused.set(JAVA_LONG, 0, 0);
        final int errno = queuePair.postSends(address(first), refused.address());
        requests.set(JAVA_LONG, last * BYTES + NEXT, address(last + 1 == slots ? 0 : last + 1));
        return errno == 0 ? count : taken(queuePair, first, errno);
    }

    // The driver follows the pointer of an address handle, so a closed one would be a crash. Most runs take
    // one handle.
    private void requireWays(final int from, final int to) {
        AddressHandle checked = null;
        for (int slot = from; slot < to; slot++) {
            final AddressHandle handle = handles[slot];
            if (handle != checked && handle != null) {
                handle.requireOpen();
                checked = handle;
            }
        }
    }

    // Some drivers say it as a negative number.
    private int taken(final QueuePair queuePair, final int first, final int status) {
        final int errno = Math.abs(status);
        if (errno != VerbsErrors.ENOMEM && errno != VerbsErrors.EAGAIN && errno != VerbsErrors.ENOSPC) {
            throw VerbsErrors.of("ibv_post_send", errno, queuePair.toString());
        }
        final long at = refused.get(JAVA_LONG, 0) - requests.address();
        // Some drivers say no after they took all of it: what became of it nobody can tell.
        if (at < 0 || at >= requests.byteSize()) {
            throw VerbsErrors.of("ibv_post_send", errno, queuePair + " does not say what it took");
        }
        final int slot = (int) (at / BYTES);
        return slot >= first ? slot - first : slot - first + slots;
    }
}
