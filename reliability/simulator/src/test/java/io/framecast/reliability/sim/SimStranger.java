package io.framecast.reliability.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.PolicyLayout;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.SolicitLayout;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/// Hears the group and asks the source for everything, at addresses of its own, of others and of receivers. It
/// returns no value of ADMIT, so nothing else may go to any of these addresses for it.
final class SimStranger implements SimNetwork.Stranger {
    // Its own, and two of others.
    private static final int ADDRESSES = 3;
    private static final int IDS = 2;
    private static final int KINDS = 10;
    private static final long INTERVAL_NS = 300_000;
    private static final long IDS_NS = 400_000_000;
    private static final long FIRST_ID = 0x7000_0000_0000_0000L;

    private final SimWorld world;
    private final SplittableRandom random;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private long session;
    private boolean hasHeard;
    private int token;
    private long sequence;
    private int sent;
    private int admits;

    SimStranger(final SimWorld world, final long seed) {
        this.world = world;
        random = new SplittableRandom(seed);
    }

    /// Until a time.
    void begin(final long endNs) {
        world.network().joinedBy(this);
        world.events().at(0, () -> act(endNs));
    }

    int sent() {
        return sent;
    }

    int admits() {
        return admits;
    }

    @Override
    public int addresses() {
        return ADDRESSES;
    }

    @Override
    public void hear(final SimLane lane, final MemorySegment datagram) {
        if (lane == SimLane.CONTROL && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_HEARTBEAT) {
            hasHeard = true;
            session = ControlLayout.SESSION.get(datagram, 0);
        } else if (lane == SimLane.DATA && DataLayout.type(datagram, 0) == DataLayout.TYPE_PROBE) {
            token = (int) DataLayout.FRAME_INDEX.unsigned(datagram, 0);
        } else if (lane == SimLane.DATA) {
            sequence = DataLayout.SEQUENCE.get(datagram, 0);
        }
    }

    @Override
    public void see(final int stranger, final SimLane lane, final MemorySegment datagram) {
        final boolean isControl = lane == SimLane.CONTROL && datagram.byteSize() >= ControlLayout.LENGTH;
        final boolean isMine = isControl && ControlLayout.RECEIVER.get(datagram, 0) >>> 32 == FIRST_ID >>> 32;
        if (stranger < 0 && !isMine) {
            return;
        }
        if (isControl && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_ADMIT) {
            admits++;
        } else {
            world.violation("sends " + datagram.byteSize() + " bytes on lane " + lane + " to a stranger");
        }
    }

    private void act(final long endNs) {
        final long nowNs = world.events().nowNs();
        if (nowNs >= endNs) {
            return;
        }
        if (hasHeard) {
            sent++;
            final int bytes = write(random.nextInt(KINDS));
            world.network()
                    .fromStranger(
                            MemorySegment.ofArray(scratch.asSlice(0, bytes).toArray(JAVA_BYTE)));
        }
        world.events().at(nowNs + random.nextLong(INTERVAL_NS), () -> act(endNs));
    }

    private int write(final int kind) {
        // New ones after a while, for those before are gone.
        final long id = FIRST_ID + world.events().nowNs() / IDS_NS * IDS + random.nextInt(IDS);
        final ControlWriter ids = new ControlWriter(session).receiver(id).in(scratch);
        return switch (kind) {
            case 0, 1 -> JoinLayout.write(ids, terms());
            case 2 -> AdmitLayout.writeReady(ids, token, random.nextInt(3) - 1, 1 + random.nextInt(64));
            case 3 -> writeNack(ids);
            case 4 -> ResumeLayout.write(ids, random.nextLong(1 + sequence), terms());
            case 5 ->
                AckLayout.write(
                        ids,
                        new AckValues().progress(0, random.nextInt(1000), 0).echo(AckLayout.NO_ECHO, 0));
            case 6 -> FrameLayout.writeRequest(ids, random.nextLong(1 + sequence));
            case 7 -> FormatLayout.writeRequest(ids, 1 + random.nextInt(FormatLayout.NUMBERS));
            case 8 ->
                random.nextBoolean()
                        ? SolicitLayout.write(ids, random.nextLong())
                        : PolicyLayout.write(ids, 1, Delivery.LATEST, 1);
            default -> LeaveLayout.writeLeave(ids, LeaveLayout.Reason.LEFT);
        };
    }

    private int writeNack(final ControlWriter ids) {
        final long first = Math.max(0, sequence - random.nextInt(64));
        NackLayout.range(scratch, false, 0, first, 1 + random.nextInt(64));
        return NackLayout.write(ids, 1);
    }

    private JoinLayout.Terms terms() {
        final byte[] control = address();
        final byte[] repair = random.nextBoolean() ? control : address();
        return new JoinLayout.Terms(
                random.nextInt(4) == 0 ? 1 : 100_000,
                Delivery.RELIABLE,
                random.nextLong(),
                new LaneAddresses(control, repair),
                new CoRootOffer(random.nextInt(3), random.nextBoolean()));
    }

    // Of any receiver, or of none.
    private byte[] address() {
        final int receivers = world.network().hosts().size();
        return SimNetwork.name(random.nextInt(receivers + ADDRESSES + 1));
    }
}
