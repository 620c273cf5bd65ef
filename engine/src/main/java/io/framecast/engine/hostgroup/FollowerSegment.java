package io.framecast.engine.hostgroup;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.memory.MirroredMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// A follower's side of the memory that its leader shares for one session. Every word is checked before it is used.
///
/// Threading: the subscriber's thread reads entries; any thread releases them.
final class FollowerSegment implements AutoCloseable {
    // Released bytes that are worth waking the leader for.
    private static final long WAKING_BYTES = 1 << 15;

    private final Arena arena = Arena.ofShared();
    private final DeviceBackend device;
    private final boolean registered;
    private final SharedWords words;
    private final UnsafeBuffer buffer;
    private final MemorySegment ring;
    private final long ringBytes;
    private final long session;
    private final boolean source;
    private final int member;
    private final int waker;
    private final int leader;
    // By entry, of those not yet released: whether the user released it.
    private final boolean[] done = new boolean[SegmentLayout.ENTRIES];
    private long next;
    private long released;
    private final Holds uses = new Holds();

    private FollowerSegment(
            final DeviceBackend device,
            final SharedWords words,
            final int ringDescriptor,
            final int member,
            final int waker,
            final int leader) {
        this.words = words;
        buffer = words.buffer();
        ringBytes = buffer.getLong(SegmentLayout.RING_BYTES_AT);
        session = buffer.getLong(SegmentLayout.SESSION_AT);
        source = buffer.getInt(SegmentLayout.ORIGIN_AT) == SegmentLayout.SOURCE;
        this.member = SegmentLayout.member(member);
        this.waker = waker;
        this.leader = leader;
        final MemorySegment mapped = MirroredMemory.view(ringDescriptor, ringBytes, arena);
        if (mapped == null) {
            throw new IllegalArgumentException("host group: cannot map a ring of " + ringBytes + " bytes");
        }
        ring = mapped;
        this.device = device;
        registered = register();
        next = buffer.getLongVolatile(this.member + SegmentLayout.MEMBER_FIRST);
        released = next;
    }

    // Without it a device copies the same bytes more slowly: some take no memory that cannot be written.
    private boolean register() {
        try {
            device.registerHost(ring);
            return true;
        } catch (final DeviceException e) {
            return false;
        }
    }

    /// Longest frame of the session.
    long frameMaxBytes() {
        return Math.clamp(buffer.getLong(SegmentLayout.FRAME_MAX_AT), 1, ringBytes);
    }

    /// Maps what a leader sent.
    ///
    /// @param descriptors four, this object's from now on, also where it cannot be made
    /// @return null where they are no segment of this version
    static @Nullable FollowerSegment of(final DeviceBackend device, final int[] descriptors, final int member) {
        SharedWords words = null;
        try {
            if (member < 0 || member >= SegmentLayout.MEMBERS || descriptors[2] < 0 || descriptors[3] < 0) {
                return null;
            }
            final int attached = descriptors[1];
            descriptors[1] = -1;
            words = SharedWords.attach(attached, SegmentLayout.wordsBytes());
            if (!isSound(words.buffer())) {
                return null;
            }
            final FollowerSegment made =
                    new FollowerSegment(device, words, descriptors[0], member, descriptors[2], descriptors[3]);
            words = null;
            descriptors[2] = -1;
            descriptors[3] = -1;
            return made;
        } catch (final RuntimeException e) {
            return null;
        } finally {
            if (words != null) {
                words.close();
            }
            for (final int descriptor : descriptors) {
                if (descriptor >= 0) {
                    Libc.close(descriptor);
                }
            }
        }
    }

    private static boolean isSound(final UnsafeBuffer header) {
        return header.getLongVolatile(SegmentLayout.MAGIC_AT) == SegmentLayout.MAGIC
                && header.getInt(SegmentLayout.VERSION_AT) == SegmentLayout.VERSION
                && header.getLong(SegmentLayout.WORDS_BYTES_AT) == SegmentLayout.wordsBytes()
                && header.getInt(SegmentLayout.ENTRIES_AT) == SegmentLayout.ENTRIES
                && header.getInt(SegmentLayout.MEMBERS_AT) == SegmentLayout.MEMBERS
                && header.getLong(SegmentLayout.RING_BYTES_AT) > 0;
    }

    long session() {
        return session;
    }

    int waker() {
        return waker;
    }

    /// Whether the ring is the source's own window: its leader is the publisher.
    boolean isOfSource() {
        return source;
    }

    int state() {
        return buffer.getIntVolatile(SegmentLayout.STATE_AT);
    }

    long clockOffsetNs() {
        return clockErrorNs() == Long.MAX_VALUE ? 0 : buffer.getLongVolatile(SegmentLayout.CLOCK_OFFSET_AT);
    }

    long clockErrorNs() {
        return buffer.getLongVolatile(SegmentLayout.CLOCK_ERROR_AT);
    }

    /// Whether an entry waits.
    boolean hasNext() {
        return buffer.getLongVolatile(SegmentLayout.PUBLISHED_AT) > next;
    }

    /// Takes the next entry.
    ///
    /// @return its number; −1 when there is none
    /// @throws IllegalStateException when the leader broke the table
    synchronized long take() {
        if (!hasNext()) {
            return -1;
        }
        final int entry = SegmentLayout.entry(next);
        if (buffer.getLongVolatile(entry) != SegmentLayout.version(next)) {
            throw new IllegalStateException("host group: entry " + next + " of the frame table is torn");
        }
        done[SegmentLayout.index(next)] = false;
        return next++;
    }

    boolean isLoss(final long number) {
        return word(number, SegmentLayout.ENTRY_KIND) == SegmentLayout.LOSS;
    }

    long frameId(final long number) {
        return buffer.getLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_FRAME_ID);
    }

    /// Bytes of a frame, or frames of a loss.
    long length(final long number) {
        return buffer.getLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_LENGTH);
    }

    long timestampNs(final long number) {
        return buffer.getLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_TIMESTAMP);
    }

    boolean isKeyframe(final long number) {
        return (word(number, SegmentLayout.ENTRY_FLAGS) & SegmentLayout.KEYFRAME) != 0;
    }

    /// Whether the frame lies where it was received; or the reason of a loss.
    int detail(final long number) {
        return word(number, SegmentLayout.ENTRY_DETAIL);
    }

    private int word(final long number, final int field) {
        return buffer.getInt(SegmentLayout.entry(number) + field);
    }

    byte[] metadata(final long number) {
        final int bytes = Math.clamp(word(number, SegmentLayout.ENTRY_METADATA), 0, SegmentLayout.METADATA_BYTES_MAX);
        final byte[] copy = new byte[bytes];
        buffer.getBytes(SegmentLayout.metadata(number), copy);
        return copy;
    }

    /// The frame's bytes, to be read until it is released.
    ///
    /// @throws IllegalStateException when the leader broke the table
    MemorySegment frame(final long number) {
        final long offset = buffer.getLong(SegmentLayout.entry(number) + SegmentLayout.ENTRY_OFFSET);
        final long length = length(number);
        if (offset < 0 || offset >= ringBytes || length <= 0 || length > frameMaxBytes()) {
            throw new IllegalStateException("host group: a frame of " + length + " bytes at " + offset
                    + " does not lie in the ring of " + ringBytes);
        }
        return ring.asSlice(offset, length);
    }

    /// Begins a use of this memory: a call that reads it, or a frame that the user holds. [#exit] ends it.
    ///
    /// @return false when it was closed
    boolean enter() {
        return uses.take();
    }

    void exit() {
        uses.give();
    }

    /// Within a use: an entry is released. The leader may write its slots again once all before it were released too.
    ///
    /// @param bytes of the frame; 0 of a loss
    synchronized void release(final long number, final long bytes) {
        done[SegmentLayout.index(number)] = true;
        while (released < next && done[SegmentLayout.index(released)]) {
            released++;
        }
        buffer.putLongVolatile(member + SegmentLayout.MEMBER_RELEASED, released);
        if (source ? isWanted() : isWorthTelling(bytes)) {
            EventCount.add(leader);
        }
    }

    private boolean isWorthTelling(final long bytes) {
        return bytes >= WAKING_BYTES || next - released > SegmentLayout.ENTRIES / 4 || (released & 255) == 0;
    }

    // A source that waits says so.
    private boolean isWanted() {
        return buffer.getIntVolatile(SegmentLayout.WANTS_AT) != 0
                && buffer.compareAndSetInt(SegmentLayout.WANTS_AT, 1, 0);
    }

    /// The leader wakes this follower by the next entry.
    ///
    /// @param seen the state in which it sleeps
    /// @return false when an entry waits already, or the state is another by now
    boolean sleeps(final int seen) {
        buffer.putIntVolatile(member + SegmentLayout.MEMBER_SLEEPS, 1);
        if (hasNext() || state() != seen) {
            wakes();
            return false;
        }
        return true;
    }

    void wakes() {
        buffer.putIntVolatile(member + SegmentLayout.MEMBER_SLEEPS, 0);
    }

    /// Frames that the user holds stay readable until he releases them.
    @Override
    public void close() {
        uses.close(this::free);
    }

    private void free() {
        if (registered) {
            device.unregisterHost(ring);
        }
        words.close();
        arena.close();
        Libc.close(waker);
        Libc.close(leader);
    }
}
