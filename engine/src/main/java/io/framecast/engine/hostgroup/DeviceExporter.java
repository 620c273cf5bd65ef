package io.framecast.engine.hostgroup;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceHandle;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.reliability.group.DeviceWords;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.wire.Delivery;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Copies each frame of a leader's ring to device memory that other members of the host group open: a circular
/// buffer of places, whose words say which frame lies where. It is a member of its own, so that it waits for no
/// user. It holds no member back either: members that want a frame without a place copy that frame themselves.
///
/// Threading: a thread of its own; any thread closes it.
final class DeviceExporter {
    private static final long JOIN_NS = 2_000_000_000;
    private static final long REST_NS = 20_000_000;
    // How long a place waits for a member that lags; and for the first that reads it, where all lag.
    private static final long LAG_NS = 300_000_000;
    private static final long LAG_OF_ALL_NS = 1_000_000_000;
    private static final long LAG_STEP_NS = 20_000;
    private static final int LATER = -2;
    private static final long ALIGNMENT_BYTES = 256;
    private static final SecureRandom IDS = new SecureRandom();

    private final DeviceBackend device;
    private final DeviceSharing sharing;
    private final LeaderConnection connection;
    private final FollowerSegment owner;
    // Of the frame table: entries from the first one on are held by the owner's cursor until this object's own begins.
    private final long first;
    private final int slotsMax;
    private final PlacementCounts placements;
    private final Consumer<String> notices;
    private final Runnable end;
    private volatile boolean closed;
    private volatile boolean over;

    // Its thread.
    private final ArrayDeque<Copy> copying = new ArrayDeque<>();
    private boolean gone;
    // First entry that is held by a place of its own.
    private long joined;
    private int cursor;
    // Since when a place waits for one that lags.
    private long lagsNs = Long.MAX_VALUE;

    private record Copy(long number, int slot) {}

    /// The device that has the memory, and how others reach it.
    record Target(DeviceBackend device, DeviceSharing sharing) {}

    /// @param socket a connection to the leader, this object's from now on
    /// @param owner the segment that the device's member follows; in use, until this object has ended
    /// @param slotsMax places at most
    /// @param end runs when no member uses the memory any more, by this object's thread
    DeviceExporter(
            final Target target,
            final UnixSocket socket,
            final FollowerSegment owner,
            final int slotsMax,
            final PlacementCounts placements,
            final Consumer<String> notices,
            final Runnable end) {
        device = target.device;
        sharing = target.sharing;
        connection = new LeaderConnection(socket);
        this.owner = owner;
        first = owner.hold();
        this.slotsMax = Math.min(slotsMax, SegmentLayout.DEVICE_SLOTS_MAX);
        this.placements = placements;
        this.notices = notices;
        this.end = end;
        Thread.ofPlatform().daemon().name("framecast-host-group-device").start(this::run);
    }

    /// Whether it has ended: no member has its memory open.
    boolean isOver() {
        return over;
    }

    /// Begins its end, which waits until the other members have closed the memory.
    void close() {
        closed = true;
    }

    private void run() {
        try (Arena arena = Arena.ofConfined()) {
            final FollowerSegment segment = join(arena);
            if (segment != null) {
                serve(segment, arena);
            }
        } catch (final RuntimeException | Error e) {
            notices.accept(
                    "host group: frames are not copied to " + device.name() + " for other members: " + e.getMessage());
        } finally {
            connection.close();
            owner.holdFrom(Long.MAX_VALUE);
            owner.exit();
            over = true;
            end.run();
        }
    }

    // The same segment by a connection of its own; null where the leader gives none, or a later one.
    private @Nullable FollowerSegment join(final Arena arena) {
        final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
        final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
        if (!connection.socket().send(GroupMessage.hello(message, 0, GroupMessage.NO_SUBSCRIBER, Delivery.RELIABLE))) {
            return null;
        }
        final MemorySegment polled = arena.allocate(Linux.POLLFD_BYTES, Long.BYTES);
        final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
        timeout.set(JAVA_LONG, 0, JOIN_NS / 1_000_000_000);
        Words.setInt(polled, 0, connection.socket().descriptor());
        Words.setInt(polled, Linux.POLLFD_EVENTS, Linux.POLLIN);
        Libc.ppoll(polled.address(), 1, timeout.address());
        final int length = connection.socket().receive(message, descriptors, Linux.MSG_DONTWAIT);
        if (length < 0 || !GroupMessage.is(message, length, GroupMessage.SEGMENT)) {
            return null;
        }
        final FollowerSegment made =
                FollowerSegment.of(connection, device, false, descriptors, GroupMessage.member(message));
        if (made != null && made.generation() != owner.generation()) {
            made.close();
            return null;
        }
        return made;
    }

    private void serve(final FollowerSegment segment, final Arena arena) {
        final DeviceWords words = owner.deviceWords();
        DeviceRegion memory = null;
        boolean served = false;
        try (DeviceStream stream = device.openStream()) {
            segment.deviceWords().refrain();
            // No leader's successor waits for this member.
            segment.leave();
            joined = segment.table().upcoming();
            segment.moveBack(first);
            if (first >= joined) {
                owner.holdFrom(Long.MAX_VALUE);
            }
            final long slotBytes = (segment.table().frameMaxBytes() + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
            memory = allocate(slotBytes);
            final Buffer buffer = new Buffer(device, memory, slotBytes, stream);
            try {
                served = true;
                serve(segment, words, buffer, arena);
            } finally {
                buffer.close();
            }
        } catch (final DeviceException e) {
            // Then another member may.
            words.refrain();
            throw e;
        } finally {
            if (!served) {
                segment.close();
            }
            if (memory != null) {
                device.free(memory);
            }
        }
    }

    private DeviceRegion allocate(final long slotBytes) {
        for (int slots = slotsMax; ; slots /= 2) {
            try {
                return sharing.allocate(slots * slotBytes);
            } catch (final DeviceException e) {
                if (slots < 4) {
                    throw e;
                }
            }
        }
    }

    private void serve(final FollowerSegment segment, final DeviceWords words, final Buffer buffer, final Arena arena) {
        try {
            final DeviceHandle handle = sharing.handle(buffer.memory);
            words.offer(new DeviceWords.Offer(
                    words.member(),
                    buffer.id,
                    (int) ProcessHandle.current().pid(),
                    Processes.namespace(),
                    new DeviceWords.Handle(handle.device(), handle.bytes(), handle.text()),
                    buffer.slots(),
                    buffer.slotBytes,
                    segment.table().upcoming()));
            notices.accept("host group: copies frames to " + device.name()
                    + " once, for all members that reach it, into " + buffer.slots() + " places of " + buffer.slotBytes
                    + " bytes");
            copyAll(segment, words, buffer, arena);
        } finally {
            words.withdraw();
            buffer.stream.synchronize();
            // Its entries of the ring go with its place.
            segment.close();
            connection.close();
            owner.holdFrom(Long.MAX_VALUE);
            while (words.isOpen(buffer.id)) {
                LockSupport.parkNanos(REST_NS);
            }
        }
    }

    /// The memory, which its owner frees.
    private static final class Buffer implements AutoCloseable {
        final DeviceRegion memory;
        final long slotBytes;
        final DeviceStream stream;
        final long id = IDS.nextLong() | 1;
        // By place: the entry of its frame, and the event behind its copy.
        final long[] entries;
        final DeviceEvent[] events;

        Buffer(final DeviceBackend device, final DeviceRegion memory, final long slotBytes, final DeviceStream stream) {
            this.memory = memory;
            this.slotBytes = slotBytes;
            this.stream = stream;
            entries = new long[(int) Math.min(memory.bytes() / slotBytes, SegmentLayout.DEVICE_SLOTS_MAX)];
            Arrays.fill(entries, -1);
            events = new DeviceEvent[entries.length];
            Arrays.setAll(events, _ -> device.openEvent());
        }

        int slots() {
            return entries.length;
        }

        @Override
        public void close() {
            Arrays.stream(events).forEach(DeviceEvent::close);
        }
    }

    private void copyAll(
            final FollowerSegment segment, final DeviceWords words, final Buffer buffer, final Arena arena) {
        final MemorySegment polled = arena.allocate(2L * Linux.POLLFD_BYTES, Long.BYTES);
        final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
        final MemorySegment scratch = arena.allocate(Long.BYTES, Long.BYTES);
        long polledNs = System.nanoTime();
        while (!closed) {
            begin(segment, words, buffer);
            if (copying.isEmpty() && segment.table().hasNext()) {
                LockSupport.parkNanos(LAG_STEP_NS);
            }
            if (copying.isEmpty() || System.nanoTime() - polledNs > REST_NS) {
                polledNs = System.nanoTime();
                rest(segment, polled, timeout, scratch, copying.isEmpty());
            }
            finish(segment, words, buffer);
        }
    }

    // Half of the places are for frames that have come.
    private void begin(final FollowerSegment segment, final DeviceWords words, final Buffer buffer) {
        final FollowerTable table = segment.table();
        while (table.hasNext() && copying.size() <= buffer.slots() / 2) {
            final int slot = table.hasFrame() ? freeSlot(words, buffer) : DeviceWords.NONE;
            if (slot == LATER) {
                return;
            }
            final long number = segment.take();
            if (table.isLoss(number)) {
                copying.add(new Copy(number, DeviceWords.NONE));
                continue;
            }
            final MemorySegment frame = segment.frame(number);
            if (slot != DeviceWords.NONE) {
                final long at = buffer.memory.address() + slot * buffer.slotBytes;
                buffer.stream.copyToDevice(at, frame, 0, frame.byteSize());
                buffer.stream.record(buffer.events[slot]);
                buffer.entries[slot] = number;
            }
            copying.add(new Copy(number, slot));
        }
    }

    // The place that was written longest ago, of the places that all members have read. The exporter waits a little for
    // a member that lags far behind, which then copies for itself the frames that the fastest has read. Where all
    // members stand still, the exporter does not hold the ring.
    private int freeSlot(final DeviceWords words, final Buffer buffer) {
        final int read = freeSlot(words, buffer, words.passed());
        if (read != DeviceWords.NONE) {
            lagsNs = Long.MAX_VALUE;
            return read;
        }
        final long nowNs = System.nanoTime();
        lagsNs = Math.min(lagsNs, nowNs);
        final long lagNs = nowNs - lagsNs;
        if (lagNs >= LAG_OF_ALL_NS) {
            return freeSlot(words, buffer, Long.MAX_VALUE);
        }
        final int left = lagNs < LAG_NS ? DeviceWords.NONE : freeSlot(words, buffer, words.passedByFastest());
        return left == DeviceWords.NONE ? LATER : left;
    }

    private int freeSlot(final DeviceWords words, final Buffer buffer, final long below) {
        for (int i = 0; i < buffer.slots(); i++) {
            final int slot = cursor;
            cursor = (cursor + 1) % buffer.slots();
            if (buffer.entries[slot] < below && copying.stream().noneMatch(copy -> copy.slot == slot)) {
                words.vacate(slot);
                if ((words.held(buffer.id) & 1L << slot) == 0) {
                    return slot;
                }
            }
        }
        return DeviceWords.NONE;
    }

    private void finish(final FollowerSegment segment, final DeviceWords words, final Buffer buffer) {
        final Copy done = copying.poll();
        if (done == null) {
            return;
        }
        if (done.slot != DeviceWords.NONE) {
            buffer.events[done.slot].synchronize();
            words.fill(done.slot, done.number);
            placements.countExported();
        }
        words.decide(done.number + 1);
        segment.release(done.number);
        if (done.number < joined) {
            owner.holdFrom(done.number + 1 < joined ? done.number + 1 : Long.MAX_VALUE);
        }
    }

    // Until the leader published something. Its next session is for another exporter.
    private void rest(
            final FollowerSegment segment,
            final MemorySegment polled,
            final MemorySegment timeout,
            final MemorySegment scratch,
            final boolean mayWait) {
        if (gone) {
            LockSupport.parkNanos(mayWait ? REST_NS : 0);
            return;
        }
        Words.setInt(polled, 0, connection.socket().descriptor());
        Words.setInt(polled, Linux.POLLFD_EVENTS, Linux.POLLIN);
        Words.setInt(polled, Linux.POLLFD_BYTES, segment.waker());
        Words.setInt(polled, Linux.POLLFD_BYTES + Linux.POLLFD_EVENTS, Linux.POLLIN);
        final boolean asleep = mayWait && segment.sleeps(segment.state());
        timeout.set(JAVA_LONG, Linux.TIMESPEC_NANOS, asleep ? REST_NS : 0);
        Libc.ppoll(polled.address(), 2, timeout.address());
        EventCount.drain(segment.waker(), scratch);
        segment.wakes();
        final int seen = Words.getShort(polled, Linux.POLLFD_EVENTS + (long) Short.BYTES);
        gone = (seen & Linux.POLLHUP) != 0;
        // The leader has another session, in which this place must not hold it back.
        closed |= !gone && seen != 0;
    }
}
