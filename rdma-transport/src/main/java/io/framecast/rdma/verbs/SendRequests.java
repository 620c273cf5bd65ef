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
public final class SendRequests extends RequestRing {
    private static final long OPCODE = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "opcode");
    private static final long SEND_FLAGS = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "send_flags");
    private static final long AH = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "ud", "ah");
    private static final long REMOTE_QPN = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "ud", "remote_qpn");
    private static final long REMOTE_QKEY = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "ud", "remote_qkey");
    private static final long RDMA_ADDR = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "rdma", "remote_addr");
    private static final long RDMA_RKEY = VerbsLayouts.offset(VerbsLayouts.SEND_WR, "wr", "rdma", "rkey");

    private final @Nullable AddressHandle[] handles;

    public SendRequests(final Arena arena, final int slots, final int elements) {
        super(arena, VerbsLayouts.SEND_WR, slots, elements, "ibv_post_send");
        handles = new AddressHandle[slots];
        for (int slot = 0; slot < slots; slot++) {
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

    /// RC: writes into the peer's memory.
    public void write(final int slot, final long remoteAddress, final int remoteKey) {
        operation(slot, IBV_WR_RDMA_WRITE, remoteAddress, remoteKey);
    }

    /// RC: reads the peer's memory into the slot's buffers.
    public void read(final int slot, final long remoteAddress, final int remoteKey) {
        operation(slot, IBV_WR_RDMA_READ, remoteAddress, remoteKey);
    }

    private void operation(final int slot, final int opcode, final long address, final int key) {
        final long at = at(slot);
        handles[slot] = null;
        requests.set(JAVA_INT, at + OPCODE, opcode);
        requests.set(JAVA_LONG, at + RDMA_ADDR, address);
        requests.set(JAVA_INT, at + RDMA_RKEY, key);
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
