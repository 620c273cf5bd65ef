package io.framecast.reliability.sim;

import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/// Breaks a source from outside its machine, by the run's injected bug.
final class PlantedSource {
    private static final int STORM = 6;

    private final SimSource source;
    private final Plant plant;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final Map<Long, MemorySegment> lastAcks = new LinkedHashMap<>();

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

    int repairTimes() {
        return plant == Plant.REPAIR_STORM ? STORM : 1;
    }

    /// The datagram that the session gets in a control datagram's place: an acknowledgement of sequences that were
    /// not received, or a grant beyond the ring.
    MemorySegment onControl(final MemorySegment datagram) {
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
