package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// A reusable batch of completions, in order, filled by [CompletionQueue#poll].
///
/// Of a completion that failed only [#request], [#status] and [#queuePair] mean something: its kind is unknown, so
/// requests must carry a mark by which they are recognised.
///
/// Threading: one thread at a time. Memory is the arena's; polling after it closed is an
/// [IllegalStateException].
public final class WorkCompletions {
    private static final long BYTES = VerbsLayouts.WC.byteSize();
    private static final long WR_ID = VerbsLayouts.offset(VerbsLayouts.WC, "wr_id");
    private static final long STATUS = VerbsLayouts.offset(VerbsLayouts.WC, "status");
    private static final long BYTE_LEN = VerbsLayouts.offset(VerbsLayouts.WC, "byte_len");
    private static final long QP_NUM = VerbsLayouts.offset(VerbsLayouts.WC, "qp_num");
    private static final long SRC_QP = VerbsLayouts.offset(VerbsLayouts.WC, "src_qp");

    private final MemorySegment completions;
    private final int capacity;
    private int count;

    public WorkCompletions(final Arena arena, final int capacity) {
        completions = arena.allocate(VerbsLayouts.WC, capacity);
        this.capacity = capacity;
    }

    public int capacity() {
        return capacity;
    }

    // Reading a byte proves that the memory is still there: the poll itself writes to a plain address.
    long target() {
        count = 0;
        completions.get(JAVA_INT, STATUS);
        return completions.address();
    }

    void filled(final int polled) {
        count = polled;
    }

    private long at(final int index) {
        return Objects.checkIndex(index, count) * BYTES;
    }

    /// The identifier given to the request.
    public long request(final int index) {
        return completions.get(JAVA_LONG, at(index) + WR_ID);
    }

    public boolean isSuccess(final int index) {
        return status(index) == VerbsConstants.IBV_WC_SUCCESS;
    }

    /// Code of verbs.h; see [CompletionStatus].
    public int status(final int index) {
        return completions.get(JAVA_INT, at(index) + STATUS);
    }

    /// Bytes received, with the 40 of the routing header on UD; of sends undefined.
    public int bytes(final int index) {
        return completions.get(JAVA_INT, at(index) + BYTE_LEN);
    }

    /// Number of the own queue pair.
    public int queuePair(final int index) {
        return completions.get(JAVA_INT, at(index) + QP_NUM);
    }

    /// Number of the sender's queue pair, of UD receives.
    public int sourceQueuePair(final int index) {
        return completions.get(JAVA_INT, at(index) + SRC_QP);
    }
}
