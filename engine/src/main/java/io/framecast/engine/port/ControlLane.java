package io.framecast.engine.port;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.Pages;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.port.HandshakePeers.HandshakePeer;
import io.framecast.reliability.lane.ControlPort;
import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.lane.SlotQueue;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/// One end's control lane with its memory: a small send ring in which datagrams are built, and a small receive
/// ring. A datagram without a free slot is lost, which the protocol tolerates on this lane. A send slot is free
/// once the transport has read its last datagram.
///
/// Threading: one thread after construction. Ownership: owns its memory and lane.
public final class ControlLane implements ControlPort, AutoCloseable {
    /// Takes one received control datagram.
    public interface Handler {
        void onControl(MemorySegment datagram, long offset, int bytes, long nowNs);
    }

    private static final int BATCH_MAX = 64;
    private static final int SEND_SLOTS = 64;
    private static final int RECEIVE_SLOTS = 512;
    private static final int SLOT_BYTES = (Wire.CONTROL_BYTES_MAX + 63) / 64 * 64;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment[] sendSlots = new MemorySegment[SEND_SLOTS];
    private final int[] sendLengths = new int[SEND_SLOTS];
    private final MemorySegment received;
    private final ReceiveLane receiving;
    private final SlotQueue inbound = new SlotQueue(RECEIVE_SLOTS);
    private final Lane lane;
    private final SendLane sending;
    // By slot: the number of datagrams sent when the slot was last used.
    private final long[] sentBefore = new long[SEND_SLOTS];
    // Scratch memory for datagrams without a free slot; the lane never sends it.
    private final MemorySegment nowhere;
    private long completed;
    private long lost;
    private boolean isLost;
    private int next;
    private @Nullable ControlProtection protection;
    private final NanoClock clock;
    private final HandshakePeers handshakes;
    private final Transport transport;

    /// @param clock of the caller's `nowNs`
    public ControlLane(
            final Transport transport, final LaneConfig.Role role, final LossInjector loss, final NanoClock clock) {
        this.clock = clock;
        this.transport = transport;
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            opened.add(arena);
            final MemorySegment sent = arena.allocate((long) SEND_SLOTS * SLOT_BYTES, 64);
            nowhere = arena.allocate(SLOT_BYTES, 64);
            for (int i = 0; i < SEND_SLOTS; i++) {
                sendSlots[i] = sent.asSlice((long) i * SLOT_BYTES, SLOT_BYTES);
            }
            received = Pages.allocate(arena, (long) RECEIVE_SLOTS * SLOT_BYTES);
            final int reserve = transport.capabilities().headerReserveBytes();
            final MemorySegment reserved = arena.allocate((long) RECEIVE_SLOTS * Math.max(reserve, 1), 64);
            final SendRing sendRing = new SendRing(MemorySegment.NULL, 0, sent, SLOT_BYTES, sendLengths);
            final ReceiveRing receiveRing =
                    new ReceiveRing(reserved, 0, reserve, DeviceRegion.ofHost(received), SLOT_BYTES, RECEIVE_SLOTS);
            lane = transport.open(new LaneConfig(LaneKind.CONTROL, role, sendRing, receiveRing, null));
            sending = new SendLane(lane);
            handshakes = new HandshakePeers(sending);
            receiving = new ReceiveLane(lane, transport.capabilities().placement(), BATCH_MAX, loss, _ -> {
                throw new IllegalStateException("slots of a control lane are not redirected");
            });
            opened.keep();
        }
    }

    /// Before the first datagram: each is sealed or opened, and a datagram that cannot be is dropped.
    ///
    /// @param made the caller's
    public void protect(final ControlProtection made) {
        protection = made;
    }

    /// Native memory of one control lane.
    public static long memoryBytes(final int headerReserveBytes) {
        return (SEND_SLOTS + 1L) * SLOT_BYTES + (long) RECEIVE_SLOTS * (SLOT_BYTES + Math.max(headerReserveBytes, 1));
    }

    public Lane lane() {
        return lane;
    }

    public LaneAddress address() {
        return lane.address();
    }

    @Override
    public MemorySegment slot() {
        if (completed < sentBefore[next]) {
            completed = lane.completed();
        }
        isLost = completed < sentBefore[next];
        return isLost ? nowhere : sendSlots[next];
    }

    /// Datagrams that were not sent because the transport still held as many as there are slots.
    public long lost() {
        return lost;
    }

    @Override
    public void multicast(final int bytes) {
        if (take(protection == null || isLost ? bytes : protection.sealToGroup(sendSlots[next], bytes))) {
            advance(lane.multicast(next, 1));
        }
    }

    @Override
    public void unicast(final int peer, final int bytes) {
        if (take(protection == null || isLost ? bytes : protection.sealToPeer(sendSlots[next], bytes))) {
            advance(lane.unicast(peer, next, 1));
        }
    }

    /// Sends the first `bytes` bytes of [#slot] from one member of the stream to another.
    ///
    /// @param senderId the receiver's id of this end
    public void unicastToMember(final int peer, final int bytes, final long senderId) {
        if (take(protection == null || isLost ? bytes : protection.sealToMember(sendSlots[next], bytes, senderId))) {
            advance(lane.unicast(peer, next, 1));
        }
    }

    /// Sends a datagram of a handshake, which is complete, or loses it.
    public void sendPlain(final byte[] address, final MemorySegment datagram, final int bytes) {
        final HandshakePeer peer = handshakes.of(address, clock.nanoTime());
        if (peer == null) {
            return;
        }
        final MemorySegment slot = slot();
        if (!isLost) {
            MemorySegment.copy(datagram, 0, slot, 0, bytes);
        }
        if (take(bytes)) {
            final int accepted = lane.unicast(peer.handle(), next, 1);
            peer.onSent(accepted > 0);
            advance(accepted);
        }
    }

    /// Sends the first `bytes` bytes of [#slot] to an address of no peer, or loses them.
    public void unicastTo(final byte[] address, final int bytes) {
        final HandshakePeer peer = handshakes.of(address, clock.nanoTime());
        if (peer == null) {
            return;
        }
        if (take(protection == null || isLost ? bytes : protection.sealToPeer(sendSlots[next], bytes))) {
            final int accepted = lane.unicast(peer.handle(), next, 1);
            peer.onSent(accepted > 0);
            advance(accepted);
        }
    }

    @Override
    public boolean isOneHost(final LaneAddresses addresses) {
        final LaneAddress control = new LaneAddress(addresses.control());
        final OneSided oneSided = addresses.link().length == 0 ? null : transport.oneSided();
        try {
            return transport.isOneHost(control, new LaneAddress(addresses.repair()))
                    && (oneSided == null || oneSided.isAt(control, addresses.link()));
        } catch (final TransportException _) {
            // An address came from the wire: it is hostile or belongs to another transport.
            return false;
        }
    }

    @Override
    public int connect(final byte[] address) {
        return sending.connect(address);
    }

    @Override
    public void disconnect(final int peer) {
        sending.disconnect(peer);
    }

    @Override
    public long timeNs(final long nowNs) {
        return Math.max(nowNs, clock.nanoTime());
    }

    // False where no slot was free for the datagram, or it cannot be sealed.
    private boolean take(final int bytes) {
        if (isLost || bytes == 0) {
            lost++;
            return false;
        }
        sendLengths[next] = bytes;
        return true;
    }

    private void advance(final int accepted) {
        if (accepted > 0) {
            sentBefore[next] = lane.submitted();
        }
        next = (next + 1) % SEND_SLOTS;
    }

    /// Handles the datagrams that have arrived.
    ///
    /// @return number of datagrams
    public int poll(final Handler handler, final long nowNs) {
        final int count = inbound.poll(receiving);
        for (int i = 0; i < count; i++) {
            final long offset = (long) receiving.slot(i) * SLOT_BYTES;
            final int bytes = receiving.bytes(i);
            final int plainBytes = protection == null ? bytes : protection.open(received, offset, bytes, nowNs);
            if (plainBytes > 0 || protection == null) {
                handler.onControl(received, offset, plainBytes, nowNs);
            }
        }
        inbound.freeUpTo(inbound.taken());
        return count;
    }

    @Override
    public void close() {
        CloseHelper.closeAll(lane, arena);
    }
}
