package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.GatherSource;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.PayloadPlaces;
import io.framecast.api.spi.SendRing;
import io.framecast.rdma.verbs.Access;
import io.framecast.rdma.verbs.AddressHandle;
import io.framecast.rdma.verbs.CompletionQueue;
import io.framecast.rdma.verbs.CompletionStatus;
import io.framecast.rdma.verbs.QueuePair;
import io.framecast.rdma.verbs.SendRequests;
import io.framecast.rdma.verbs.WorkCompletions;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// A send ring as prebuilt requests `[header | payload]`. Identifiers count submitted requests, so one completion
/// stands for all requests before it. The last request of each call asks for a completion, and every 32nd.
final class SendSlots {
    // Every 32nd.
    private static final int SIGNAL_MASK = 31;
    private static final int BATCH = 16;

    private final SendRing ring;
    private final SendRequests requests;
    private final CompletionQueue queue;
    private final AddressHandleCache handles;
    private final WorkCompletions batch;
    private final int depth;
    private final int datagramBytesMax;
    private final int payloadElement;
    private final int headerBytes;
    private final int[] payloadLengths;
    private final int payloadKey;
    private final @Nullable PayloadPlaces places;
    /// The present content of the requests: where their payload lies.
    private final @Nullable GatherSource[] sources;
    private final long[] offsets;
    /// The present content of the requests: payload bytes, receiver, whether success causes a completion.
    private final int[] lengths;
    private final RdmaPeers.@Nullable Peer[] peers;
    private final boolean[] signalled;
    private int failure = CompletionStatus.SUCCESS;
    private long submitted;
    private long completed;
    /// Number of the last send that was posted; later sends went nowhere.
    private long posted;
    private long sentBytes;
    private long backPressured;
    private long unreachable;

    /// @param keys keeps a lease for as long as the lane is open
    SendSlots(
            final Arena arena,
            final VerbsLink link,
            final SendRing ring,
            final CompletionQueue queue,
            final int depth,
            final ToIntFunction<RegistrationCache.Lease> keys) {
        this.ring = ring;
        this.queue = queue;
        handles = link.handles();
        this.depth = depth;
        datagramBytesMax = link.port().datagramBytesMax();
        payloadElement = ring.headerBytes() == 0 ? 0 : 1;
        requests = new SendRequests(arena, ring.slots(), 2);
        headerBytes = ring.headerBytes();
        payloadLengths = ring.payloadLengths();
        lengths = new int[ring.slots()];
        places = ring.places();
        sources = new GatherSource[places == null ? 0 : ring.slots()];
        offsets = new long[sources.length];
        peers = new RdmaPeers.Peer[ring.slots()];
        signalled = new boolean[ring.slots()];
        batch = new WorkCompletions(arena, BATCH);
        final RegistrationCache registrations = link.registrations();
        payloadKey = keys.applyAsInt(registrations.lease(ring.payload(), Access.LOCAL_READ));
        final int headerKey =
                ring.headerBytes() == 0 ? 0 : keys.applyAsInt(registrations.lease(ring.headers(), Access.LOCAL_READ));
        for (int i = 0; i < ring.slots(); i++) {
            if (ring.headerBytes() > 0) {
                final long header = ring.headers().address() + (long) i * ring.headerBytes();
                requests.element(i, 0, header, ring.headerBytes(), headerKey);
            }
            final long payload = ring.payload().address() + (long) i * ring.payloadBytes();
            requests.element(i, payloadElement, payload, 0, payloadKey);
        }
    }

    /// Sends slots to one peer or group.
    ///
    /// @return how many were taken
    int send(final QueuePair queuePair, final RdmaPeers.Peer to, final int firstSlot, final int count) {
        final int wanted = Math.min(count, peers.length);
        // A caller that asks for completions reaps; this call reaps only without room.
        if (wanted > depth - (submitted - completed)) {
            reap();
        }
        final int room = (int) Math.min(wanted, depth - (submitted - completed));
        final AddressHandle handle = to.entry().handle();
        if (handle == null) {
            return withoutHandle(to.entry(), room);
        }
        final long bytes = prepare(to, handle, firstSlot, room);
        final int accepted = requests.post(queuePair, firstSlot, room);
        submitted += accepted;
        posted = accepted > 0 ? submitted : posted;
        sentBytes += bytes - refusedBytes(firstSlot, accepted, room);
        backPressured += count - accepted;
        return accepted;
    }

    private long refusedBytes(final int firstSlot, final int accepted, final int room) {
        long bytes = 0;
        for (int i = accepted; i < room; i++) {
            bytes += requests.bytes((firstSlot + i) % peers.length);
        }
        return bytes;
    }

    // Nearly always a slot goes where it went before, as long as before, without a signal: then nothing is
    // written. Another connection is another peer, even at the same address.
    @SuppressWarnings("ReferenceEquality")
    private long prepare(final RdmaPeers.Peer to, final AddressHandle handle, final int firstSlot, final int count) {
        long bytes = (long) headerBytes * count;
        int slot = firstSlot;
        for (int i = 1; i <= count; i++) {
            final int payloadBytes = payloadLengths[slot];
            if (places != null) {
                place(slot, places);
            }
            if (payloadBytes != lengths[slot]) {
                length(slot, payloadBytes);
            }
            if (peers[slot] != to) {
                requests.datagram(slot, handle, to.queuePair(), to.queueKey());
                peers[slot] = to;
            }
            final long identifier = submitted + i;
            final boolean signals = i == count || (identifier & SIGNAL_MASK) == 0;
            if (signals) {
                requests.request(slot, identifier);
            }
            if (signals != signalled[slot]) {
                requests.flags(slot, signals, false);
                signalled[slot] = signals;
            }
            bytes += payloadBytes;
            slot = slot + 1 == peers.length ? 0 : slot + 1;
        }
        return bytes;
    }

    // The source's own object: it stands for one registration.
    @SuppressWarnings("ReferenceEquality")
    private void place(final int slot, final PayloadPlaces now) {
        final GatherSource source = now.source(slot);
        final long offset = now.offset(slot);
        if (source == sources[slot] && (source == null || offset == offsets[slot])) {
            return;
        }
        sources[slot] = source;
        offsets[slot] = offset;
        if (source == null) {
            final long payload = ring.payload().address() + (long) slot * ring.payloadBytes();
            requests.element(slot, payloadElement, payload, lengths[slot], payloadKey);
        } else {
            final RdmaGatherSource registered = (RdmaGatherSource) source;
            final long payload = registered.memory().address() + offset;
            requests.element(slot, payloadElement, payload, lengths[slot], registered.localKey());
        }
    }

    private void length(final int slot, final int payloadBytes) {
        final int bytes = headerBytes + payloadBytes;
        if (payloadBytes < 0 || payloadBytes > ring.payloadBytes() || bytes > datagramBytesMax) {
            throw new IllegalArgumentException("send: slot " + slot + " of " + bytes + " bytes; expected at most "
                    + datagramBytesMax + ", by the port's MTU and the slot's length");
        }
        requests.length(slot, payloadElement, payloadBytes);
        lengths[slot] = payloadBytes;
    }

    // The lane pushes back while the kernel makes the handle, and loses the datagram when there is none to
    // be made.
    private int withoutHandle(final AddressHandleCache.Entry entry, final int count) {
        if (!entry.isFailed()) {
            backPressured += count;
            return 0;
        }
        handles.seekAgain(entry);
        unreachable += count;
        submitted += count;
        settle();
        return count;
    }

    private void settle() {
        completed = completed >= posted ? submitted : completed;
    }

    /// Takes the completions.
    void reap() {
        int count;
        do {
            count = queue.poll(batch);
            for (int i = 0; i < count; i++) {
                if (!batch.isSuccess(i) && failure == CompletionStatus.SUCCESS) {
                    failure = batch.status(i);
                }
                completed = Math.max(completed, batch.request(i));
            }
        } while (count == BATCH);
        settle();
    }

    /// Whether nothing that was posted is under way.
    boolean isIdle() {
        return completed == submitted;
    }

    /// Whether the queue pair has failed.
    boolean isFailed() {
        return failure != CompletionStatus.SUCCESS;
    }

    TransportException failure() {
        return new TransportException("verbs: a send failed: " + CompletionStatus.describe(failure));
    }

    /// Sends that find no queue pair to take them.
    int pushBack(final int count) {
        backPressured += count;
        return 0;
    }

    /// The queue pair works again, and has forgotten all posted sends. Address handles may have changed.
    void restart() {
        Arrays.fill(peers, null);
        while (queue.poll(batch) > 0) {
            // These completions came before the queue pair was reset.
        }
        posted = submitted;
        completed = submitted;
        failure = CompletionStatus.SUCCESS;
    }

    long submitted() {
        return submitted;
    }

    long completed() {
        return completed;
    }

    /// Back pressure is for want of room, or of an address handle that is not made yet; an error is a peer for which no
    /// address handle can be made.
    long counter(final LaneCounter counter) {
        return switch (counter) {
            case SENT_DATAGRAMS -> submitted;
            case SENT_BYTES -> sentBytes;
            case SEND_BACK_PRESSURED -> backPressured;
            case SYSTEM_ERRORS -> unreachable;
            default -> 0;
        };
    }
}
