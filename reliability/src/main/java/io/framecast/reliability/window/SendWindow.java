package io.framecast.reliability.window;

import io.framecast.reliability.lane.DataSealer;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeaderRun;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// The source's ring of datagrams that can still be repaired: headers, payload lengths and metadata of the
/// sequences `[freed, committed)`. Payload memory lies beside it with the same slot numbers; this class never
/// touches it.
///
/// Sequence s uses slot s mod slots. A slot is reused only after [#free], that is after every reliable member
/// has acknowledged it.
///
/// Small frames share datagrams where [#bundle] was called: the producer adds them to the open bundle by
/// [SmallFrames], the consumer takes that as it stands by [#takeBundle].
///
/// Threading: one producer (the publisher's thread: everything that claims and commits), one consumer (the
/// sender: the cursors, [#takeBundle] and [#free]). The two meet in `committed` (release by the producer), `freed`
/// (release by the consumer) and the open bundle. A bundle that the consumer took is committed by its taking: the
/// consumer knows at once, the producer when it next looks, and so each has a count of its own.
public final class SendWindow {
    private static final VarHandle COMMITTED;
    private static final VarHandle FREED;

    static {
        try {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            COMMITTED = lookup.findVarHandle(SendWindow.class, "committed", long.class);
            FREED = lookup.findVarHandle(SendWindow.class, "freed", long.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final WindowMemory memory;
    private final MemorySegment headers;
    private final byte[] @Nullable [] metadata;
    private final long[] frameIds;
    private final long session;
    private final SendFormats formats = new SendFormats();
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final DataHeader header = new DataHeader();

    // By the producer: everything below that the consumer did not take itself is complete.
    private volatile long committed;
    private volatile long freed;
    // Consumer's own: behind the last bundle it took.
    private long taken;
    private @Nullable OpenBundle bundle;
    private @Nullable BundleSealer takeSealer;
    private @Nullable SlotGuards guards;
    private @Nullable DataSealer sealer;
    private MemorySegment sent;
    private @Nullable IntConsumer inWindow;
    // Consumer's own: nothing from here on was sealed.
    private long sealed;
    private volatile boolean formatBlocked;
    // Producer's own.
    private long cursor;
    private long frameEnd;
    private boolean gathered;
    private long nextFrameId;
    private long firstFrameId;

    /// Makes an empty window.
    ///
    /// @param session the session's nonce
    public SendWindow(final WindowMemory memory, final long session) {
        this.memory = memory;
        this.session = session;
        headers = memory.headers();
        sent = memory.payload();
        metadata = new byte[memory.slots()][];
        frameIds = new long[memory.slots()];
    }

    public WindowMemory memory() {
        return memory;
    }

    /// Before the first frame: gives it another number than 0.
    public SendWindow firstFrameId(final long frameId) {
        nextFrameId = frameId;
        firstFrameId = frameId;
        return this;
    }

    /// Before the first frame: lets small frames share datagrams.
    ///
    /// @return the producer's side of it
    public SmallFrames bundle() {
        final OpenBundle made = new OpenBundle();
        bundle = made;
        takeSealer = new BundleSealer(memory, session);
        return new SmallFrames(this, made, new BundleSealer(memory, session), memory);
    }

    /// Before the first frame: lets [#seal] write slot guards for members that read the slots by RDMA.
    public SendWindow guardedBy(final SlotGuards words) {
        guards = words;
        return this;
    }

    /// Before the first frame: lets [#seal] seal datagrams where they lie.
    public SendWindow sealedBy(final DataSealer made) {
        return sealedBy(made, memory.payload());
    }

    /// Before the first frame: lets [#seal] seal datagrams.
    ///
    /// @param payloads from which they are sent, as long as the window's: the window's own, or others, into which
    ///     payloads are copied before they are sealed
    public SendWindow sealedBy(final DataSealer made, final MemorySegment payloads) {
        sealer = made;
        sent = payloads;
        return this;
    }

    // Whether all of a bundle's payload must stay as it is once the consumer has taken it: sealing encrypts it, or
    // a guard has its checksum.
    boolean fixesPayload() {
        return guards != null || (sealer != null && sealer.sealsPayload());
    }

    /// Before the first frame: calls a handler, on the producer's thread, with each slot whose payload lies in the
    /// window from its commit on, or from the opening of its bundle; not with those of frames with
    /// [DataLayout#FLAG_GATHERED].
    public SendWindow onPayload(final IntConsumer slots) {
        inWindow = slots;
        return this;
    }

    public int slots() {
        return memory.slots();
    }

    public int slot(final long sequence) {
        return memory.slot(sequence);
    }

    /// Producer: datagrams that can be committed before the window is full. One slot is never filled, so that
    /// the newest header stays readable for [#boundaryFrom] while the producer writes.
    public int freeSlots() {
        return slots() - 1 - (int) (cursor - (long) FREED.getAcquire(this));
    }

    /// Producer: the sequence of the next datagram to commit; that of the open bundle while there is one.
    public long cursor() {
        return cursor;
    }

    /// Producer, between frames, no bundle open: the frames from here on have this format.
    ///
    /// @param bytes 1 … 1024 bytes, not changed afterwards; null: frames without a format
    /// @return false when there is no number for it until frames are freed
    public boolean useFormat(final byte @Nullable [] bytes) {
        return formats.use(bytes, cursor, (long) FREED.getAcquire(this));
    }

    // Producer: whether the next frame's format waits for a number, or for readers of the window.
    void onFormatBlocked(final boolean blocked) {
        formatBlocked = blocked;
    }

    /// Any thread: whether the next frame's format waits until frames are freed.
    public boolean isFormatBlocked() {
        return formatBlocked;
    }

    /// The formats of the frames.
    public SendFormats formats() {
        return formats;
    }

    /// Producer: begins a frame, whose first datagram takes [#cursor]; no bundle is open. Its datagrams are then
    /// committed in parts.
    ///
    /// @param flags see [DataLayout]
    /// @param frameMetadata sent apart, on the control lane; empty for none
    public void beginFrame(final long frameBytes, final int flags, final long timestampNs, final byte[] frameMetadata) {
        header.session(DataLayout.TYPE_DATA, session)
                .frame(nextFrameId, frameBytes, timestampNs)
                .format(formats.number())
                .attributes(flags | formats.flag(cursor), frameMetadata.length);
        metadata[slot(cursor)] = frameMetadata.length == 0 ? null : frameMetadata;
        gathered = (flags & DataLayout.FLAG_GATHERED) != 0;
        frameEnd = cursor + StreamInfo.slots(frameBytes, memory.slotBytes());
    }

    /// Producer: commits the next `count` datagrams of the frame begun last, whose payloads lie in their slots.
    ///
    /// @param frameBytes as given to [#beginFrame]
    public void commit(final long frameBytes, final int count) {
        final long first = cursor;
        final long frameFirst = frameEnd - StreamInfo.slots(frameBytes, memory.slotBytes());
        for (int i = 0; i < count; i++) {
            final long index = first + i - frameFirst;
            final int slot = slot(first + i);
            if (index > 0) {
                metadata[slot] = null;
            }
            if (!gathered) {
                holdPayload(slot);
            }
            frameIds[slot] = nextFrameId;
            memory.lengths()[slot] = (int) Math.min(memory.slotBytes(), frameBytes - index * memory.slotBytes());
        }
        final int head = Math.min(count, slots() - slot(first));
        writeHeaders(first, first - frameFirst, head);
        writeHeaders(first + head, first + head - frameFirst, count - head);
        if (first + count == frameEnd) {
            nextFrameId++;
        }
        cursor = first + count;
        COMMITTED.setRelease(this, cursor);
    }

    private void holdPayload(final int slot) {
        final IntConsumer handler = inWindow;
        if (handler != null) {
            handler.accept(slot);
        }
    }

    // Headers of consecutive slots, of one frame.
    private void writeHeaders(final long sequence, final long index, final int count) {
        if (count > 0) {
            final long offset = memory.headerOffset(slot(sequence));
            DataLayout.write(headers, offset, header, sequence, index);
            checksum.seal(headers, offset, session);
            HeaderRun.write(headers, offset, memory.headerBytes(), count - 1);
        }
    }

    // Producer: the slot at the cursor becomes a bundle's.
    void beginBundle() {
        metadata[slot(cursor)] = null;
        holdPayload(slot(cursor));
    }

    // Producer: one more frame is in the open bundle.
    void countFrame() {
        nextFrameId++;
    }

    /// Producer: number of the frame that is committed next.
    public long nextFrameId() {
        return nextFrameId;
    }

    // Producer: has closed the open bundle, which is sealed.
    void commitBundle(final long frameId, final int bytes) {
        frameIds[slot(cursor)] = frameId;
        memory.lengths()[slot(cursor)] = bytes;
        cursor++;
        COMMITTED.setRelease(this, cursor);
    }

    // Producer: the consumer took the open bundle.
    void skipTaken() {
        cursor++;
    }

    /// Consumer: closes the open bundle and commits it, if it has frames. To be called when there is nothing else
    /// to send, because a bundle that waits longer is fuller.
    ///
    /// @return whether one more datagram is committed
    public boolean takeBundle() {
        final OpenBundle current = bundle;
        final BundleSealer sealer = takeSealer;
        if (current == null || sealer == null) {
            return false;
        }
        final long sequence = committed();
        final long word = current.word();
        if (!OpenBundle.isOpen(word, sequence) || OpenBundle.count(word) == 0) {
            return false;
        }
        // The producer writes a frame into it, which takes as long as a copy.
        final boolean isWritten = fixesPayload() && OpenBundle.claimedBytes(word) > OpenBundle.usedBytes(word);
        if (isWritten || !current.close(word)) {
            return false;
        }
        final int slot = slot(sequence);
        memory.lengths()[slot] = sealer.seal(current, word, sequence, slot);
        frameIds[slot] = current.firstFrameId(sequence);
        taken = sequence + 1;
        current.sealed(sequence);
        return true;
    }

    /// Consumer: whether there is a bundle to take.
    public boolean hasBundle() {
        final OpenBundle current = bundle;
        return current != null && OpenBundle.count(current.word()) > 0;
    }

    /// Consumer: everything below may be sent.
    public long committed() {
        return Math.max(taken, committed);
    }

    /// Consumer: whether there is no room for the next commit.
    public boolean isFull() {
        return committed() - freed >= slots() - 1;
    }

    /// Everything below may be overwritten.
    public long freed() {
        return freed;
    }

    /// Consumer: gives the slots below `sequence` back to the producer. It wipes the guards of sealed slots first,
    /// so that no reader of a slot takes the producer's next payload for the previous one.
    public void free(final long sequence) {
        if (sequence > freed) {
            final SlotGuards words = guards;
            for (long s = freed; words != null && s < Math.min(sequence, sealed); s++) {
                words.wipe(slot(s));
            }
            FREED.setRelease(this, sequence);
        }
    }

    /// Consumer: the first sequence that was not sealed yet.
    public long sealed() {
        return sealed;
    }

    /// Consumer: seals committed datagrams, each once, before they are first sent.
    ///
    /// @param guarded whether members that are not waited for read their slots: writes their guards too,
    ///     and reads all of their payload
    public void seal(final long firstSequence, final int count, final boolean guarded) {
        final SlotGuards words = guarded ? guards : null;
        if (words == null && sealer == null) {
            return;
        }
        for (long s = Math.max(firstSequence, sealed); s < firstSequence + count; s++) {
            final int slot = slot(s);
            if (sealer != null) {
                seal(sealer, slot);
            }
            // Of a gathered payload the window has nothing.
            if (words != null && !DataLayout.isGathered(headers, memory.headerOffset(slot))) {
                words.seal(slot, s);
            }
        }
        sealed = Math.max(sealed, firstSequence + count);
    }

    private void seal(final DataSealer with, final int slot) {
        final long offset = memory.payloadOffset(slot);
        final int bytes = memory.lengths()[slot];
        if (sent.address() != memory.payload().address()) {
            MemorySegment.copy(memory.payload(), offset, sent, offset, bytes);
        }
        with.seal(headers, memory.headerOffset(slot), sent, offset, bytes);
    }

    /// Consumer: seals the datagram of the slot behind the window, each time before it is sent.
    public void sealProbe() {
        if (sealer != null) {
            seal(sealer, slots());
        }
    }

    /// Consumer: the first sequence at or after `sequence` that begins a frame; it may not be committed yet. The
    /// header of `sequence` gives it, or that of the last datagram committed.
    public long boundaryFrom(final long sequence) {
        final long end = committed();
        if (end == 0) {
            return 0;
        }
        final long witness = Math.min(sequence, end - 1);
        final long offset = memory.headerOffset(slot(witness));
        final long index = DataLayout.FRAME_INDEX.unsigned(headers, offset);
        return index == 0 && witness == sequence
                ? sequence
                : witness
                        - index
                        + StreamInfo.slots(DataLayout.FRAME_BYTES.unsigned(headers, offset), memory.slotBytes());
    }

    /// Consumer: the number of the frame that begins at a boundary from [#boundaryFrom].
    public long frameIdFrom(final long boundary) {
        final long end = committed();
        if (end == 0) {
            return firstFrameId;
        }
        if (boundary < end) {
            return frameIds[slot(boundary)];
        }
        final long offset = memory.headerOffset(slot(end - 1));
        final boolean bundled = DataLayout.isBundle(headers, offset);
        return frameIds[slot(end - 1)] + (bundled ? DataLayout.bundleFrames(headers, offset) : 1);
    }

    /// Consumer: metadata of the frame that begins at a committed sequence; null for none.
    public byte @Nullable [] metadata(final long firstSequence) {
        return metadata[slot(firstSequence)];
    }
}
