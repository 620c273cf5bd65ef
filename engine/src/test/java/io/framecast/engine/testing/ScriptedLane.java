package io.framecast.engine.testing;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A lane of a [ScriptedTransport].
public final class ScriptedLane implements Lane {
    /// Instead of a peer: the whole group.
    public static final int GROUP = -1;

    private final ScriptedTransport script;
    private final LaneKind kind;
    private final @Nullable SendRing ring;
    private final @Nullable OwnRing own;
    private final Lane real;
    private final int lag;
    private final SplittableRandom random = new SplittableRandom(17);
    private final List<Integer> peers = new CopyOnWriteArrayList<>();
    private final AtomicInteger closes = new AtomicInteger();
    // Accepted, and not read yet.
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private boolean multicasts;
    private long submitted;
    private long lost;

    private record Waiting(int peer, int slot) {}

    private ScriptedLane(
            final ScriptedTransport script, final LaneConfig config, final @Nullable OwnRing own, final Lane real) {
        this.script = script;
        kind = config.kind();
        ring = config.send();
        this.own = own;
        this.real = real;
        lag = script.lag(kind);
    }

    static ScriptedLane open(final ScriptedTransport script, final Transport real, final LaneConfig config) {
        final SendRing ring = config.send();
        if (ring == null || !script.forges()) {
            return new ScriptedLane(script, config, null, real.open(config));
        }
        final OwnRing own = new OwnRing(ring);
        final Lane lane =
                real.open(new LaneConfig(config.kind(), config.role(), own.slots, config.receive(), config.peer()));
        return new ScriptedLane(script, config, own, lane);
    }

    public LaneKind kind() {
        return kind;
    }

    /// Whether it sends.
    public boolean sends() {
        return ring != null;
    }

    /// Whether it has sent to the group.
    public boolean multicasts() {
        return multicasts;
    }

    /// Handles of the peers that it holds.
    public List<Integer> peers() {
        return peers;
    }

    /// How often it was closed.
    public int closes() {
        return closes.get();
    }

    /// Bytes of the longest datagram that it can forge: beyond the longest of the session.
    public int forgedBytesMax() {
        final SendRing slots = Objects.requireNonNull(own).slots;
        return slots.headerBytes() + slots.payloadBytes();
    }

    /// Sends a datagram that is not the session's, from this lane's address.
    ///
    /// @param peer a handle, or [#GROUP]
    /// @return 1, or 0 where it was not sent: a lane that is closed sends nothing, and none sends a part of a
    ///     header
    public int forge(final int peer, final byte[] datagram) {
        return closes.get() > 0 ? 0 : Objects.requireNonNull(own).send(real, peer, OwnRing.FORGED, datagram);
    }

    private int send(final int peer, final int firstSlot, final int count) {
        script.requireSound(kind);
        multicasts |= peer == GROUP;
        if (peer == GROUP && script.isLost(kind)) {
            submitted += count;
            lost += count;
            return count;
        }
        final int accepted = lag > 0 ? take(peer, firstSlot, count) : sendNow(peer, firstSlot, count);
        submitted += accepted;
        for (int i = 0; i < accepted && script.isListened(); i++) {
            script.onSent(this, datagram(firstSlot + i));
        }
        return accepted;
    }

    private int take(final int peer, final int firstSlot, final int count) {
        int taken = 0;
        while (taken < count && (waiting.size() < lag || readOne())) {
            waiting.add(new Waiting(peer, firstSlot + taken));
            taken++;
        }
        return taken;
    }

    // Returns whether the oldest datagram was sent now.
    private boolean readOne() {
        final Waiting next = waiting.peek();
        if (next == null || script.asleep.contains(kind)) {
            return false;
        }
        final int sent = sendNow(next.peer, next.slot, 1);
        if (sent == 1) {
            waiting.remove();
        }
        return sent == 1;
    }

    private int sendNow(final int peer, final int firstSlot, final int count) {
        if (own == null) {
            return peer == GROUP ? real.multicast(firstSlot, count) : real.unicast(peer, firstSlot, count);
        }
        int sent = 0;
        while (sent < count && own.send(real, peer, OwnRing.GENUINE, datagram(firstSlot + sent)) == 1) {
            sent++;
        }
        return sent;
    }

    private byte[] datagram(final int position) {
        final SendRing slots = Objects.requireNonNull(ring);
        final int slot = position % slots.slots();
        final int header = slots.headerBytes();
        final int bytes = slots.payloadLengths()[slot];
        final byte[] datagram = new byte[header + bytes];
        final MemorySegment copy = MemorySegment.ofArray(datagram);
        MemorySegment.copy(slots.headers(), (long) slot * header, copy, 0, header);
        MemorySegment.copy(slots.payload(), (long) slot * slots.payloadBytes(), copy, header, bytes);
        return datagram;
    }

    @Override
    public LaneAddress address() {
        return real.address();
    }

    @Override
    public int post(final int firstSlot, final int count) {
        return real.post(firstSlot, count);
    }

    @Override
    public int poll(final Completions completions) {
        script.requireSound(kind);
        final int before = completions.count();
        real.poll(completions);
        for (int i = completions.count() - 1; i >= before && script.drops() > 0; i--) {
            if (random.nextDouble() < script.drops()) {
                real.post(completions.slot(i), 1);
                completions.remove(i);
            }
        }
        return completions.count() - before;
    }

    @Override
    public int receiveCapacity() {
        return real.receiveCapacity();
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        return send(GROUP, firstSlot, count);
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        return send(peer, firstSlot, count);
    }

    @Override
    public long submitted() {
        return submitted;
    }

    /// Each query lets time pass for datagrams that are late.
    @Override
    public long completed() {
        readOne();
        final boolean isRead = own != null || lag > 0;
        return isRead ? submitted - waiting.size() : real.completed() + lost;
    }

    @Override
    public int connect(final LaneAddress peer) {
        script.requireSound(kind);
        final int handle = real.connect(peer);
        peers.add(handle);
        return handle;
    }

    @Override
    public void disconnect(final int peer) {
        while (readOne()) {
            // The datagrams for this peer are sent before it goes.
        }
        peers.remove((Integer) peer);
        real.disconnect(peer);
    }

    @Override
    public long counter(final LaneCounter counter) {
        return real.counter(counter);
    }

    @Override
    public void close() {
        closes.incrementAndGet();
        real.close();
        if (own != null) {
            own.close();
        }
    }

    @Override
    public String toString() {
        return "scripted " + kind + " " + submitted + " " + waiting;
    }

    /// One slot for datagrams of the session and one for forged ones, which are longer.
    private static final class OwnRing {
        static final int GENUINE = 0;
        static final int FORGED = 1;
        private static final int SLOTS = 2;
        private static final int SURPLUS_BYTES = 32;

        final SendRing slots;
        private final Arena arena = Arena.ofShared();
        private final int[] lengths = new int[SLOTS];

        OwnRing(final SendRing session) {
            final int header = session.headerBytes();
            final int stride = session.payloadBytes() + SURPLUS_BYTES;
            final MemorySegment headers = header == 0 ? MemorySegment.NULL : arena.allocate((long) SLOTS * header, 64);
            slots = new SendRing(headers, header, arena.allocate((long) SLOTS * stride, 64), stride, lengths);
        }

        int send(final Lane lane, final int peer, final int slot, final byte[] datagram) {
            final int header = slots.headerBytes();
            if (datagram.length < header) {
                return 0;
            }
            final MemorySegment from = MemorySegment.ofArray(datagram);
            lengths[slot] = datagram.length - header;
            MemorySegment.copy(from, 0, slots.headers(), (long) slot * header, header);
            MemorySegment.copy(from, header, slots.payload(), (long) slot * slots.payloadBytes(), lengths[slot]);
            return peer == GROUP ? lane.multicast(slot, 1) : lane.unicast(peer, slot, 1);
        }

        void close() {
            if (arena.scope().isAlive()) {
                arena.close();
            }
        }
    }
}
