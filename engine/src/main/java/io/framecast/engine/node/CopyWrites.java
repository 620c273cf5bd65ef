package io.framecast.engine.node;

import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.Range;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.GrantWord;
import io.framecast.reliability.wire.LinkOffer;

/// Runs of a source's window that are written into one co-root's copy, which has the window's geometry:
/// payloads, headers behind them, and behind both the word that tells how far the copy reaches. Whole slots
/// go together, so that a run of long payloads is one write.
///
/// By the sender's thread.
final class CopyWrites {
    /// Operations under way at a time.
    static final int OPERATIONS_MAX = 64;

    // Nothing else of that connection waits longer than for one of these.
    private static final int WRITE_BYTES_MAX = 256 << 10;
    // Headers and word.
    private static final int ROOM_BEHIND = 2;

    private final OneSidedEndpoint endpoint;
    private final SendMemory memory;
    private final Range header;
    private final Range body;
    private final int slotsPerWrite;
    private final long[] tokens = new long[OPERATIONS_MAX];
    private LinkOffer copy;
    private int epoch;
    private long posted;
    private long completed;

    /// @param share of the window, registered
    /// @param copy from the wire; used over this endpoint only
    CopyWrites(
            final OneSidedEndpoint endpoint, final SendMemory memory, final WindowShare share, final LinkOffer copy) {
        this.endpoint = endpoint;
        this.memory = memory;
        this.copy = copy;
        header = new Range(share.headers());
        body = new Range(share.payload());
        slotsPerWrite = Math.max(1, WRITE_BYTES_MAX / memory.slotBytes());
    }

    /// Has the word tell from where on the copy is written, or how far it reaches. Where there is no room for that,
    /// one who waits for it asks again.
    ///
    /// @param to from the wire, and perhaps another than before
    /// @param first behind all that was written before
    void begin(final LinkOffer to, final int wordEpoch, final long first) {
        copy = to;
        epoch = wordEpoch;
        posted = first;
        word(first);
    }

    /// Writes what follows what was written before.
    ///
    /// @return how many, from the first on; [SenderOutput#NO_FEED] when the connection is gone
    int write(final long firstSequence, final int count) {
        if (endpoint.state() != State.UP) {
            return SenderOutput.NO_FEED;
        }
        final int slot = (int) firstSequence & memory.slots() - 1;
        final int run = payloads(slot, Math.min(count, memory.slots() - slot));
        // What was written of it is written again when there is room for the rest.
        if (run == 0 || !headers(slot, run) || !word(firstSequence + run)) {
            return 0;
        }
        posted = firstSequence + run;
        return run;
    }

    // As many as there is room for, whole slots together.
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
                return done;
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

    /// Whether something is under way.
    boolean isBusy() {
        return endpoint.state() == State.UP && completed < posted;
    }

    /// Slots from here on must not change: the device reads them.
    long freeable() {
        return isBusy() ? completed : Long.MAX_VALUE;
    }
}
