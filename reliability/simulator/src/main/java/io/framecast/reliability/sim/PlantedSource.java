package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.Forgery;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.StartLayout;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/// Breaks a source from outside its machine, by the run's injected bug.
final class PlantedSource {
    private static final int STORM = 6;
    private static final int FLAGS = 1;

    private final SimSource source;
    private final Plant plant;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final Map<Long, MemorySegment> lastAcks = new LinkedHashMap<>();
    // Of co-roots: the epoch of the newest aggregate.
    private final Map<Long, Integer> coRoots = new HashMap<>();
    // Of successors that go on as a co-root: the id that the machine knows.
    private final Map<Long, Long> successors = new HashMap<>();

    PlantedSource(final SimSource source, final Plant plant) {
        this.source = source;
        this.plant = plant;
    }

    /// The machine's alive-timeout; heartbeats go on announcing the original one.
    int aliveTimeoutMs() {
        return plant == Plant.HASTY_EVICTION ? SimSource.ALIVE_TIMEOUT_MS / 4 : SimSource.ALIVE_TIMEOUT_MS;
    }

    MemorySegment onHeartbeat(final MemorySegment datagram) {
        if (plant == Plant.HASTY_EVICTION && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_HEARTBEAT) {
            datagram.set(ValueLayout.JAVA_INT_UNALIGNED, Forgery.ALIVE_TIMEOUT, SimSource.ALIVE_TIMEOUT_MS);
            Forgery.seal(datagram);
        }
        return datagram;
    }

    void onData(final MemorySegment datagram) {
        final int flags = datagram.get(ValueLayout.JAVA_BYTE, FLAGS);
        if (plant == Plant.FORGET_NEW_FORMAT && (flags & DataLayout.FLAG_NEW_FORMAT) != 0) {
            datagram.set(ValueLayout.JAVA_BYTE, FLAGS, (byte) (flags & ~DataLayout.FLAG_NEW_FORMAT));
            checksum.seal(datagram, 0, source.life().nonce());
        }
    }

    /// A START is about to be sent.
    void onStart(final MemorySegment start, final int bytes) {
        if (plant == Plant.WRONG_FRAME_BOUNDARY) {
            final long first = StartLayout.FIRST_SEQUENCE.get(start, 0);
            final long frameId = StartLayout.FIRST_FRAME_ID.get(start, 0);
            final ControlWriter ids =
                    new ControlWriter(source.life().nonce()).receiver(ControlLayout.RECEIVER.get(start, 0));
            if (StartLayout.write(ids.in(start), first + 1, frameId, 0) != bytes) {
                throw new IllegalStateException("START changed its length");
            }
        }
    }

    int repairTimes() {
        return plant == Plant.REPAIR_STORM ? STORM : 1;
    }

    /// The datagram that the session gets in a control datagram's place: an acknowledgement of sequences that
    /// were not received, or a grant beyond the ring.
    MemorySegment onControl(final MemorySegment datagram) {
        if (plant == Plant.INHERIT_CO_ROOT) {
            return withFormerRole(datagram);
        }
        final boolean forges = plant == Plant.IGNORE_CREDIT || plant == Plant.REUSE_UNACKED_SLOT;
        if (!forges
                || datagram.byteSize() < Forgery.GRANT + Long.BYTES
                || ControlLayout.check(datagram, 0, (int) datagram.byteSize(), checksum) != Verdict.GOOD
                || ControlLayout.type(datagram, 0) != ControlLayout.TYPE_ACK) {
            return datagram;
        }
        return plant == Plant.IGNORE_CREDIT
                ? Forgery.changed(datagram, Forgery.GRANT, AckLayout.GRANT.get(datagram, 0) + source.slots())
                : Forgery.changed(
                        datagram,
                        Forgery.ACKNOWLEDGED,
                        source.session().machine().nextSequence());
    }

    // A successor of a co-root goes on under its id, and its own progress counts as that of the group.
    private MemorySegment withFormerRole(final MemorySegment datagram) {
        if (ControlLayout.check(datagram, 0, (int) datagram.byteSize(), checksum) != Verdict.GOOD) {
            return datagram;
        }
        final long id = ControlLayout.RECEIVER.get(datagram, 0);
        final int type = ControlLayout.type(datagram, 0);
        final SimReception reception = source.life().reception(id);
        if (type == ControlLayout.TYPE_ACK && AckLayout.isAggregate(datagram, 0)) {
            coRoots.put(id, ControlLayout.EPOCH.get(datagram, 0));
        } else if (type == ControlLayout.TYPE_RESUME && reception != null) {
            final long holder = reception.membership().holder().id();
            final long former = successors.getOrDefault(holder, holder);
            if (coRoots.containsKey(former) && holder != id) {
                successors.put(id, former);
                source.admit(reception);
            }
        }
        final Long former = successors.get(id);
        if (former == null) {
            return datagram;
        }
        if (type == ControlLayout.TYPE_ACK) {
            return aggregate(datagram, former);
        }
        // Nothing else of it reaches the machine.
        return MemorySegment.ofArray(new byte[(int) datagram.byteSize()]);
    }

    private MemorySegment aggregate(final MemorySegment ack, final long id) {
        final int epoch = coRoots.getOrDefault(id, 0);
        final AckValues values = new AckValues()
                .progress(
                        AckLayout.ACKNOWLEDGED.get(ack, 0), AckLayout.GRANT.get(ack, 0), AckLayout.HIGHEST.get(ack, 0))
                .complete(AckLayout.isComplete(ack, 0))
                .aggregate(epoch, id)
                .echo(AckLayout.NO_ECHO, 0);
        final MemorySegment forged = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final ControlWriter ids =
                new ControlWriter(source.life().nonce()).receiver(id).epoch(epoch);
        return forged.asSlice(0, AckLayout.write(ids.in(forged), values));
    }

    /// A receiver sent a valid datagram.
    void onHeard(final long id, final MemorySegment datagram) {
        if (plant == Plant.NO_EVICTION && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_ACK) {
            lastAcks.put(id, datagram);
        }
    }

    /// In each duty cycle: members that are gone go on sending.
    void onCycle() {
        for (final MemorySegment ack : lastAcks.values()) {
            source.session().machine().onControl(ack, 0, (int) ack.byteSize(), source.nowNs());
        }
    }
}
