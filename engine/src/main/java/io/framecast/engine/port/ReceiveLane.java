package io.framecast.engine.port;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.reliability.lane.LanePort;
import java.util.function.IntFunction;

/// The receiving side of a transport's lane, as the protocol sees it. Drops datagrams where loss is injected.
///
/// One thread. The lane is the caller's.
public final class ReceiveLane implements LanePort {
    private final Lane lane;
    private final Placement placement;
    private final Completions completions;
    private final LossInjector loss;
    private final IntFunction<DeviceRegion> buffers;

    /// @param buffers by number, the user's, which slots may be redirected to
    public ReceiveLane(
            final Lane lane,
            final TransportCapabilities.Placement placement,
            final int batchMax,
            final LossInjector loss,
            final IntFunction<DeviceRegion> buffers) {
        this.lane = lane;
        this.buffers = buffers;
        this.placement = switch (placement) {
            case BY_ARRIVAL -> Placement.BY_ARRIVAL;
            case BY_SEQUENCE -> Placement.BY_SEQUENCE;
        };
        this.loss = loss;
        completions = new Completions(batchMax);
    }

    @Override
    public Placement placement() {
        return placement;
    }

    @Override
    public int post(final int firstSlot, final int count) {
        return lane.post(firstSlot, count);
    }

    @Override
    public boolean canRedirect() {
        return lane.canRedirect();
    }

    @Override
    public boolean redirect(final int slot, final int buffer, final long offset, final int bytes) {
        return lane.redirect(slot, buffer < 0 ? null : buffers.apply(buffer), offset, bytes);
    }

    @Override
    public int poll() {
        completions.clear();
        lane.poll(completions);
        if (loss.isActive()) {
            drop();
        }
        return completions.count();
    }

    // Like a loss after reception: a BY_ARRIVAL lane posts the slot again behind the posted ones.
    private void drop() {
        for (int i = completions.count() - 1; i >= 0; i--) {
            if (loss.drop()) {
                final int slot = completions.slot(i);
                completions.remove(i);
                if (placement == Placement.BY_ARRIVAL) {
                    lane.post(slot, 1);
                }
            }
        }
    }

    @Override
    public int batchMax() {
        return completions.capacity();
    }

    @Override
    public int slot(final int index) {
        return completions.slot(index);
    }

    @Override
    public int bytes(final int index) {
        return completions.bytes(index);
    }
}
