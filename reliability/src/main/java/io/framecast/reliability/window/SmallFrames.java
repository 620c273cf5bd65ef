package io.framecast.reliability.window;

import io.framecast.reliability.wire.BundleLayout;
import java.lang.foreign.MemorySegment;

/// The producer's side of small frames that share datagrams, over its [SendWindow]: claim, commit, abort, close.
/// Each frame is written straight into the slot of the open bundle. When the consumer took that bundle between
/// claim and commit, the frame is moved to the next slot: the only copy there is.
///
/// One thread, the producer's.
public final class SmallFrames {
    /// There is no room: ask again later.
    public static final long NO_ROOM = -1;

    private final SendWindow window;
    private final OpenBundle bundle;
    private final BundleSealer sealer;
    private final WindowMemory memory;
    private final int bytesMax;
    // Whether this thread opened a bundle that it has not closed; the consumer may have taken it meanwhile.
    private boolean open;
    private long lastTaken = Long.MIN_VALUE / 2;
    private long headerTimestampNs;
    private int claimOffset;
    // Whether the claim lies in the slot behind the bundle's, until its commit.
    private boolean beside;
    private int claimBytes;
    private long place;

    SmallFrames(
            final SendWindow window, final OpenBundle bundle, final BundleSealer sealer, final WindowMemory memory) {
        this.window = window;
        this.bundle = bundle;
        this.sealer = sealer;
        this.memory = memory;
        bytesMax = BundleLayout.frameBytesMax(memory.slotBytes());
    }

    /// Whether a frame of this length, without metadata, shares a datagram with other frames.
    public boolean takes(final long bytes) {
        return bytes <= bytesMax;
    }

    /// Room for a frame that [#takes] accepts. [#commit] or [#abort] follows.
    ///
    /// @return offset of its bytes in the window's payload memory, or [#NO_ROOM]
    public long claim(final int bytes) {
        if (open && !claimInOpen(bytes)) {
            close();
        }
        if (!open) {
            beside = false;
            final long sequence = window.cursor();
            if (window.freeSlots() < 1 || !bundle.isFree(sequence, lastTaken)) {
                return NO_ROOM;
            }
            claimOffset = 0;
            bundle.open(sequence, bytes);
            open = true;
        }
        claimBytes = bytes;
        return claimed();
    }

    // Where the claim's bytes are.
    private long claimed() {
        return beside
                ? memory.payloadOffset(window.slot(window.cursor() + 1))
                : memory.payloadOffset(window.slot(window.cursor())) + claimOffset;
    }

    private boolean claimInOpen(final int bytes) {
        final long word = bundle.word();
        final int offset = BundleLayout.align(OpenBundle.usedBytes(word));
        final int frames = OpenBundle.count(word) + 1;
        // If the consumer takes the bundle before the commit, the frame moves to the next slot, which must be free.
        final boolean fits = word != OpenBundle.NONE
                && frames <= BundleLayout.FRAMES_MAX
                && OpenBundle.roundUp(offset + bytes) + BundleLayout.tableBytes(frames) <= memory.slotBytes()
                && window.freeSlots() >= 2;
        // A bundle that was taken is encrypted, or has a guard, with the bytes of a claim.
        beside = window.fixesPayload();
        if (!fits || (!beside && !bundle.claim(word, window.cursor(), offset + bytes))) {
            return false;
        }
        claimOffset = offset;
        return true;
    }

    // Copies a claim beside the open bundle into it.
    private boolean join(final long timestampNs) {
        final long word = bundle.word();
        if (word == OpenBundle.NONE
                || !BundleLayout.isNear(timestampNs, headerTimestampNs)
                || !bundle.claim(word, window.cursor(), claimOffset + claimBytes)) {
            return false;
        }
        final long from = claimed();
        beside = false;
        MemorySegment.copy(memory.payload(), from, memory.payload(), claimed(), claimBytes);
        return true;
    }

    /// Where the frame that was committed last lies in the window's payload memory.
    public long place() {
        return place;
    }

    /// Its bytes.
    public int length() {
        return claimBytes;
    }

    /// Gives the claim back.
    public void abort() {
        if (beside) {
            return;
        }
        final long word = bundle.word();
        // On failure the bundle was taken, which the next claim finds out.
        if (OpenBundle.count(word) > 0) {
            bundle.abort(word, window.cursor());
        } else if (word != OpenBundle.NONE) {
            close();
        }
    }

    /// The bytes claimed last are a frame.
    public void commit(final int flags, final long timestampNs) {
        if ((beside && !join(timestampNs)) || !append(flags, timestampNs)) {
            move();
            bundle.open(window.cursor(), claimBytes);
            open = true;
            if (!append(flags, timestampNs)) {
                throw new IllegalStateException("a bundle without frames was taken");
            }
        }
        place = memory.payloadOffset(window.slot(window.cursor())) + claimOffset;
        window.countFrame();
    }

    /// The bytes claimed last are a frame with metadata: it takes a datagram of its own.
    public void commit(final int flags, final long timestampNs, final byte[] metadata) {
        if (metadata.length == 0) {
            commit(flags, timestampNs);
            return;
        }
        move();
        place = memory.payloadOffset(window.slot(window.cursor()));
        window.beginFrame(claimBytes, flags, timestampNs, metadata);
        window.commit(claimBytes, 1);
    }

    private boolean append(final int flags, final long timestampNs) {
        final long sequence = window.cursor();
        final long word = bundle.word();
        if (word == OpenBundle.NONE) {
            return false;
        }
        if (OpenBundle.count(word) == 0) {
            headerTimestampNs = timestampNs;
            window.beginBundle();
            bundle.first(
                    sequence,
                    window.nextFrameId(),
                    timestampNs,
                    window.formats().number(),
                    window.formats().flag(sequence));
        } else if (!BundleLayout.isNear(timestampNs, headerTimestampNs)) {
            return false;
        }
        return bundle.append(word, sequence, BundleLayout.entry(claimBytes, flags, timestampNs - headerTimestampNs));
    }

    // Brings the claim's bytes to the beginning of a slot that has no bundle.
    private void move() {
        final long from = claimed();
        close();
        beside = false;
        final long to = memory.payloadOffset(window.slot(window.cursor()));
        if (to != from) {
            MemorySegment.copy(memory.payload(), from, memory.payload(), to, claimBytes);
        }
        claimOffset = 0;
    }

    /// Closes the open bundle, if there is one: the next commit begins a datagram of its own.
    public void close() {
        if (!open) {
            return;
        }
        open = false;
        final long word = bundle.word();
        final long sequence = window.cursor();
        if (word != OpenBundle.NONE && OpenBundle.count(word) == 0) {
            // The consumer takes no bundle without frames, so its slot is free again.
            bundle.close(word);
            return;
        }
        if (word == OpenBundle.NONE || !bundle.close(word)) {
            lastTaken = sequence;
            window.skipTaken();
            return;
        }
        final int slot = window.slot(sequence);
        window.commitBundle(bundle.firstFrameId(sequence), sealer.seal(bundle, word, sequence, slot));
    }
}
