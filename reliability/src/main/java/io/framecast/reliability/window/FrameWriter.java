package io.framecast.reliability.window;

import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// The producer's side of a [SendWindow]: one frame at a time, in the format that was set last. A frame is claimed and
/// committed, or begun and committed in parts as the window frees. Small frames share datagrams ([SmallFrames]).
///
/// A machine of four states:
///
/// | state | what is under way | leads to |
/// |---|---|---|
/// | idle | no frame | [#claim]: bundled or whole; [#begin]: in parts |
/// | bundled | a claim in the open bundle | [#commit], [#abort]: idle |
/// | whole | a claim of slots of its own | [#commit], [#abort]: idle |
/// | in parts | a frame with slots to come | last [#commitPart], or [#abort] before the first: idle |
///
/// One thread, the producer's; [#refusedSlots] any thread. No method blocks.
public final class FrameWriter {
    /// There is no room, or no number for the next frame's format: ask again later.
    public static final long NO_ROOM = SmallFrames.NO_ROOM;

    private enum State {
        IDLE,
        BUNDLED,
        WHOLE,
        IN_PARTS
    }

    private final SendWindow window;
    private final SmallFrames small;
    private final FrameReaders readers;
    private final int slotBytes;
    private State state = State.IDLE;
    // Of the frames to come; null for none. It is due until the window has a number for it.
    private byte @Nullable [] format;
    private boolean isFormatDue;
    // Of the frame under way.
    private long length;
    private long slotsLeft;
    private long place;
    private volatile int refusedSlots;

    /// Before the first frame. The window is the writer's from then on.
    public FrameWriter(final SendWindow window, final FrameReaders readers) {
        this.window = window;
        this.readers = readers;
        small = window.bundle();
        slotBytes = window.memory().slotBytes();
    }

    /// Whether no frame is under way.
    public boolean isIdle() {
        return state == State.IDLE;
    }

    /// Whether a frame of this length, without metadata, shares a datagram with others.
    public boolean bundles(final long frameBytes) {
        return small.takes(frameBytes);
    }

    /// Idle: the frames from the next one on have this format.
    ///
    /// @param bytes 1 … 1024 bytes, not changed afterwards; null: frames without a format
    public void format(final byte @Nullable [] bytes) {
        require(State.IDLE);
        format = bytes;
        isFormatDue = true;
    }

    /// Idle: claims room for a frame in the window, in a bundle if [#bundles] says so, else in slots of its own
    /// that lie
    /// one behind the other (the last may be followed by the first). [#commit] or [#abort] follows.
    ///
    /// @param frameBytes at most the window less one slot
    /// @return the frame's place in the window's payload memory, or [#NO_ROOM]
    public long claim(final long frameBytes) {
        require(State.IDLE);
        if (!small.takes(frameBytes)) {
            return reserve(StreamInfo.slots(frameBytes, slotBytes)) ? claimSlots(frameBytes) : NO_ROOM;
        }
        if (isFormatDue && !useFormat()) {
            return NO_ROOM;
        }
        long found = claimInBundle((int) frameBytes);
        if (found == NO_ROOM && readers.reclaim()) {
            found = claimInBundle((int) frameBytes);
        }
        if (found != NO_ROOM) {
            length = frameBytes;
            state = State.BUNDLED;
        }
        return found;
    }

    private long claimInBundle(final int frameBytes) {
        return readers.hasRoom() ? small.claim(frameBytes) : NO_ROOM;
    }

    private long claimSlots(final long frameBytes) {
        length = frameBytes;
        state = State.WHOLE;
        return window.memory().payloadOffset(window.slot(window.cursor()));
    }

    /// Idle: whether a frame of so many slots of its own can begin now. The small frames before it are complete
    /// then.
    public boolean reserve(final long slots) {
        require(State.IDLE);
        if (isFormatDue && !useFormat()) {
            return false;
        }
        small.close();
        final boolean room = hasRoom(slots) || (readers.reclaim() && hasRoom(slots));
        refusedSlots = room ? 0 : (int) slots;
        return room;
    }

    private boolean hasRoom(final long slots) {
        return window.freeSlots() >= slots && readers.hasRoom();
    }

    // Another format begins with a datagram of its own.
    private boolean useFormat() {
        small.close();
        boolean used = tryFormat();
        if (!used && readers.reclaim()) {
            used = tryFormat();
        }
        isFormatDue = !used;
        return used;
    }

    private boolean tryFormat() {
        final boolean used = readers.hasRoomForFormat() && window.useFormat(format);
        window.onFormatBlocked(!used);
        return used;
    }

    /// Any thread: slots that the claim refused last wants; 0 where none was refused.
    public int refusedSlots() {
        return refusedSlots;
    }

    /// Slots to wait for: those that are wanted, or all where only an empty window has a number for the next
    /// format.
    public int awaitedSlots(final int wanted) {
        return isFormatDue && !useFormat() ? window.slots() - 1 : wanted;
    }

    /// Bundled or whole: the claim's bytes are a frame.
    ///
    /// @param flags see [io.framecast.reliability.wire.DataLayout]
    /// @param metadata sent apart, on the control lane; empty for none
    public void commit(final int flags, final long timestampNs, final byte[] metadata) {
        if (state == State.WHOLE) {
            state = State.IDLE;
            final int slots = (int) begin(length, flags, timestampNs, metadata);
            commitPart(slots);
            return;
        }
        require(State.BUNDLED);
        showBegin(flags, timestampNs, metadata);
        small.commit(flags, timestampNs, metadata);
        readers.publish(small.place(), small.length());
        state = State.IDLE;
    }

    /// Gives a claim back, or a frame in parts of which no part is committed. Idle: does nothing.
    public void abort() {
        if (state == State.BUNDLED) {
            small.abort();
        } else if (state == State.IN_PARTS && slotsLeft < StreamInfo.slots(length, slotBytes)) {
            throw new IllegalStateException("a part of the frame is committed");
        }
        state = State.IDLE;
    }

    /// Idle, behind a [#reserve] that returned true: begins a frame in slots of its own. [#commitPart] follows.
    ///
    /// @param flags see [io.framecast.reliability.wire.DataLayout]
    /// @param metadata sent apart, on the control lane; empty for none
    /// @return the frame's slots
    public long begin(final long frameBytes, final int flags, final long timestampNs, final byte[] metadata) {
        require(State.IDLE);
        showBegin(flags, timestampNs, metadata);
        window.beginFrame(frameBytes, flags, timestampNs, metadata);
        length = frameBytes;
        slotsLeft = StreamInfo.slots(frameBytes, slotBytes);
        place = window.memory().payloadOffset(window.slot(window.cursor()));
        state = State.IN_PARTS;
        return slotsLeft;
    }

    private void showBegin(final int flags, final long timestampNs, final byte[] metadata) {
        readers.begin(
                window.cursor(),
                window.nextFrameId(),
                flags,
                timestampNs,
                metadata,
                window.formats().format());
    }

    /// In parts: slots that the frame's next part may have, which may be 0.
    public int roomForPart() {
        return (int) Math.min(slotsLeft, window.freeSlots());
    }

    /// In parts: the frame's next slots hold their payload, or will be sent from elsewhere
    /// ([io.framecast.reliability.wire.DataLayout#FLAG_GATHERED]).
    ///
    /// @return whether the frame is complete
    public boolean commitPart(final int slots) {
        require(State.IN_PARTS);
        slotsLeft -= slots;
        if (slotsLeft == 0) {
            readers.publish(place, length);
            state = State.IDLE;
        }
        window.commit(length, slots);
        return slotsLeft == 0;
    }

    /// Idle: completes the small frames, for no frame follows them.
    public void flush() {
        require(State.IDLE);
        small.close();
    }

    private void require(final State expected) {
        if (state != expected) {
            throw new IllegalStateException("expected state " + expected + " of the writer, got " + state);
        }
    }
}
