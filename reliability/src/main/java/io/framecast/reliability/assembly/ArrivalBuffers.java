package io.framecast.reliability.assembly;

import io.framecast.reliability.lane.LanePort;
import java.util.Arrays;

/// The user's buffers that receives of a ring in order of arrival are redirected to (Chu et al. 2019, §4.2,
/// Algorithm 1: receives are built from the user's buffers, and frames begin where buffers begin).
///
/// A receive takes the datagram that comes when the receive is first in the queue, and cannot be taken back. So each
/// receive is redirected by the sequence that it takes if nothing is lost until then. A datagram in the wrong place of
/// a buffer is copied to its slot of the ring. The receives posted next follow the newest sequence again: receives in
/// the middle of a frame keep their slots, and receives from the next frame on are redirected.
///
/// A buffer is taken long before its frame comes: behind all receives that are queued. So it is taken only
/// where more buffers are posted than frames can come before, and while the stream's frames have one length.
///
/// A buffer is *claimed* by the first frame of which a datagram lands where it belongs. It is handed over when
/// all of its receives were used and all of its frame lies in it; else the frame is copied out, and the buffer
/// is given back when no receive is redirected to it any more: a later datagram would be written into the user's
/// frame.
///
/// One thread; allocates only in its constructor and at the first buffer.
final class ArrivalBuffers implements ArrivalPlacement.Redirects {
    private static final long IN_SLOT = -1;
    private static final long UNCLAIMED = -1;

    private final int ringSlots;
    private final int slotBytes;
    private final FrameForecast forecast;
    private BufferQueue buffers = BufferQueue.EMPTY;
    // By slot: where in the user's buffers its payload lands, or IN_SLOT. Empty before a buffer was posted.
    private long[] places = {};
    // By buffer: queued receives that are redirected to it; payloads that lie in it; first sequence of its frame.
    private final int[] queued = new int[BufferQueue.TAKEN_MAX];
    private final int[] filled = new int[BufferQueue.TAKEN_MAX];
    private final long[] claims = new long[BufferQueue.TAKEN_MAX];
    // By buffer: the sequence that is expected at its start.
    private final long[] firsts = new long[BufferQueue.TAKEN_MAX];
    // The next receive goes on with the frame that this buffer is for, if it takes this sequence.
    private int current = BufferQueue.NONE;
    private long currentNext;
    private boolean isRefused;
    // Of all buffers.
    private int allQueued;
    // Where a datagram last missed the place that its receive was redirected to.
    private long missed;

    /// @param forecast the ring's, which datagrams on the data lane teach
    ArrivalBuffers(final MemoryShape shape, final FrameForecast forecast) {
        ringSlots = shape.ringSlots();
        slotBytes = shape.slotBytes();
        this.forecast = forecast;
    }

    void start(final long firstSequence, final BufferQueue queue) {
        buffers = queue;
        missed = firstSequence - ringSlots;
    }

    /// Whether receives are redirected, because a buffer is or was posted.
    boolean isUsed() {
        if (places.length == 0 && buffers.buffers() > 0) {
            places = new long[ringSlots];
            Arrays.fill(places, IN_SLOT);
        }
        return places.length > 0;
    }

    /// Where a payload lies that is not in its slot.
    long of(final int slot) {
        return places.length == 0 ? IN_SLOT : places[slot];
    }

    @Override
    public boolean isInSlot(final int slot) {
        return of(slot) == IN_SLOT;
    }

    /// Bytes from a place to the end of its buffer.
    long roomAt(final long place) {
        return buffers.bytes(PostedOffset.number(place)) - PostedOffset.within(place);
    }

    @Override
    public boolean isBehind(final int slot, final int next) {
        return of(next) == of(slot) + slotBytes;
    }

    /// Redirects a receive that is posted next.
    ///
    /// @param ahead receives that are queued before it
    void redirect(final LanePort data, final int slot, final int ahead) {
        final long sequence = forecast.next() + ahead;
        if (current == BufferQueue.NONE || sequence != currentNext) {
            begin(sequence, ahead);
        }
        final long offset = current == BufferQueue.NONE ? 0 : (sequence - firsts[current]) * slotBytes;
        final long room = current == BufferQueue.NONE ? 0 : Math.min(slotBytes, buffers.bytes(current) - offset);
        if (room <= 0) {
            data.redirect(slot, BufferQueue.NONE, 0, 0);
            return;
        }
        if (!data.redirect(slot, current, offset, (int) room)) {
            // The lane does not reach the user's memory: frames are copied there.
            isRefused = true;
            goOn(BufferQueue.NONE);
            return;
        }
        places[slot] = PostedOffset.of(current) + offset;
        queued[current]++;
        allQueued++;
        currentNext++;
        if (currentNext >= firsts[current] + forecast.slots()) {
            goOn(BufferQueue.NONE);
        }
    }

    private void begin(final long sequence, final int ahead) {
        final boolean expected = !isRefused
                && forecast.isSteady()
                && sequence >= forecast.end()
                && forecast.frameOf(sequence) == sequence
                && buffers.buffers() > wanted(ahead);
        goOn(expected ? buffers.take(forecast.bytesMax()) : BufferQueue.NONE);
        if (current != BufferQueue.NONE) {
            firsts[current] = sequence;
            claims[current] = UNCLAIMED;
            currentNext = sequence;
        }
    }

    // The frames that come before, into slots of the ring, will want buffers as well; and where a datagram missed its
    // place of late, so will the datagrams of redirected receives.
    private long wanted(final int ahead) {
        final int inSlots = forecast.next() - missed < ringSlots ? ahead : ahead - allQueued;
        return (inSlots + forecast.slots() - 1) / forecast.slots();
    }

    private void goOn(final int buffer) {
        final int former = current;
        current = buffer;
        if (former != BufferQueue.NONE && former != buffer) {
            settle(former);
        }
    }

    /// The lane did not accept the receive that was redirected last.
    void undo(final int slot) {
        final long place = of(slot);
        if (place != IN_SLOT) {
            final int buffer = PostedOffset.number(place);
            places[slot] = IN_SLOT;
            queued[buffer]--;
            allQueued--;
            currentNext = firsts[buffer] + PostedOffset.within(place) / slotBytes;
            goOn(buffer);
        }
    }

    /// A datagram of a frame came on the data lane.
    ///
    /// @param index its position in the frame
    /// @param bytes of the frame; 0 for a bundle
    /// @return whether it lies in its slot, or where its frame has it in the user's buffer; else call [#leave]
    ///     when it was copied to its slot
    boolean arrive(final int slot, final long sequence, final long index, final long bytes) {
        final long first = sequence - index;
        forecast.learn(first, bytes);
        forecast.pass(sequence + 1);
        final long place = of(slot);
        if (place == IN_SLOT) {
            return true;
        }
        final int buffer = PostedOffset.number(place);
        queued[buffer]--;
        allQueued--;
        if (bytes == 0
                || PostedOffset.within(place) != index * slotBytes
                || (claims[buffer] != UNCLAIMED && claims[buffer] != first)) {
            missed = forecast.next();
            return false;
        }
        claims[buffer] = first;
        filled[buffer]++;
        return true;
    }

    /// The payload of a slot does not lie in a buffer any more: it was copied to its slot, or is not needed.
    void leave(final int slot) {
        final int buffer = PostedOffset.number(of(slot));
        places[slot] = IN_SLOT;
        settle(buffer);
    }

    /// A datagram that arrived is not needed.
    void reject(final int slot) {
        if (of(slot) != IN_SLOT) {
            queued[PostedOffset.number(of(slot))]--;
            allQueued--;
            leave(slot);
        }
    }

    /// A payload that lies where its frame has it was copied on, or is dropped with its frame.
    @Override
    public void forget(final int slot) {
        if (of(slot) != IN_SLOT) {
            filled[PostedOffset.number(of(slot))]--;
            leave(slot);
        }
    }

    /// Whether a frame that begins in a slot lies in the user's buffer, and no receive is redirected to that any
    /// more.
    @Override
    public boolean isWhole(final int firstSlot, final long count) {
        final long place = of(firstSlot);
        final int buffer = PostedOffset.number(place);
        return place != IN_SLOT && queued[buffer] == 0 && filled[buffer] == count;
    }

    /// A slot of a frame that lies in the user's buffer, which is the caller's from now on.
    void handOver(final int slot) {
        final int buffer = PostedOffset.number(of(slot));
        filled[buffer]--;
        places[slot] = IN_SLOT;
        // It takes nothing more, also where the frame is shorter than expected.
        current = current == buffer ? BufferQueue.NONE : current;
    }

    private void settle(final int buffer) {
        if (queued[buffer] == 0 && filled[buffer] == 0 && buffer != current) {
            buffers.giveBack(buffer);
        }
    }

    /// No receive is used any more.
    void close() {
        current = BufferQueue.NONE;
        for (int slot = 0; slot < places.length; slot++) {
            final int buffer = PostedOffset.number(places[slot]);
            if (places[slot] != IN_SLOT && queued[buffer] + filled[buffer] > 0) {
                queued[buffer] = 0;
                filled[buffer] = 0;
                buffers.giveBack(buffer);
            }
            places[slot] = IN_SLOT;
        }
    }
}
