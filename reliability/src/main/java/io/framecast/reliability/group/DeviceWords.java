package io.framecast.reliability.group;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// The words about device memory in a segment: a record for each member (docs/host-segment.md, "Device memory").
/// A member writes its own record and reads the other records; every word may be wrong.
///
/// Any thread, while the words are mapped.
public final class DeviceWords {
    /// The answer where no place holds a frame.
    public static final int NONE = -1;

    private static final int HANDLE_BYTES_MAX = 160;

    private final SegmentMemory memory;
    private final TableLayout layout;
    private final int member;
    private final int own;
    private final IntPredicate lives;

    /// Memory that a member offers.
    ///
    /// @param id of this offer, never 0
    /// @param process that has the memory, and the PID namespace in which that is its number
    /// @param slots its places, `slotBytes` each
    /// @param first entry of the frame table that may lie there
    public record Offer(
            int member, long id, int process, long namespace, Handle handle, int slots, long slotBytes, long first) {}

    /// Names device memory that another process of this host may open.
    ///
    /// @param device the physical device, alike in all processes
    /// @param bytes length of the memory
    /// @param text by which the kind of device finds it, 1 … 160 visible characters of ASCII
    public record Handle(UUID device, long bytes, String text) {}

    /// @param lives whether the member at a place lives
    public DeviceWords(
            final SegmentMemory memory, final TableLayout layout, final int member, final IntPredicate lives) {
        this.memory = memory;
        this.layout = layout;
        this.lives = lives;
        this.member = member;
        own = layout.device(member);
    }

    /// Leader: a member comes or is gone.
    static void clear(final SegmentMemory memory, final TableLayout layout, final int member) {
        final int record = layout.device(member);
        memory.putIntVolatile(record + SegmentLayout.DEVICE_STATE, 0);
        memory.putLongVolatile(record + SegmentLayout.DEVICE_HOLDS, 0);
        memory.putLongVolatile(record + SegmentLayout.DEVICE_USES, 0);
        memory.putIntVolatile(record + SegmentLayout.DEVICE_WISH, 0);
    }

    public int member() {
        return member;
    }

    /// This member takes frames from the memory of other members.
    public void want(final UUID device) {
        memory.putLong(own + SegmentLayout.DEVICE_IDENTITY, device.getMostSignificantBits());
        memory.putLong(own + SegmentLayout.DEVICE_IDENTITY + Long.BYTES, device.getLeastSignificantBits());
        memory.putIntVolatile(own + SegmentLayout.DEVICE_WISH, SegmentLayout.WANTS);
    }

    /// This member takes no frames from the memory of other members.
    public void refrain() {
        memory.putIntVolatile(own + SegmentLayout.DEVICE_WISH, SegmentLayout.WANTS_NOT);
    }

    public boolean isMember(final int index) {
        return memory.getIntVolatile(SegmentLayout.member(index)) == SegmentLayout.MEMBER_ACTIVE;
    }

    public int wish(final int index) {
        return memory.getIntVolatile(layout.device(index) + SegmentLayout.DEVICE_WISH);
    }

    /// True when a member takes frames from other members' memory.
    public boolean takes(final int index) {
        final int wish = wish(index);
        return wish == SegmentLayout.WANTS || wish == SegmentLayout.TAKES;
    }

    public UUID device(final int index) {
        final int at = layout.device(index) + SegmentLayout.DEVICE_IDENTITY;
        return new UUID(memory.getLongVolatile(at), memory.getLong(at + Long.BYTES));
    }

    // Of the member that offers.

    /// Offers memory, empty.
    public void offer(final Offer offer) {
        final byte[] text = offer.handle().text().getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < SegmentLayout.DEVICE_SLOTS_MAX; i++) {
            memory.putLong(slot(own, i), 0);
        }
        memory.putLong(own + SegmentLayout.DEVICE_ID, offer.id());
        memory.putInt(own + SegmentLayout.DEVICE_PROCESS, offer.process());
        memory.putLong(own + SegmentLayout.DEVICE_NAMESPACE, offer.namespace());
        memory.putInt(own + SegmentLayout.DEVICE_SLOTS, offer.slots());
        memory.putLong(own + SegmentLayout.DEVICE_SLOT_BYTES, offer.slotBytes());
        memory.putLong(own + SegmentLayout.DEVICE_MEMORY_BYTES, offer.handle().bytes());
        memory.putLong(own + SegmentLayout.DEVICE_FIRST, offer.first());
        memory.putLong(own + SegmentLayout.DEVICE_DECIDED, offer.first());
        memory.putInt(own + SegmentLayout.DEVICE_HANDLE_BYTES, text.length);
        memory.putBytes(own + SegmentLayout.DEVICE_HANDLE, text, text.length);
        memory.putIntVolatile(own + SegmentLayout.DEVICE_STATE, SegmentLayout.OFFERED);
    }

    /// From now on no member opens the memory, and none finds a frame there.
    public void withdraw() {
        memory.putIntVolatile(own + SegmentLayout.DEVICE_STATE, 0);
        for (int i = 0; i < SegmentLayout.DEVICE_SLOTS_MAX; i++) {
            memory.putLongVolatile(slot(own, i), 0);
        }
    }

    /// A place is to be written. It may be where afterwards no member holds it.
    public void vacate(final int slot) {
        memory.putLongVolatile(slot(own, slot), 0);
    }

    /// A place holds an entry's frame, every byte.
    public void fill(final int slot, final long number) {
        memory.putLongVolatile(slot(own, slot), number + 1);
    }

    /// Entries below lie in a place, or will not.
    public void decide(final long below) {
        memory.putLongVolatile(own + SegmentLayout.DEVICE_DECIDED, below);
    }

    /// Places of an offer that members hold, a bit each.
    public long held(final long id) {
        long held = 0;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (uses(i, id)) {
                held |= memory.getLongVolatile(layout.device(i) + SegmentLayout.DEVICE_HOLDS);
            }
        }
        return held;
    }

    /// Entries below were released by all members that want frames from others' memory. A wrong value of a member
    /// delays or hastens the use of places, no more.
    public long passed() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (isMember(i) && takes(i)) {
                final int released = SegmentLayout.member(i) + SegmentLayout.MEMBER_RELEASED;
                least = Math.min(least, memory.getLongVolatile(released));
            }
        }
        return least;
    }

    /// Entries below were released by the fastest of the members that want frames from other members' memory.
    public long passedByFastest() {
        long most = -1;
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (isMember(i) && takes(i)) {
                final int released = SegmentLayout.member(i) + SegmentLayout.MEMBER_RELEASED;
                most = Math.max(most, memory.getLongVolatile(released));
            }
        }
        return most < 0 ? Long.MAX_VALUE : most;
    }

    /// Whether a member that lives has the memory open.
    public boolean isOpen(final long id) {
        for (int i = 0; i < SegmentLayout.MEMBERS; i++) {
            if (uses(i, id) && lives.test(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean uses(final int index, final long id) {
        return isMember(index) && memory.getLongVolatile(layout.device(index) + SegmentLayout.DEVICE_USES) == id;
    }

    // Of the members that use it.

    /// A member's offer; null for none, and for one that makes no sense.
    public @Nullable Offer offered(final int index) {
        final int record = layout.device(index);
        if (!isMember(index) || memory.getIntVolatile(record + SegmentLayout.DEVICE_STATE) != SegmentLayout.OFFERED) {
            return null;
        }
        final long id = memory.getLong(record + SegmentLayout.DEVICE_ID);
        final int slots = memory.getInt(record + SegmentLayout.DEVICE_SLOTS);
        final long slotBytes = memory.getLong(record + SegmentLayout.DEVICE_SLOT_BYTES);
        final long bytes = memory.getLong(record + SegmentLayout.DEVICE_MEMORY_BYTES);
        final byte[] name =
                new byte[Math.clamp(memory.getInt(record + SegmentLayout.DEVICE_HANDLE_BYTES), 0, HANDLE_BYTES_MAX)];
        memory.getBytes(record + SegmentLayout.DEVICE_HANDLE, name);
        final String text = new String(name, StandardCharsets.US_ASCII);
        if (id == 0
                || slots < 1
                || slots > SegmentLayout.DEVICE_SLOTS_MAX
                || slotBytes < 1
                || bytes < 1
                || slotBytes > bytes / slots
                || text.isEmpty()
                || !text.chars().allMatch(c -> c > ' ' && c < 127)) {
            return null;
        }
        return new Offer(
                index,
                id,
                memory.getInt(record + SegmentLayout.DEVICE_PROCESS),
                memory.getLong(record + SegmentLayout.DEVICE_NAMESPACE),
                new Handle(device(index), bytes, text),
                slots,
                slotBytes,
                memory.getLong(record + SegmentLayout.DEVICE_FIRST));
    }

    public boolean isOffered(final Offer offer) {
        final int record = layout.device(offer.member());
        return memory.getIntVolatile(record + SegmentLayout.DEVICE_STATE) == SegmentLayout.OFFERED
                && memory.getLong(record + SegmentLayout.DEVICE_ID) == offer.id();
    }

    /// This member opens an offer's memory.
    ///
    /// @return false where it is offered no more: it must not be opened
    public boolean use(final Offer offer) {
        memory.putLong(own + SegmentLayout.DEVICE_HOLDS, 0);
        memory.putLongVolatile(own + SegmentLayout.DEVICE_USES, offer.id());
        if (isOffered(offer)) {
            return true;
        }
        unuse();
        return false;
    }

    /// It has closed the memory.
    public void unuse() {
        memory.putLongVolatile(own + SegmentLayout.DEVICE_HOLDS, 0);
        memory.putLongVolatile(own + SegmentLayout.DEVICE_USES, 0);
    }

    /// Whether it is decided where an entry's frame lies.
    public boolean isDecided(final Offer offer, final long number) {
        return number < memory.getLongVolatile(layout.device(offer.member()) + SegmentLayout.DEVICE_DECIDED);
    }

    /// Holds the place that has an entry's frame: its bytes stay until [#leave].
    ///
    /// @return [#NONE] where no place has it
    public int hold(final Offer offer, final long number) {
        final int record = layout.device(offer.member());
        for (int i = 0; i < offer.slots(); i++) {
            if (memory.getLongVolatile(slot(record, i)) == number + 1) {
                final long before = memory.getLong(own + SegmentLayout.DEVICE_HOLDS);
                memory.putLongVolatile(own + SegmentLayout.DEVICE_HOLDS, before | 1L << i);
                // The exporter that vacates it looks for holds afterwards.
                if (memory.getLongVolatile(slot(record, i)) == number + 1 && isOffered(offer)) {
                    return i;
                }
                memory.putLongVolatile(own + SegmentLayout.DEVICE_HOLDS, before);
                return NONE;
            }
        }
        return NONE;
    }

    public void leave(final int slot) {
        final long before = memory.getLong(own + SegmentLayout.DEVICE_HOLDS);
        memory.putLongVolatile(own + SegmentLayout.DEVICE_HOLDS, before & ~(1L << slot));
    }

    private static int slot(final int record, final int index) {
        return record + SegmentLayout.DEVICE_SLOT + index * Long.BYTES;
    }
}
