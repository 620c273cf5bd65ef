package io.framecast.reliability.onesided;

import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.send.SenderOutput;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.CreditWord;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.RemotePlace;

/// RDMA writes of a source's window into one co-root's replica, which has the window's geometry: payloads, headers,
/// guards, and behind them the word that announces the replica's end. Consecutive full slots go in one write.
///
/// The device may still read slots of a write that it took and did not complete, so these slots stay until the
/// endpoint is closed.
///
/// Threading: the sender's thread.
final class ReplicaWrites {
    /// Operations in flight at a time.
    static final int OPERATIONS_MAX = 64;

    // Limits the wait of the connection's other operations to one of these.
    private static final int WRITE_BYTES_MAX = 256 << 10;
    // Headers, guards, and the word.
    private static final int ROOM_BEHIND = 3;

    private final EndpointPort endpoint;
    private final WindowMemory memory;
    private final ExposedWindow window;
    private final int slotsPerWrite;
    private final long[] tokens = new long[OPERATIONS_MAX];
    private EndpointOffer replica;
    private int epoch;
    private long posted;
    private long completed;
    // The endpoint took a part of a run and refused the rest: no token shows when that part is done.
    private boolean refused;

    /// @param window over the same memory, registered
    /// @param replica from the wire; used over this endpoint only
    ReplicaWrites(
            final EndpointPort endpoint,
            final WindowMemory memory,
            final ExposedWindow window,
            final EndpointOffer replica) {
        this.endpoint = endpoint;
        this.memory = memory;
        this.window = window;
        this.replica = replica;
        slotsPerWrite = Math.max(1, WRITE_BYTES_MAX / memory.slotBytes());
    }

    /// Writes the word, which announces the beginning of the writes, or their progress.
    ///
    /// @param to the replica, from the wire; may be another than before
    /// @param first behind all that was written before
    /// @return false without room for it: the co-root asks again
    boolean begin(final EndpointOffer to, final int wordEpoch, final long first) {
        if (endpoint.room() == 0 || refused) {
            return false;
        }
        replica = to;
        epoch = wordEpoch;
        if (!word(first)) {
            return false;
        }
        posted = first;
        return true;
    }

    /// Whether nothing more is written, though the endpoint may be up.
    boolean isOver() {
        return refused;
    }

    /// Writes the sequences behind those written before.
    ///
    /// @return how many, from the first on; [SenderOutput#NO_FEED] when the endpoint is not up
    int write(final long firstSequence, final int count) {
        if (refused || endpoint.state() != State.UP) {
            return SenderOutput.NO_FEED;
        }
        if (endpoint.room() <= ROOM_BEHIND) {
            return 0;
        }
        final int slot = memory.slot(firstSequence);
        final boolean gathered = isGathered(slot);
        final int alike = alike(slot, Math.min(count, memory.slots() - slot), gathered);
        final int run = gathered ? alike : payloads(slot, alike);
        refused = run == 0 || (!gathered && (!headers(slot, run) || !guards(slot, run))) || !word(firstSequence + run);
        posted = firstSequence + run;
        return refused ? SenderOutput.NO_FEED : run;
    }

    // The window has nothing of these: the replica keeps its older datagrams there, which are never taken for newer
    // ones.
    private boolean isGathered(final int slot) {
        return DataLayout.isGathered(memory.headers(), memory.headerOffset(slot));
    }

    private int alike(final int slot, final int count, final boolean gathered) {
        int alike = 1;
        while (alike < count && isGathered(slot + alike) == gathered) {
            alike++;
        }
        return alike;
    }

    // As many as there is room for, full slots together; 0 when the endpoint refused a write.
    private int payloads(final int slot, final int count) {
        int done = 0;
        while (done < count && endpoint.room() > ROOM_BEHIND) {
            final int whole = wholeSlots(slot + done, Math.min(count - done, slotsPerWrite));
            final int bytes = whole > 0 ? whole * memory.slotBytes() : memory.lengths()[slot + done];
            if (!write(window.regions().payload(), memory.payloadOffset(slot + done), bytes, replica.payload())) {
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
        return write(
                window.regions().headers(), memory.headerOffset(slot), count * memory.headerBytes(), replica.headers());
    }

    private boolean guards(final int slot, final int count) {
        return write(window.regions().words(), (long) slot * Long.BYTES, count * Long.BYTES, replica.guards());
    }

    private boolean write(final Region from, final long offset, final int bytes, final RemotePlace to) {
        return endpoint.write(from, offset, bytes, to.address() + offset, to.key(), EndpointPort.NO_TOKEN);
    }

    private boolean word(final long end) {
        return endpoint.write64(replica.word().address(), replica.word().key(), CreditWord.of(epoch, end), end);
    }

    /// Takes tokens of completed writes.
    ///
    /// @return whether there were any
    boolean poll() {
        final int count = endpoint.poll(tokens);
        if (count > 0) {
            completed = Math.max(completed, tokens[count - 1]);
        }
        return count > 0;
    }

    /// Sequences from here on must stay in their slots: the device reads them, or may until the endpoint is closed.
    long freeable() {
        return refused || completed < posted ? completed : Long.MAX_VALUE;
    }
}
