package io.framecast.rdma.verbs;

import static io.framecast.rdma.verbs.VerbsConstants.*;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/// A ring of send requests: request `slot` gathers up to `elements` buffers and does one operation. The device's driver
/// copies a request when it is posted, so it may be changed at once; its buffers may not, until it completes.
///
/// A request that asks for no signal completes silently: it is known to be done when a later one of the same
/// queue pair completes. At least one request of every queue length must ask, or the queue fills for good.
public final class SendRequests extends RequestRing<QueuePair> {
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

    private final @Nullable AddressHandle[] handles;

    public SendRequests(final Arena arena, final int slots, final int elements) {
        super(arena, VerbsLayouts.SEND_WR, slots, elements, "ibv_post_send");
        handles = new AddressHandle[slots];
        for (int slot = 0; slot < slots; slot++) {
            request(slot, slot);
            requests.set(JAVA_INT, at(slot) + OPCODE, IBV_WR_SEND);
        }
    }

    /// @param signalled whether success causes a completion; failure always does
    /// @param inline whether the driver copies the buffers at once, which may then be used again and need no
    ///     region; at most as long as the queue pair's limit
    public void flags(final int slot, final boolean signalled, final boolean inline) {
        requests.set(
                JAVA_INT, at(slot) + SEND_FLAGS, (signalled ? IBV_SEND_SIGNALED : 0) | (inline ? IBV_SEND_INLINE : 0));
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

    /// As for all rings.
    ///
    /// @throws IllegalStateException when an address handle of one of the slots is closed
    @Override
    public int post(final QueuePair queuePair, final int first, final int count) {
        final int end = Math.min(count, slots()) + first;
        requireHandles(first, Math.min(end, slots()));
        requireHandles(0, end - slots());
        return super.post(queuePair, first, count);
    }

    @Override
    int postChain(final QueuePair queuePair, final long first, final long refused) {
        return queuePair.postSends(first, refused);
    }

    // The driver follows the pointer of an address handle, so a closed handle would be a crash. Most runs use one
    // handle.
    private void requireHandles(final int from, final int to) {
        AddressHandle checked = null;
        for (int slot = from; slot < to; slot++) {
            final AddressHandle handle = handles[slot];
            if (handle != checked && handle != null) {
                handle.requireOpen();
                checked = handle;
            }
        }
    }
}
