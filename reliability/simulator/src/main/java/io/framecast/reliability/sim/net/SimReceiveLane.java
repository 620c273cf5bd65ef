package io.framecast.reliability.sim.net;

import io.framecast.reliability.assembly.SlotMemory;
import io.framecast.reliability.lane.LanePort;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;

/// A lane over an inbox: datagrams land in posted slots, header and payload apart, before any check. A lane by
/// sequence behaves as `recvmsg` with iovecs does, one by arrival as a verbs receive queue.
public final class SimReceiveLane implements LanePort {
    private final SimInbox inbox;
    private final SlotMemory memory;
    private final Placement placement;
    private final int batchMax;
    private final RandomGenerator random;
    // Share of the datagrams that the transport drops after they arrived.
    private final double malformed;
    // Slots posted and not used; the first of them is used first.
    private final int[] posted;
    private int postedFirst;
    private int postedCount;
    private long posts;
    private final IntFunction<MemorySegment> buffers;
    private final Map<Integer, MemorySegment> redirected = new HashMap<>();
    private final int[] slots;
    private final int[] bytes;
    // Datagrams of the polls since the last clearTaken.
    private final List<MemorySegment> taken = new ArrayList<>();

    /// @param batchMax most datagrams taken in one poll; by sequence each poll draws its number
    /// @param malformed share of the datagrams that are dropped after they arrived
    /// @param buffers of the user, by number
    public SimReceiveLane(
            final SimInbox inbox,
            final SlotMemory memory,
            final Placement placement,
            final int batchMax,
            final RandomGenerator random,
            final double malformed,
            final IntFunction<MemorySegment> buffers) {
        this.buffers = buffers;
        this.inbox = inbox;
        this.memory = memory;
        this.placement = placement;
        this.batchMax = batchMax;
        this.random = random;
        this.malformed = malformed;
        posted = new int[memory.slots()];
        slots = new int[batchMax];
        bytes = new int[batchMax];
    }

    public SimInbox inbox() {
        return inbox;
    }

    @Override
    public Placement placement() {
        return placement;
    }

    @Override
    public int post(final int firstSlot, final int count) {
        posts++;
        if (placement == Placement.BY_SEQUENCE) {
            postedCount = 0;
        }
        final int accepted = Math.min(count, posted.length - postedCount);
        for (int i = 0; i < accepted; i++) {
            posted[(postedFirst + postedCount++) % posted.length] = (firstSlot + i) % memory.slots();
        }
        return accepted;
    }

    /// Calls of [#post] so far.
    public long posts() {
        return posts;
    }

    @Override
    public boolean canRedirect() {
        return true;
    }

    @Override
    public boolean redirect(final int slot, final int buffer, final long offset, final int length) {
        if (buffer < 0) {
            redirected.remove(slot);
        } else {
            redirected.put(slot, buffers.apply(buffer).asSlice(offset, length));
        }
        return true;
    }

    @Override
    public int poll() {
        final int most = placement == Placement.BY_SEQUENCE ? 1 + random.nextInt(batchMax) : batchMax;
        int count = 0;
        while (count < most && postedCount > 0 && !inbox.isEmpty()) {
            final MemorySegment datagram = inbox.remove();
            final int slot = posted[postedFirst];
            postedFirst = (postedFirst + 1) % posted.length;
            postedCount--;
            arrive(datagram, slot);
            if (random.nextDouble() < malformed) {
                inbox.lose();
                repost(slot);
                continue;
            }
            slots[count] = slot;
            bytes[count++] = (int) datagram.byteSize();
            taken.add(datagram);
        }
        return count;
    }

    // A lane by arrival posts the slot of a dropped datagram again, behind the posted ones.
    private void repost(final int slot) {
        if (placement == Placement.BY_ARRIVAL) {
            posted[(postedFirst + postedCount++) % posted.length] = slot;
        }
    }

    private void arrive(final MemorySegment datagram, final int slot) {
        final long header = Math.min(memory.headerBytes(), datagram.byteSize());
        MemorySegment.copy(datagram, 0, memory.headers(), memory.headerOffset(slot), header);
        final long payload = Math.min(memory.slotBytes(), datagram.byteSize() - header);
        final MemorySegment target = redirected.get(slot);
        final long there = target == null ? 0 : Math.min(payload, target.byteSize());
        if (target != null) {
            MemorySegment.copy(datagram, header, target, 0, there);
        }
        MemorySegment.copy(
                datagram, header + there, memory.payload(), memory.payloadOffset(slot) + there, payload - there);
    }

    /// A queue pair loses a datagram that finds no slot when it arrives.
    ///
    /// @return whether the next datagram finds one
    public boolean admits() {
        if (placement == Placement.BY_SEQUENCE || inbox.queue().size() < postedCount) {
            return true;
        }
        inbox.lose();
        return false;
    }

    @Override
    public int batchMax() {
        return batchMax;
    }

    @Override
    public int slot(final int index) {
        return slots[index];
    }

    @Override
    public int bytes(final int index) {
        return bytes[index];
    }

    /// Datagrams taken since the last call of [#clearTaken].
    public List<MemorySegment> taken() {
        return taken;
    }

    public void clearTaken() {
        taken.clear();
    }

    /// Receive slots of their own, filled with rubbish.
    public static SlotMemory slots(
            final MemorySegment payload, final int slotBytes, final int slots, final int headerBytes) {
        final byte[] headers = new byte[slots * headerBytes];
        java.util.Arrays.fill(headers, (byte) 0x55);
        return new SlotMemory(MemorySegment.ofArray(headers), 0, payload.asSlice(0), slotBytes, slots, headerBytes);
    }
}
