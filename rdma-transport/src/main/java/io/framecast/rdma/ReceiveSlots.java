package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.rdma.verbs.Access;
import io.framecast.rdma.verbs.CompletionQueue;
import io.framecast.rdma.verbs.CompletionStatus;
import io.framecast.rdma.verbs.Gid;
import io.framecast.rdma.verbs.QueuePair;
import io.framecast.rdma.verbs.ReceiveRequests;
import io.framecast.rdma.verbs.WorkCompletions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// A receive ring as prebuilt requests `[routing header and header | payload | overflow]`.
///
/// The overflow is memory that all requests share and no code reads. Without it a datagram longer than its request
/// fails the whole queue pair, so any sender could end a lane. With it the lane counts the datagram and drops it.
///
/// A slot whose datagram is dropped (too long, too short, of a stranger, the lane's own) is posted again
/// behind the posted ones: slots are then no longer used in the order of the ring.
final class ReceiveSlots implements AutoCloseable {
    static final int RESERVE_BYTES = 40;

    private static final int IPV4_SOURCE = 32;
    private static final int IPV6_SOURCE = 8;
    private static final int BATCH = 64;
    // Other ports may send that much, though this port's MTU is smaller. No network carries more.
    private static final int DATAGRAM_BYTES_MAX = 4096;
    // Batches of one call, also while datagrams come that are not for this lane.
    private static final int BATCHES_MAX = 64;

    private final ReceiveRing ring;
    private final ReceiveRequests requests;
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final WorkCompletions batch;
    private final @Nullable RdmaAddress only;
    private final MemorySegment headers;
    private final int headerStride;
    /// With the reserve; shorter and longer datagrams are dropped.
    private final int datagramBytesMin;
    private final int datagramBytesMax;
    /// The only source whose datagrams count, or this end, whose datagrams do not count.
    private final Gid source;
    private final int sourceQueuePair;
    private final boolean isIpv4;
    /// As it stands in the header.
    private final int sourceIpv4;
    private final int depth;
    /// Slots that a queue pair gave back when it failed, in the order of posting.
    private final int[] returned;
    private int returnedCount;
    private boolean held;
    private int failure = CompletionStatus.SUCCESS;
    // By slot: memory that it is redirected to, and how much of it; empty before the first.
    private @Nullable Target[] targets = {};
    private int[] rooms = {};
    private final Map<DeviceRegion, Target> byMemory = new HashMap<>();
    private final RegistrationCache registrations;
    private int payloadKey;
    private int posted;
    private long received;
    private long receivedBytes;
    private long truncated;
    private long malformed;

    /// @param only the one source that is heard; null for all but itself
    /// @param keys keeps a lease for as long as the lane is open
    ReceiveSlots(
            final Arena arena,
            final VerbsLink link,
            final ReceiveRing ring,
            final Queues queues,
            final @Nullable RdmaAddress only,
            final ToIntFunction<RegistrationCache.Lease> keys) {
        this.ring = ring;
        this.only = only;
        queue = queues.completions();
        queuePair = queues.queuePair();
        headers = ring.headers();
        headerStride = ring.headerStride();
        datagramBytesMin = RESERVE_BYTES + ring.headerBytes();
        datagramBytesMax = datagramBytesMin + ring.payloadBytes();
        source = only == null ? link.port().gid().gid() : only.gid();
        sourceQueuePair = only == null ? queuePair.number() : only.queuePair();
        isIpv4 = source.isIpv4Mapped();
        sourceIpv4 = Integer.reverseBytes((int) source.low());
        depth = queues.depth();
        returned = new int[depth];
        batch = new WorkCompletions(arena, BATCH);
        requests = new ReceiveRequests(arena, ring.slots(), 3);
        if (ring.headerStride() < RESERVE_BYTES + ring.headerBytes()) {
            throw new IllegalArgumentException(
                    "receive ring: expected " + RESERVE_BYTES + " bytes before each header, got a stride of "
                            + ring.headerStride() + " for headers of " + ring.headerBytes());
        }
        registrations = link.registrations();
        build(arena, registrations, keys);
    }

    /// The queues by which a lane receives.
    ///
    /// @param depth receives that may be posted
    record Queues(QueuePair queuePair, CompletionQueue completions, int depth) {}

    private void build(
            final Arena arena,
            final RegistrationCache registrations,
            final ToIntFunction<RegistrationCache.Lease> keys) {
        final int headerKey = keys.applyAsInt(registrations.lease(ring.headers(), Access.LOCAL_WRITE));
        payloadKey = keys.applyAsInt(registrations.lease(ring.payload(), Access.LOCAL_WRITE));
        final MemorySegment overflow = arena.allocate(DATAGRAM_BYTES_MAX, Long.BYTES);
        final int overflowKey = keys.applyAsInt(registrations.lease(overflow, Access.LOCAL_WRITE));
        for (int i = 0; i < ring.slots(); i++) {
            final long header = ring.headers().address() + (long) i * ring.headerStride();
            final long payload = ring.payload().address() + (long) i * ring.payloadBytes();
            requests.element(i, 0, header, RESERVE_BYTES + ring.headerBytes(), headerKey);
            requests.element(i, 1, payload, ring.payloadBytes(), payloadKey);
            requests.element(i, 2, overflow.address(), (int) overflow.byteSize(), overflowKey);
        }
    }

    /// Memory of the user's, registered for as long as slots are redirected to it.
    private static final class Target {
        private final DeviceRegion memory;
        private final RegistrationCache.Lease lease;
        private int slots;

        private Target(final DeviceRegion memory, final RegistrationCache.Lease lease) {
            this.memory = memory;
            this.lease = lease;
        }
    }

    /// Redirects a slot to other memory. Its request takes only as much as fits there. A longer datagram is dropped.
    ///
    /// @param memory null for the slot itself
    /// @return false where the device cannot reach that memory
    boolean redirect(final int slot, final @Nullable DeviceRegion memory, final long offset, final int bytes) {
        if (targets.length == 0) {
            if (memory == null) {
                return true;
            }
            targets = new Target[ring.slots()];
            rooms = new int[ring.slots()];
        }
        final Target former = targets[slot];
        final Target next =
                memory == null ? null : former != null && former.memory.equals(memory) ? former : target(memory);
        if (memory != null && next == null) {
            return false;
        }
        if (next == null) {
            final long payload = ring.payload().address() + (long) slot * ring.payloadBytes();
            requests.element(slot, 1, payload, ring.payloadBytes(), payloadKey);
            rooms[slot] = ring.payloadBytes();
        } else {
            requests.element(slot, 1, next.memory.address() + offset, bytes, next.lease.localKey());
            rooms[slot] = bytes;
            next.slots++;
        }
        targets[slot] = next;
        if (former != null && --former.slots == 0) {
            byMemory.remove(former.memory);
            former.lease.close();
        }
        return true;
    }

    private @Nullable Target target(final DeviceRegion memory) {
        final Target known = byMemory.get(memory);
        if (known != null) {
            return known;
        }
        try {
            final Target made = new Target(memory, registrations.lease(memory, Access.LOCAL_WRITE));
            byMemory.put(memory, made);
            return made;
        } catch (final TransportException _) {
            return null;
        }
    }

    private int datagramBytesMax(final int slot) {
        return targets.length == 0 || targets[slot] == null ? datagramBytesMax : datagramBytesMin + rooms[slot];
    }

    @Override
    public void close() {
        byMemory.values().forEach(target -> target.lease.close());
        byMemory.clear();
    }

    int post(final int firstSlot, final int count) {
        if (firstSlot < 0 || firstSlot >= ring.slots() || count < 0 || count > ring.slots()) {
            throw new IllegalArgumentException(
                    "post: expected slots of 0 … " + (ring.slots() - 1) + ", got " + firstSlot + " + " + count);
        }
        final int accepted = requests.post(queuePair, firstSlot, Math.min(count, depth - posted));
        posted += accepted;
        return accepted;
    }

    /// Whether the queue pair has given back receives, because it failed.
    boolean isFailed() {
        return failure != CompletionStatus.SUCCESS;
    }

    TransportException failure() {
        return new TransportException("verbs: a receive failed: " + CompletionStatus.describe(failure));
    }

    /// The queue pair has failed: it might never give back a receive that is posted from now on.
    void hold() {
        held = true;
    }

    /// Receives that the queue pair holds.
    int posted() {
        return posted;
    }

    /// Posts the returned receives again: the queue pair works.
    void postAgain() {
        held = false;
        int first = 0;
        while (first < returnedCount) {
            int run = 1;
            while (first + run < returnedCount && returned[first + run] == (returned[first] + run) % ring.slots()) {
                run++;
            }
            if (post(returned[first], run) < run) {
                throw new TransportException("verbs: receives cannot be posted again");
            }
            first += run;
        }
        returnedCount = 0;
        failure = CompletionStatus.SUCCESS;
    }

    /// Has the queue's channel report the next completion.
    void arm() {
        queue.arm();
    }

    int poll(final Completions completions) {
        int added = 0;
        for (int batches = 0; batches < BATCHES_MAX && !completions.isFull(); batches++) {
            final int count = queue.poll(batch, completions.capacity() - completions.count());
            for (int i = 0; i < count; i++) {
                added += take(i, completions) ? 1 : 0;
            }
            if (count < BATCH) {
                break;
            }
        }
        return added;
    }

    private boolean take(final int index, final Completions completions) {
        posted--;
        final int slot = (int) batch.request(index);
        if (!batch.isSuccess(index)) {
            failure = failure == CompletionStatus.SUCCESS ? batch.status(index) : failure;
            held = true;
            returned[returnedCount++] = slot;
            return false;
        }
        final int bytes = batch.bytes(index);
        // A lane of one source takes only its datagrams; other lanes take all but their own.
        final boolean isSource = batch.sourceQueuePair(index) == sourceQueuePair && isFromSource(slot);
        if (isSource == (only == null) || bytes < datagramBytesMin || bytes > datagramBytesMax(slot)) {
            drop(slot, bytes, isSource);
            return false;
        }
        received++;
        receivedBytes += bytes - RESERVE_BYTES;
        completions.add(slot, bytes - RESERVE_BYTES);
        return true;
    }

    private void drop(final int slot, final int bytes, final boolean isSource) {
        if (isSource == (only == null)) {
            malformed += only == null ? 0 : 1;
        } else if (bytes > datagramBytesMax(slot)) {
            truncated++;
        } else {
            malformed++;
        }
        if (held) {
            returned[returnedCount++] = slot;
        } else {
            post(slot, 1);
        }
    }

    private boolean isFromSource(final int slot) {
        final long header = (long) slot * headerStride;
        return isIpv4
                ? headers.get(JAVA_INT_UNALIGNED, header + IPV4_SOURCE) == sourceIpv4
                : source.matches(headers, header + IPV6_SOURCE);
    }

    /// A device drops a datagram without a receive silently, so there is no counter of these.
    long counter(final LaneCounter counter) {
        return switch (counter) {
            case RECEIVED_DATAGRAMS -> received;
            case RECEIVED_BYTES -> receivedBytes;
            case TRUNCATED -> truncated;
            case MALFORMED -> malformed;
            default -> 0;
        };
    }
}
