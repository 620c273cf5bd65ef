package io.framecast.reliability.sim;

import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.sim.net.Forgery;
import io.framecast.reliability.sim.net.SimInbox;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// Breaks a receiver from outside its machine, by the run's injected bug: it gives the machine the input of a
/// broken one.
final class PlantedReceiver {
    private static final int OVERGRANT = 64;
    private static final long REPLAY_NS = 1_000_000;

    private final SimReception reception;
    private final SimReceiver process;
    private final Plant plant;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private @Nullable MemorySegment heartbeat;
    private long replayNs;

    PlantedReceiver(final SimReception reception, final SimReceiver process) {
        this.reception = reception;
        this.process = process;
        plant = process.world().plant();
    }

    /// The datagram that the machine gets in a control datagram's place.
    MemorySegment onControl(final MemorySegment datagram) {
        final boolean watched = plant == Plant.IGNORE_CLOCK_SKEW || plant == Plant.KEEP_DEAD_SOURCE;
        if (!watched || !isHeartbeat(datagram)) {
            return datagram;
        }
        heartbeat = datagram;
        if (plant == Plant.KEEP_DEAD_SOURCE) {
            return datagram;
        }
        return Forgery.changed(datagram, Forgery.CLOCK, process.nowNs());
    }

    private boolean isHeartbeat(final MemorySegment datagram) {
        return datagram.byteSize() > Forgery.CLOCK
                && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_HEARTBEAT
                && ControlLayout.SESSION.get(datagram, 0) == reception.source().nonce();
    }

    /// A receiver is about to acknowledge, for itself or for its group.
    ///
    /// @param ack begins with an ACK
    void onAck(final MemorySegment ack) {
        if (plant == Plant.GRANT_HELD_SLOTS) {
            ack.set(ValueLayout.JAVA_LONG_UNALIGNED, Forgery.GRANT, AckLayout.GRANT.get(ack, 0) + OVERGRANT);
        } else if (!AckLayout.isAggregate(ack, 0)) {
            return;
        } else if (plant == Plant.OWN_RECEIPT) {
            ack.set(
                    ValueLayout.JAVA_LONG_UNALIGNED,
                    Forgery.ACKNOWLEDGED,
                    reception.machine().acknowledgedSequence());
            ack.set(
                    ValueLayout.JAVA_LONG_UNALIGNED,
                    Forgery.GRANT,
                    reception.machine().grantedSequence());
        } else if (plant == Plant.SPEAK_FOR_ALL) {
            ack.set(ValueLayout.JAVA_INT_UNALIGNED, Forgery.COVERED, ControlLayout.EPOCH.get(ack, 0));
        } else {
            return;
        }
        Forgery.seal(ack.asSlice(0, ControlLayout.DATAGRAM_BYTES.get(ack, 0)));
    }

    /// In each duty cycle: a source that is gone goes on sending, not more often than one that lives.
    void onCycle() {
        final MemorySegment last = heartbeat;
        if (plant == Plant.KEEP_DEAD_SOURCE && last != null && process.nowNs() >= replayNs) {
            replayNs = process.nowNs() + REPLAY_NS;
            reception.machine().onControl(last, 0, (int) last.byteSize(), process.nowNs());
        }
    }

    void onData(final SimInbox data) {
        switch (plant) {
            case STALE_SESSION -> adopt(data.queue(), reception.source().ghostNonce());
            case ACCEPT_OLD_SESSION -> {
                for (final SimSession session : process.world().sessions()) {
                    if (session != reception.source()) {
                        adopt(data.queue(), session.nonce());
                    }
                }
            }
            case NO_DUPLICATE_CHECK -> {
                if (!data.isEmpty()) {
                    redeliver(data.queue().element());
                }
            }
            default -> {}
        }
    }

    // A receiver that checks only the checksum takes another session's datagrams for its own.
    private void adopt(final ArrayDeque<MemorySegment> data, final long nonce) {
        final int count = data.size();
        for (int i = 0; i < count; i++) {
            MemorySegment datagram = data.remove();
            if (datagram.byteSize() > DataLayout.LENGTH && checksum.isSealed(datagram, 0, nonce)) {
                // Other receivers hold the same bytes.
                datagram = MemorySegment.ofArray(datagram.toArray(ValueLayout.JAVA_BYTE));
                final long own = reception.source().nonce();
                datagram.set(ValueLayout.JAVA_INT_UNALIGNED, 8, DataLayout.sessionTag(own));
                checksum.seal(datagram, 0, own);
            }
            data.add(datagram);
        }
    }

    // A frame of one datagram that comes twice is delivered twice.
    private void redeliver(final MemorySegment datagram) {
        final ReceiverMachine machine = reception.machine();
        if (machine.state() != State.RECEIVING
                || datagram.byteSize() <= DataLayout.LENGTH
                || !checksum.isSealed(datagram, 0, reception.source().nonce())) {
            return;
        }
        final long sequence = DataLayout.SEQUENCE.get(datagram, 0);
        final int slotBytes = process.world().options().stream().slotBytes();
        final boolean whole = DataLayout.FRAME_BYTES.unsigned(datagram, 0) <= slotBytes;
        if (DataLayout.type(datagram, 0) == DataLayout.TYPE_DATA
                && whole
                && sequence >= machine.startSequence()
                && sequence < machine.nextFrameSequence()) {
            final long again = Integer.toUnsignedLong(DataLayout.FRAME_ID.get(datagram, 0));
            reception.frames().onAgain(again);
        }
    }
}
