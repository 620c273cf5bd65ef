package io.framecast.engine.aeron;

import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.FrameDescriptor;
import io.aeron.logbuffer.Header;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.engine.net.LaneCounts;
import io.framecast.engine.net.RedirectedSlots;
import org.agrona.DirectBuffer;

/// Copies each datagram from the term buffer to the next of the posted slots: its first bytes to the header
/// slot, the rest to the payload slot. Only the lane's thread uses it.
final class Placement implements FragmentHandler {
    private final ReceiveRing ring;
    private final RedirectedSlots slots;
    private final int ownSession;
    private final LaneCounts counts;
    private Completions completions = new Completions(0);
    private int nextSlot;
    private int posted;

    /// @param ownSession session of this lane's own group publication, whose datagrams it ignores
    Placement(final ReceiveRing ring, final int ownSession, final LaneCounts counts) {
        if (!ring.payload().hostAddressable()) {
            throw new TransportException(
                    "aeron: receives into host memory only; choose the placement staged for this device");
        }
        this.ring = ring;
        this.ownSession = ownSession;
        this.counts = counts;
        slots = new RedirectedSlots(ring);
    }

    int post(final int firstSlot, final int count) {
        if (firstSlot < 0 || firstSlot >= ring.slots() || count < 0 || count > ring.slots()) {
            throw new IllegalArgumentException("post: expected slots within a ring of " + ring.slots() + ", got "
                    + count + " from " + firstSlot + " on");
        }
        nextSlot = firstSlot;
        posted = count;
        return count;
    }

    RedirectedSlots slots() {
        return slots;
    }

    void begin(final Completions batch) {
        completions = batch;
    }

    /// Datagrams that may be handed over now.
    int room() {
        return Math.min(posted, completions.capacity() - completions.count());
    }

    @Override
    public void onFragment(final DirectBuffer term, final int offset, final int bytes, final Header header) {
        if (header.sessionId() == ownSession) {
            return;
        }
        final int headerBytes = ring.headerBytes();
        final boolean whole = (header.flags() & FrameDescriptor.UNFRAGMENTED) == FrameDescriptor.UNFRAGMENTED;
        if (bytes < headerBytes || !whole) {
            counts.add(LaneCounter.MALFORMED, 1);
            return;
        }
        if (bytes - headerBytes > ring.payloadBytes()) {
            counts.add(LaneCounter.TRUNCATED, 1);
            return;
        }
        final int slot = nextSlot;
        TermViews.copyOut(term, offset, ring.headers(), (long) slot * ring.headerStride(), headerBytes);
        TermViews.copyOut(term, offset + headerBytes, slots, slot, bytes - headerBytes);
        nextSlot = slot + 1 == ring.slots() ? 0 : slot + 1;
        posted--;
        counts.add(LaneCounter.RECEIVED_DATAGRAMS, 1);
        counts.add(LaneCounter.RECEIVED_BYTES, bytes);
        completions.add(slot, bytes);
    }
}
