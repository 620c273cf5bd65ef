package io.framecast.reliability.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.EndpointPort;
import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.window.PayloadChecksum;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.SlotGuard;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// One end of a connection between two processes. Its operations take time, one after another, long ones in two
/// parts, and each acts on memory as it is at that moment; writes sometimes in any order. An operation may be
/// slow, or break the connection.
final class SimEndpoint implements EndpointPort {
    private static final long SLOW_NS = 60_000_000;
    private static final long BREAK_NS = 80_000_000;
    private static final int CONNECT_SLOW = 150;
    // Of that many operations one overtakes others, waits, or finds no room.
    private static final int OVERTAKES = 100;
    private static final int PAUSES = 8;
    private static final int FULL = 8;
    private static final int HALVED_BYTES = 64;

    private enum Kind {
        READ(Access.PEERS_READ, 150, 800),
        WRITE(Access.PEERS_WRITE, 60, 4_000),
        WORD(Access.PEERS_WRITE, 150, 800);

        private final Access access;
        // Of that many operations one is slow, or ends the connection.
        private final int slow;
        private final int breaks;

        Kind(final Access access, final int slow, final int breaks) {
            this.access = access;
            this.slow = slow;
            this.breaks = breaks;
        }
    }

    private final SimNode process;
    private final SimWorld world;
    private final RandomGenerator random;
    private final @Nullable ReadSlots reads;
    private final int operationsMax;
    private final int number;
    private final long madeNs;
    private final boolean restless;
    private final Plant plant;
    private final ArrayDeque<Operation> operations = new ArrayDeque<>();
    private final ArrayDeque<Long> tokens = new ArrayDeque<>();
    private @Nullable SimEndpoint peer;
    private long readyNs;
    private long lastNs;
    private String failure = "";
    private boolean failing;
    private boolean broken;
    private boolean closed;

    /// @param reads receive slots of the process's reads; null where it reads nothing
    /// @param madeNs time at which it is made, by the true clock
    SimEndpoint(final SimNode process, final @Nullable ReadSlots reads, final int operationsMax, final long madeNs) {
        this.process = process;
        world = process.world();
        this.reads = reads;
        this.operationsMax = operationsMax;
        this.madeNs = madeNs;
        random = process.random();
        restless = world.options().faults().unrest() > 0;
        plant = world.plant();
        number = world.fabric().add(this);
    }

    /// It accepted another endpoint, and is up at a time of the true clock.
    SimEndpoint accepted(final SimEndpoint other, final long upNs) {
        peer = other;
        readyNs = upNs;
        return this;
    }

    private long nowNs() {
        return world.events().nowNs();
    }

    @Override
    public State state() {
        if (broken || closed) {
            return State.BROKEN;
        }
        if (nowNs() < madeNs) {
            return State.OPENING;
        }
        if (peer == null) {
            return State.IDLE;
        }
        return nowNs() < readyNs ? State.CONNECTING : State.UP;
    }

    @Override
    public String failure() {
        return failure;
    }

    @Override
    public byte[] descriptor() {
        final State state = state();
        final boolean shown = state == State.IDLE || state == State.UP;
        return shown ? SimNetwork.name(number) : new byte[0];
    }

    @Override
    public boolean connect(final byte[] descriptor) {
        final SimEndpoint other = world.fabric().endpoint(descriptor);
        if (other == null) {
            failure = "no endpoint has this descriptor";
            return false;
        }
        peer = other;
        readyNs = nextNs(CONNECT_SLOW);
        world.events().at(readyNs, () -> {
            if (isServed()) {
                process.wakeAfter(0);
            } else {
                breakDown("not accepted");
            }
        });
        return true;
    }

    // Whether both ends belong together, and the other process runs.
    private boolean isServed() {
        final SimEndpoint other = peer;
        return other != null && other.peer == this && !other.closed && !other.process.isStopped();
    }

    @Override
    public int room() {
        final int room = operationsMax - operations.size();
        return restless && random.nextInt(FULL) == 0 ? 0 : room;
    }

    @Override
    public boolean write64(final long address, final int key, final long value, final long token) {
        final MemorySegment word = MemorySegment.ofArray(new long[] {value});
        return post(new Operation(Kind.WORD, word, 0, Long.BYTES, address, key, token));
    }

    @Override
    public boolean read(
            final Region target,
            final long offset,
            final int bytes,
            final long address,
            final int key,
            final long token) {
        return post(new Operation(Kind.READ, target.memory(), offset, bytes, address, key, token));
    }

    @Override
    public boolean write(
            final Region source,
            final long offset,
            final int bytes,
            final long address,
            final int key,
            final long token) {
        return post(new Operation(Kind.WRITE, source.memory(), offset, bytes, address, key, token));
    }

    private boolean post(final Operation operation) {
        if (state() != State.UP || operations.size() >= operationsMax) {
            return false;
        }
        operations.add(operation);
        operation.begin();
        return true;
    }

    // The time at which an operation that is posted now is carried out.
    private long nextNs(final int slow) {
        final long delayNs = world.options().link().delayNs();
        long takesNs = delayNs + random.nextLong(delayNs + 1);
        if (restless) {
            takesNs += random.nextInt(slow) == 0 ? random.nextLong(SLOW_NS) : 0;
            lastNs += random.nextInt(PAUSES) == 0 ? random.nextLong(4 * delayNs + 1) : 0;
        }
        lastNs = Math.max(lastNs, nowNs() + takesNs);
        return lastNs;
    }

    private void breakDown(final String why) {
        if (!failing) {
            failing = true;
            world.count(SimCount.BROKEN_LINKS);
            world.events().at(nowNs() + random.nextLong(BREAK_NS), () -> {
                broken = true;
                failure = why;
                process.wakeAfter(0);
            });
        }
    }

    @Override
    public int poll(final long[] taken) {
        int count = 0;
        while (count < taken.length && !tokens.isEmpty()) {
            taken[count++] = tokens.remove();
        }
        return count;
    }

    @Override
    public void close() {
        closed = true;
        operations.clear();
        tokens.clear();
    }

    /// One operation under way.
    private final class Operation {
        private final Kind kind;
        private final MemorySegment region;
        private final long at;
        private final MemorySegment local;
        private final long address;
        private final int key;
        private final long token;
        // Of a write: the bytes that it must find when it is carried out.
        private final byte[] posted;
        private boolean done;

        private Operation(
                final Kind kind,
                final MemorySegment region,
                final long at,
                final int bytes,
                final long address,
                final int key,
                final long token) {
            this.kind = kind;
            this.region = region;
            this.at = at;
            local = region.asSlice(at, bytes);
            this.address = address;
            this.key = key;
            this.token = token;
            posted = kind == Kind.WRITE ? local.toArray(JAVA_BYTE) : new byte[0];
        }

        private int bytes() {
            return (int) local.byteSize();
        }

        private void begin() {
            final int half = bytes() > HALVED_BYTES ? bytes() / 2 : bytes();
            long carriedOutNs = carryOutLater(0, half);
            if (half < bytes()) {
                carriedOutNs = Math.max(carriedOutNs, carryOutLater(half, bytes() - half));
            }
            final long atNs =
                    carriedOutNs + random.nextLong(world.options().link().delayNs() + 1);
            if (kind != Kind.READ && plant == Plant.REUSE_FED_SLOT) {
                end();
            } else {
                world.events().at(atNs, this::end);
            }
        }

        private long carryOutLater(final int offset, final int bytes) {
            final long orderNs = lastNs;
            final long atNs = nextNs(kind.slow);
            if (restless && kind == Kind.WRITE && random.nextInt(OVERTAKES) == 0) {
                // Later operations do not wait for it.
                lastNs = orderNs;
            }
            world.events().at(atNs, () -> carryOut(offset, bytes));
            return atNs;
        }

        private void carryOut(final int offset, final int bytes) {
            if (closed || failing || process.isStopped()) {
                return;
            }
            final SimEndpoint other = peer;
            if (other == null || !isServed() || (restless && random.nextInt(kind.breaks) == 0)) {
                breakDown("no answer");
                return;
            }
            final MemorySegment remote = world.fabric().find(other.process, kind.access, address + offset, key, bytes);
            if (remote == null) {
                breakDown("remote access error");
                return;
            }
            switch (kind) {
                case READ -> local.asSlice(offset, bytes).copyFrom(remote);
                case WRITE -> {
                    checkUnchanged(offset, bytes);
                    remote.copyFrom(local.asSlice(offset, bytes));
                }
                case WORD -> {
                    remote.set(JAVA_LONG, 0, local.get(JAVA_LONG, 0));
                    other.process.wakeAfter(0);
                }
            }
        }

        private void checkUnchanged(final int offset, final int bytes) {
            final MemorySegment before = MemorySegment.ofArray(posted).asSlice(offset, bytes);
            if (before.mismatch(local.asSlice(offset, bytes)) != -1) {
                world.violation("source: a slot changed while it was written to a co-root");
            }
        }

        private void end() {
            done = true;
            if (closed || failing || process.isStopped()) {
                return;
            }
            if (kind == Kind.READ && bytes() == Long.BYTES && token >= 0 && plant == Plant.TRUST_HEADERS) {
                forgeGuards((int) token);
            }
            while (!operations.isEmpty() && operations.element().done) {
                final long ended = operations.remove().token;
                if (ended != NO_TOKEN) {
                    tokens.add(ended);
                }
            }
            process.wakeAfter(0);
        }

        // Forges both guards of a read, so that they confirm the arrived bytes.
        private void forgeGuards(final int slot) {
            if (reads == null) {
                return;
            }
            final MemorySegment headers = reads.memory().headers();
            final long header = reads.headerOffset(slot);
            final int slotBytes = reads.memory().slotBytes();
            final int bytes =
                    DataLayout.datagramBytes(headers, header, DataLayout.LENGTH, slotBytes) - DataLayout.LENGTH;
            final MemorySegment payload = reads.memory().payload().asSlice(reads.payloadOffset(slot), slotBytes);
            final long guard = SlotGuard.of(
                    DataLayout.SEQUENCE.get(headers, header),
                    new PayloadChecksum(payload, 1, slotBytes).of(0, Math.clamp(bytes, 0, slotBytes)));
            // The read ahead of the payload lands right before the one behind it.
            region.set(JAVA_LONG, at - Long.BYTES, guard);
            region.set(JAVA_LONG, at, guard);
        }
    }
}
