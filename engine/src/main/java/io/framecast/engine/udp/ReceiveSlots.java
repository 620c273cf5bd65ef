package io.framecast.engine.udp;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.net.LaneCounts;
import io.framecast.engine.net.RedirectedSlots;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The run of posted slots of a receive ring. Datagrams fill it in the order posted.
///
/// Where the kernel joins datagrams, one call takes up to 64 KiB of them and scatters each into its own slot. That
/// works because the source sends datagrams of exactly one slot. Otherwise one call takes many messages of one
/// datagram each.
///
/// A dropped datagram (longer than a slot, shorter than a header) consumes no slot: datagrams behind it are moved
/// up. Hostile datagrams therefore neither misplace honest ones nor use slots up.
final class ReceiveSlots {
    private static final int CALLS_MAX = 16;

    private final ReceiveRing ring;
    private final RedirectedSlots redirected;
    // Null before the first redirection, and where lists of redirected slots would be too long.
    private @Nullable MemorySegment redirectedList;
    private final Arena arena;
    private final int slotBytes;
    private final MessageBatch messages;
    private final LaneCounts counts;
    // Slots that take the longest joined message.
    private final int joinedSlots;
    private final JoinedDatagrams surplus;
    private final JoinedDatagrams joined;
    // Lists of fewer slots than a joined message may fill, with the surplus memory behind them.
    private final MemorySegment shortList;
    private JoinedDatagrams waiting;
    private int firstSlot;
    private int posted;

    ReceiveSlots(final Arena arena, final ReceiveRing ring, final LaneCounts counts) {
        if (!ring.payload().hostAddressable()) {
            throw new TransportException("udp: cannot receive into device memory; stage payloads through host memory");
        }
        this.ring = ring;
        this.counts = counts;
        redirected = new RedirectedSlots(ring);
        this.arena = arena;
        slotBytes = ring.headerBytes() + ring.payloadBytes();
        joinedSlots = (JoinedDatagrams.BYTES_MAX + slotBytes - 1) / slotBytes;
        final int wrapMax = Math.max(MessageBatch.MESSAGES_MAX, joinedSlots);
        messages = new MessageBatch(
                arena,
                new MessageBatch.Parts(ring.headers(), ring.headerStride(), ring.headerBytes()),
                new MessageBatch.Parts(ring.payload().host(), ring.payloadBytes(), ring.payloadBytes()),
                ring.slots(),
                wrapMax);
        surplus = new JoinedDatagrams(arena);
        joined = new JoinedDatagrams(arena);
        shortList = messages.newList(arena, joinedSlots);
        waiting = surplus;
    }

    /// Whether a ring can take joined datagrams: each list of slots must fit one call.
    static boolean canJoin(final ReceiveRing ring) {
        return ring.headerBytes() > 0
                && 2L * (JoinedDatagrams.BYTES_MAX / (ring.headerBytes() + ring.payloadBytes()) + 2)
                        <= Linux.IOVECS_MAX;
    }

    /// True when the slots of a joined message fit one call, even if all are redirected.
    boolean canRedirect() {
        return joinedSlots * messages.redirectedPerSlot() < Linux.IOVECS_MAX;
    }

    void redirect(final int slot, final @Nullable MemorySegment memory, final long offset, final int bytes) {
        redirected.redirect(slot, memory, offset, bytes);
        if (redirectedList == null && redirected.hasAny()) {
            redirectedList = messages.newRedirectedList(arena, Math.max(MessageBatch.MESSAGES_MAX, joinedSlots));
        }
    }

    /// Replaces the posted run.
    int post(final int first, final int count) {
        if (first < 0 || first >= ring.slots() || count < 0 || count > ring.slots()) {
            throw new IllegalArgumentException(
                    "post: expected slots of 0 … " + (ring.slots() - 1) + ", got " + first + " + " + count);
        }
        firstSlot = first;
        posted = count;
        return count;
    }

    /// Takes a socket's datagrams, as far as slots and completions go.
    ///
    /// @return the errno when there is nothing more, 0 when slots or completions ran out
    int drain(final ReceiveSocket socket, final Completions completions) {
        final int before = completions.count();
        // Dropped datagrams consume no slot, and a flood of them must not keep the caller for ever.
        for (int calls = 0; calls < CALLS_MAX && room(completions) > 0; calls++) {
            if (!socket.joining()) {
                final int errno = takeMany(socket, completions);
                if (errno != 0) {
                    return errno;
                }
                continue;
            }
            // The caller posts anew before too few slots are left for a whole joined message.
            if (completions.count() > before && room(completions) < joinedSlots) {
                return 0;
            }
            final int errno = takeJoined(socket, completions);
            if (errno != 0) {
                return errno;
            }
        }
        return 0;
    }

    private int room(final Completions completions) {
        return Math.min(posted, completions.capacity() - completions.count());
    }

    private int takeMany(final ReceiveSocket socket, final Completions completions) {
        final int want = Math.min(room(completions), MessageBatch.MESSAGES_MAX);
        final MemorySegment list = redirectedList;
        int element = 0;
        for (int i = 0; i < want; i++) {
            if (list == null) {
                messages.pointTo(i, firstSlot + i, 1);
            } else {
                element = messages.pointToRedirected(i, list, element, redirected, firstSlot + i, 1, null);
            }
            messages.segment(i, 0);
        }
        final int got = socket.receive(messages.address(), want);
        if (got <= 0) {
            return -got;
        }
        socket.onDatagrams(got);
        int kept = 0;
        for (int i = 0; i < got; i++) {
            if (isKept(messages.bytes(i), messages.isTruncated(i))) {
                if (kept != i) {
                    move(slot(i), slot(kept), messages.bytes(i));
                }
                complete(completions, slot(kept++), messages.bytes(i));
            }
        }
        consume(kept);
        return got < want ? Linux.EAGAIN : 0;
    }

    private int takeJoined(final ReceiveSocket socket, final Completions completions) {
        final int expectedSlots = Math.min(room(completions), joinedSlots);
        final MemorySegment list = redirectedList;
        if (list != null) {
            final MemorySegment behind = expectedSlots == joinedSlots ? null : surplus.memory();
            messages.pointToRedirected(0, list, 0, redirected, firstSlot, expectedSlots, behind);
        } else if (expectedSlots == joinedSlots) {
            messages.pointTo(0, firstSlot, expectedSlots);
        } else {
            pointToShort(expectedSlots);
        }
        messages.expectSegment(0);
        final int got = socket.receive(messages.address(), 1);
        if (got <= 0) {
            socket.onEmpty();
            return -got;
        }
        final int bytes = messages.bytes(0);
        final int joinedBytes = messages.joinedBytes(0);
        socket.onMessage(joinedBytes > 0);
        if (joinedBytes == 0) {
            takeOne(bytes, completions);
        } else if (joinedBytes == slotBytes) {
            takeRun(bytes, expectedSlots, completions);
        } else {
            takeOdd(bytes, joinedBytes, expectedSlots, completions);
        }
        return 0;
    }

    private void pointToShort(final int slots) {
        messages.pointToWithSurplus(shortList, firstSlot, slots, surplus.memory());
    }

    private void takeOne(final int bytes, final Completions completions) {
        if (isKept(bytes, bytes > slotBytes)) {
            complete(completions, firstSlot, bytes);
            consume(1);
        }
    }

    // Every datagram lies in its slot; datagrams beyond the posted slots lie in the surplus.
    private void takeRun(final int bytes, final int expectedSlots, final Completions completions) {
        final int inSlots = Math.min(bytes, expectedSlots * slotBytes);
        int kept = 0;
        for (int taken = 0; taken < inSlots; taken += slotBytes) {
            final int datagramBytes = Math.min(slotBytes, inSlots - taken);
            if (isKept(datagramBytes, false)) {
                complete(completions, slot(kept++), datagramBytes);
            }
        }
        consume(kept);
        surplus.fill(bytes - inSlots, slotBytes);
        waiting = surplus;
        handOut(completions);
    }

    // Datagrams of another length than a slot's lie across slots: small frames, or datagrams of another
    // program.
    private void takeOdd(
            final int bytes, final int joinedBytes, final int expectedSlots, final Completions completions) {
        final int inSlots = Math.min(bytes, expectedSlots * slotBytes);
        for (int taken = 0, index = 0; taken < inSlots; taken += slotBytes, index++) {
            copyOut(slot(index), joined.memory(), taken, Math.min(slotBytes, inSlots - taken));
        }
        MemorySegment.copy(surplus.memory(), 0, joined.memory(), inSlots, bytes - inSlots);
        joined.fill(bytes, joinedBytes);
        waiting = joined;
        handOut(completions);
    }

    /// Puts waiting datagrams into slots, as far as these go. The lane calls it before it takes any from a
    /// socket.
    void handOut(final Completions completions) {
        int kept = 0;
        while (!waiting.isEmpty() && kept < posted && !completions.isFull()) {
            final int datagramBytes = waiting.nextBytes();
            if (isKept(datagramBytes, datagramBytes > slotBytes)) {
                final int slot = slot(kept++);
                copyIn(waiting.memory(), waiting.position(), slot, datagramBytes);
                complete(completions, slot, datagramBytes);
            }
            waiting.skip();
        }
        consume(kept);
    }

    private boolean isKept(final int datagramBytes, final boolean truncated) {
        if (truncated) {
            counts.add(LaneCounter.TRUNCATED, 1);
            return false;
        }
        if (datagramBytes < ring.headerBytes()) {
            counts.add(LaneCounter.MALFORMED, 1);
            return false;
        }
        return true;
    }

    private void complete(final Completions completions, final int slot, final int datagramBytes) {
        completions.add(slot, datagramBytes);
        counts.add(LaneCounter.RECEIVED_BYTES, datagramBytes);
    }

    private void consume(final int slots) {
        firstSlot = slot(slots);
        posted -= slots;
        counts.add(LaneCounter.RECEIVED_DATAGRAMS, slots);
    }

    private void move(final int from, final int to, final int datagramBytes) {
        final long stride = ring.headerStride();
        if (ring.headerBytes() > 0) {
            MemorySegment.copy(ring.headers(), from * stride, ring.headers(), to * stride, ring.headerBytes());
        }
        redirected.move(from, to, datagramBytes - ring.headerBytes());
    }

    private void copyIn(final MemorySegment from, final int offset, final int slot, final int bytes) {
        final int header = ring.headerBytes();
        MemorySegment.copy(from, offset, ring.headers(), (long) slot * ring.headerStride(), header);
        redirected.put(from, (long) offset + header, slot, bytes - header);
    }

    private void copyOut(final int slot, final MemorySegment to, final int offset, final int bytes) {
        final int header = Math.min(bytes, ring.headerBytes());
        MemorySegment.copy(ring.headers(), (long) slot * ring.headerStride(), to, offset, header);
        redirected.get(slot, to, (long) offset + header, bytes - header);
    }

    private int slot(final int index) {
        return (firstSlot + index) % ring.slots();
    }
}
