package io.framecast.engine.hostgroup;

import io.framecast.api.spi.DeviceHandle;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.IntPredicate;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// The words about device memory in a segment: a record for each member (docs/host-segment.md, "Device memory"). A
/// member writes its own record and reads the other records; every word may be wrong.
///
/// Any thread, while the words are mapped.
final class DeviceWords {
    /// The answer where no place holds a frame.
    static final int NONE = -1;

    private final UnsafeBuffer buffer;
    private final int member;
    private final int own;
    private final IntPredicate lives;

    /// Memory that a member offers.
    ///
    /// @param id of this offer, never 0
    /// @param process that has the memory, and the PID namespace in which that is its number
    /// @param slots its places, `slotBytes` each
    /// @param first entry of the frame table that may lie there
    record Offer(
            int member,
            long id,
            int process,
            long namespace,
            DeviceHandle handle,
            int slots,
            long slotBytes,
            long first) {}

    /// @param lives whether the member at a place lives
    DeviceWords(final UnsafeBuffer buffer, final int member, final IntPredicate lives) {
        this.buffer = buffer;
        this.lives = lives;
        this.member = member;
        own = SegmentLayout.device(member);
    }

    /// Leader: a member comes or is gone.
    static void clear(final UnsafeBuffer buffer, final int member) {
        final int record = SegmentLayout.device(member);
        buffer.putIntVolatile(record + SegmentLayout.DEVICE_STATE, 0);
        buffer.putLongVolatile(record + SegmentLayout.DEVICE_HOLDS, 0);
        buffer.putLongVolatile(record + SegmentLayout.DEVICE_USES, 0);
        buffer.putIntVolatile(record + SegmentLayout.DEVICE_WISH, 0);
    }

    int member() {
        return member;
    }

    /// This member takes frames from the memory of other members.
    void want(final UUID device) {
        buffer.putLong(own + SegmentLayout.DEVICE_IDENTITY, device.getMostSignificantBits());
        buffer.putLong(own + SegmentLayout.DEVICE_IDENTITY + Long.BYTES, device.getLeastSignificantBits());
        buffer.putIntVolatile(own + SegmentLayout.DEVICE_WISH, SegmentLayout.WANTS);
    }

    /// This member takes no frames from the memory of other members.
    void refrain() {
        buffer.putIntVolatile(own + SegmentLayout.DEVICE_WISH, SegmentLayout.WANTS_NOT);
    }

    boolean isMember(final int index) {
        return buffer.getIntVolatile(SegmentLayout.member(index)) == SegmentLayout.MEMBER_ACTIVE;
    }

    int wish(final int index) {
        return buffer.getIntVolatile(SegmentLayout.device(index) + SegmentLayout.DEVICE_WISH);
    }

    /// True when a member takes frames from other members' memory.
    boolean takes(final int index) {
        final int wish = wish(index);
        return wish == SegmentLayout.WANTS || wish == SegmentLayout.TAKES;
    }

    UUID device(final int index) {
        final int at = SegmentLayout.device(index) + SegmentLayout.DEVICE_IDENTITY;
        return new UUID(buffer.getLongVolatile(at), buffer.getLong(at + Long.BYTES));
    }

    // Of the member that offers.

    /// Offers memory, empty.
    void offer(final Offer offer) {
        final byte[] text = offer.handle().text().getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < SegmentLayout.DEVICE_SLOTS_MAX; i++) {
            buffer.putLong(slot(own, i), 0);
        }
        buffer.putLong(own + SegmentLayout.DEVICE_ID, offer.id());
        buffer.putInt(own + SegmentLayout.DEVICE_PROCESS, offer.process());
        buffer.putLong(own + SegmentLayout.DEVICE_NAMESPACE, offer.namespace());
        buffer.putInt(own + SegmentLayout.DEVICE_SLOTS, offer.slots());
        buffer.putLong(own + SegmentLayout.DEVICE_SLOT_BYTES, offer.slotBytes());
        buffer.putLong(own + SegmentLayout.DEVICE_MEMORY_BYTES, offer.handle().bytes());
        buffer.putLong(own + SegmentLayout.DEVICE_FIRST, offer.first());
        buffer.putLong(own + SegmentLayout.DEVICE_DECIDED, offer.first());
        buffer.putInt(own + SegmentLayout.DEVICE_HANDLE_BYTES, text.length);
        buffer.putBytes(own + SegmentLayout.DEVICE_HANDLE, text);
        buffer.putIntVolatile(own + SegmentLayout.DEVICE_STATE, SegmentLayout.OFFERED);
    }

    /// From now on no member opens the memory, and none finds a frame there.
    void withdraw() {
        buffer.putIntVolatile(own + SegmentLayout.DEVICE_STATE, 0);
        for (int i = 0; i < SegmentLayout.DEVICE_SLOTS_MAX; i++) {
            buffer.putLongVolatile(slot(own, i), 0);
        }
    }

    /// A place is to be written. It may be where afterwards no member holds it.
    void vacate(final int slot) {
        buffer.putLongVolatile(slot(own, slot), 0);
    }

    /// A place holds an entry's frame, every byte.
    void fill(final int slot, final long number) {
        buffer.putLongVolatile(slot(own, slot), number + 1);
    }

    /// Entries below lie in a place, or will not.
    void decide(final long below) {
        buffer.putLongVolatile(own + SegmentLayout.DEVICE_DECIDED, below);
    }

    /// Places of an offer that members hold, a bit each.
    long held(final long id) {
        long held = 0;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (uses(i, id)) {
                held |= buffer.getLongVolatile(SegmentLayout.device(i) + SegmentLayout.DEVICE_HOLDS);
            }
        }
        return held;
    }

    /// Entries below were released by all members that want frames from others' memory. A wrong value of a member
    /// delays or hastens the use of places, no more.
    long passed() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (isMember(i) && takes(i)) {
                final int released = SegmentLayout.member(i) + SegmentLayout.MEMBER_RELEASED;
                least = Math.min(least, buffer.getLongVolatile(released));
            }
        }
        return least;
    }

    /// Entries below were released by the fastest of the members that want frames from other members' memory.
    long passedByFastest() {
        long most = -1;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (isMember(i) && takes(i)) {
                final int released = SegmentLayout.member(i) + SegmentLayout.MEMBER_RELEASED;
                most = Math.max(most, buffer.getLongVolatile(released));
            }
        }
        return most < 0 ? Long.MAX_VALUE : most;
    }

    /// Whether a member that lives has the memory open.
    boolean isOpen(final long id) {
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (uses(i, id) && lives.test(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean uses(final int index, final long id) {
        return isMember(index) && buffer.getLongVolatile(SegmentLayout.device(index) + SegmentLayout.DEVICE_USES) == id;
    }

    // Of the members that use it.

    /// A member's offer; null for none, and for one that makes no sense.
    @Nullable
    Offer offered(final int index) {
        final int record = SegmentLayout.device(index);
        if (!isMember(index) || buffer.getIntVolatile(record + SegmentLayout.DEVICE_STATE) != SegmentLayout.OFFERED) {
            return null;
        }
        final long id = buffer.getLong(record + SegmentLayout.DEVICE_ID);
        final int slots = buffer.getInt(record + SegmentLayout.DEVICE_SLOTS);
        final long slotBytes = buffer.getLong(record + SegmentLayout.DEVICE_SLOT_BYTES);
        final long bytes = buffer.getLong(record + SegmentLayout.DEVICE_MEMORY_BYTES);
        final byte[] text = new byte
                [Math.clamp(buffer.getInt(record + SegmentLayout.DEVICE_HANDLE_BYTES), 0, DeviceHandle.TEXT_MAX)];
        buffer.getBytes(record + SegmentLayout.DEVICE_HANDLE, text);
        if (id == 0
                || slots < 1
                || slots > SegmentLayout.DEVICE_SLOTS_MAX
                || slotBytes < 1
                || bytes < 1
                || slotBytes > bytes / slots) {
            return null;
        }
        try {
            return new Offer(
                    index,
                    id,
                    buffer.getInt(record + SegmentLayout.DEVICE_PROCESS),
                    buffer.getLong(record + SegmentLayout.DEVICE_NAMESPACE),
                    new DeviceHandle(device(index), bytes, new String(text, StandardCharsets.US_ASCII)),
                    slots,
                    slotBytes,
                    buffer.getLong(record + SegmentLayout.DEVICE_FIRST));
        } catch (final IllegalArgumentException e) {
            return null;
        }
    }

    boolean isOffered(final Offer offer) {
        final int record = SegmentLayout.device(offer.member());
        return buffer.getIntVolatile(record + SegmentLayout.DEVICE_STATE) == SegmentLayout.OFFERED
                && buffer.getLong(record + SegmentLayout.DEVICE_ID) == offer.id();
    }

    /// This member opens an offer's memory.
    ///
    /// @return false where it is offered no more: it must not be opened
    boolean use(final Offer offer) {
        buffer.putLong(own + SegmentLayout.DEVICE_HOLDS, 0);
        buffer.putLongVolatile(own + SegmentLayout.DEVICE_USES, offer.id());
        if (isOffered(offer)) {
            return true;
        }
        unuse();
        return false;
    }

    /// It has closed the memory.
    void unuse() {
        buffer.putLongVolatile(own + SegmentLayout.DEVICE_HOLDS, 0);
        buffer.putLongVolatile(own + SegmentLayout.DEVICE_USES, 0);
    }

    /// Whether it is decided where an entry's frame lies.
    boolean isDecided(final Offer offer, final long number) {
        return number < buffer.getLongVolatile(SegmentLayout.device(offer.member()) + SegmentLayout.DEVICE_DECIDED);
    }

    /// Holds the place that has an entry's frame: its bytes stay until [#leave].
    ///
    /// @return [#NONE] where no place has it
    int hold(final Offer offer, final long number) {
        final int record = SegmentLayout.device(offer.member());
        for (int i = 0; i < offer.slots(); i++) {
            if (buffer.getLongVolatile(slot(record, i)) == number + 1) {
                final long before = buffer.getLong(own + SegmentLayout.DEVICE_HOLDS);
                buffer.putLongVolatile(own + SegmentLayout.DEVICE_HOLDS, before | 1L << i);
                // The exporter that vacates it looks for holds afterwards.
                if (buffer.getLongVolatile(slot(record, i)) == number + 1 && isOffered(offer)) {
                    return i;
                }
                buffer.putLongVolatile(own + SegmentLayout.DEVICE_HOLDS, before);
                return NONE;
            }
        }
        return NONE;
    }

    void leave(final int slot) {
        final long before = buffer.getLong(own + SegmentLayout.DEVICE_HOLDS);
        buffer.putLongVolatile(own + SegmentLayout.DEVICE_HOLDS, before & ~(1L << slot));
    }

    private static int slot(final int record, final int index) {
        return record + SegmentLayout.DEVICE_SLOT + index * Long.BYTES;
    }
}
