package io.framecast.engine.node;

import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.Range;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.GrantWord;
import io.framecast.reliability.wire.LinkOffer;

/// Runs of a source's window that are written into one co-root's copy, which has the window's geometry:
/// payloads, headers, what vouches for them, and behind it all the word that tells how far the copy reaches.
/// Whole slots go together, so that a run of long payloads is one write.
///
/// What a device took and did not finish it may still read: slots are held for it until the endpoint is cut.
///
/// By the sender's thread.
final class CopyWrites {
    /// Operations under way at a time.
    static final int OPERATIONS_MAX = 64;

    // Nothing else of that connection waits longer than for one of these.
    private static final int WRITE_BYTES_MAX = 256 << 10;
    // Headers, what vouches, and the word.
    private static final int ROOM_BEHIND = 3;

    private final OneSidedEndpoint endpoint;
    private final SendMemory memory;
    private final Range header;
    private final Range body;
    private final Range guard;
    private final int slotsPerWrite;
    private final long[] tokens = new long[OPERATIONS_MAX];
    private LinkOffer copy;
    private int epoch;
    private long posted;
    private long completed;
    // The device took a part of a run, and no more: nobody can tell when it is done with that.
    private boolean refused;

    /// @param share of the window, registered
    /// @param copy from the wire; used over this endpoint only
    CopyWrites(
            final OneSidedEndpoint endpoint, final SendMemory memory, final WindowShare share, final LinkOffer copy) {
        this.endpoint = endpoint;
        this.memory = memory;
        this.copy = copy;
        header = new Range(share.headers());
        body = new Range(share.payload());
        guard = new Range(share.words());
        slotsPerWrite = Math.max(1, WRITE_BYTES_MAX / memory.slotBytes());
    }

    /// Has the word tell from where on the copy is written, or how far it reaches.
    ///
    /// @param to from the wire, and perhaps another than before
    /// @param first behind all that was written before
    /// @return false when there is no room for that; who waits for it asks again
    boolean begin(final LinkOffer to, final int wordEpoch, final long first) {
        if (endpoint.room() == 0 || refused) {
            return false;
        }
        copy = to;
        epoch = wordEpoch;
        if (!word(first)) {
            return false;
        }
        posted = first;
        return true;
    }

    /// Whether nothing more is written, though the connection may stand.
    boolean isOver() {
        return refused;
    }

    /// Writes what follows what was written before.
    ///
    /// @return how many, from the first on; [SenderOutput#NO_FEED] when the connection is gone
    int write(final long firstSequence, final int count) {
        if (refused || endpoint.state() != State.UP) {
            return SenderOutput.NO_FEED;
        }
        if (endpoint.room() <= ROOM_BEHIND) {
            return 0;
        }
        final int slot = (int) firstSequence & memory.slots() - 1;
        final int run = payloads(slot, Math.min(count, memory.slots() - slot));
        refused = run == 0 || !headers(slot, run) || !guards(slot, run) || !word(firstSequence + run);
        posted = firstSequence + run;
        return refused ? SenderOutput.NO_FEED : run;
    }

    // As many as there is room for, whole slots together; 0 when the device refused one.
    private int payloads(final int slot, final int count) {
        int done = 0;
        while (done < count && endpoint.room() > ROOM_BEHIND) {
            final int whole = wholeSlots(slot + done, Math.min(count - done, slotsPerWrite));
            final int bytes = whole > 0 ? whole * memory.slotBytes() : memory.lengths()[slot + done];
            final long at = (long) (slot + done) * memory.slotBytes();
            if (!endpoint.write(
                    body.at(at, bytes),
                    copy.payload().address() + at,
                    copy.payload().key(),
                    OneSidedEndpoint.NO_TOKEN)) {
                return 0;
            }
            done += Math.max(1, whole);
        }
        return done;
    }

    private int wholeSlots(final int slot, final int most) {
        int whole = 0;
        while (whole < most && memory.lengths()[slot + whole] == memory.slotBytes()) {
            whole++;
        }
        return whole;
    }

    private boolean headers(final int slot, final int count) {
        final long at = (long) slot * DataLayout.LENGTH;
        return endpoint.write(
                header.at(at, count * DataLayout.LENGTH),
                copy.headers().address() + at,
                copy.headers().key(),
                OneSidedEndpoint.NO_TOKEN);
    }

    private boolean guards(final int slot, final int count) {
        final long at = (long) slot * Long.BYTES;
        return endpoint.write(
                guard.at(at, count * Long.BYTES),
                copy.guards().address() + at,
                copy.guards().key(),
                OneSidedEndpoint.NO_TOKEN);
    }

    private boolean word(final long end) {
        return endpoint.write64(copy.word().address(), copy.word().key(), GrantWord.of(epoch, end), end);
    }

    /// Takes note of what is done.
    ///
    /// @return whether anything was
    boolean poll() {
        final int count = endpoint.poll(tokens);
        if (count > 0) {
            completed = Math.max(completed, tokens[count - 1]);
        }
        return count > 0;
    }

    /// Slots from here on must not change: the device reads them, or may until it is cut off.
    long freeable() {
        return refused || completed < posted ? completed : Long.MAX_VALUE;
    }
}
