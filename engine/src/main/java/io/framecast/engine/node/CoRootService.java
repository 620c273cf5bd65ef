package io.framecast.engine.node;

import io.framecast.api.error.FramecastException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.SystemMemory;
import io.framecast.engine.sink.Opened;
import io.framecast.reliability.CoRootOutput;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.SetLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// What a subscription does for others once its source has made it a co-root: a copy of the window in host
/// memory, taken only then, and a lane of its own for repairs.
///
/// Threading: the receiver's thread. Ownership: owns memory and lane until [#close].
final class CoRootService implements CoRootOutput, AutoCloseable {
    private static final int NO_PEER = -1;

    private final Transport transport;
    private final ControlLane control;
    private final StreamInfo stream;
    private final Consumer<String> notices;
    private final int[] controlPeers = new int[SetLayout.MEMBERS_MAX];
    private final int[] repairPeers = new int[SetLayout.MEMBERS_MAX];
    private @Nullable SendMemory memory;
    private @Nullable Lane repair;
    private @Nullable RepairStore store;
    private boolean refused;
    private boolean closed;

    /// @param transport where the session's other lanes are open
    /// @param control the subscription's
    CoRootService(
            final Transport transport,
            final ControlLane control,
            final StreamInfo stream,
            final Consumer<String> notices) {
        this.transport = transport;
        this.control = control;
        this.stream = stream;
        this.notices = notices;
        java.util.Arrays.fill(controlPeers, NO_PEER);
        java.util.Arrays.fill(repairPeers, NO_PEER);
    }

    @Override
    public @Nullable RepairStore openStore() {
        if (store == null && !refused && !closed) {
            try {
                open();
            } catch (final OutOfMemoryError | FramecastException e) {
                refused = true;
                notices.accept("subscriber of " + stream.channel() + ": cannot serve others as a co-root: "
                        + e.getMessage() + "; free memory, or say serve=no");
            }
        }
        return store;
    }

    private void open() {
        final int slots = stream.windowSlots();
        SystemMemory.require(MemoryNeeds.source(slots, stream.slotBytes(), 0).totalBytes());
        try (Opened opened = new Opened()) {
            final SendMemory made = opened.add(new SendMemory(slots, stream.slotBytes()));
            repair = opened.add(
                    transport.open(new LaneConfig(LaneKind.REPAIR, LaneConfig.Role.RECEIVER, made.ring(), null, null)));
            store = new RepairStore(made.headers(), made.payload(), made.lengths(), slots, stream.slotBytes());
            memory = made;
            opened.keep();
        }
    }

    @Override
    public boolean connect(final int member, final LaneAddresses addresses) {
        final Lane lane = repair;
        if (lane == null || closed) {
            return false;
        }
        try {
            controlPeers[member] = control.lane().connect(new LaneAddress(addresses.control()));
            repairPeers[member] = lane.connect(new LaneAddress(addresses.repair()));
            return true;
        } catch (final TransportException e) {
            disconnect(member);
            return false;
        }
    }

    @Override
    public void disconnect(final int member) {
        if (controlPeers[member] != NO_PEER && !closed) {
            control.lane().disconnect(controlPeers[member]);
        }
        final Lane lane = repair;
        if (repairPeers[member] != NO_PEER && lane != null && !closed) {
            lane.disconnect(repairPeers[member]);
        }
        controlPeers[member] = NO_PEER;
        repairPeers[member] = NO_PEER;
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        if (controlPeers[member] != NO_PEER) {
            control.unicast(controlPeers[member], bytes);
        }
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        final Lane lane = repair;
        final RepairStore held = store;
        if (lane == null || held == null || repairPeers[member] == NO_PEER) {
            return 0;
        }
        final int slot = held.slot(firstSequence);
        // The ring goes on behind the window, with a slot that is nobody's.
        final int head = Math.min(count, held.slots() - slot);
        final int accepted = lane.unicast(repairPeers[member], slot, head);
        return accepted < head || head == count
                ? accepted
                : accepted + lane.unicast(repairPeers[member], 0, count - head);
    }

    /// The lane that repairs go out by; null before this became a co-root.
    @Nullable
    Lane lane() {
        return repair;
    }

    /// Says nothing any more; what was put into the store stays readable.
    void closeLane() {
        for (int member = 0; member < controlPeers.length; member++) {
            disconnect(member);
        }
        closed = true;
        CloseHelper.close(repair);
    }

    @Override
    public void close() {
        closed = true;
        CloseHelper.closeAll(repair, memory);
    }
}
