package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;

/// The shape of a receiver's memory.
///
/// @param stream the session
/// @param ringSlots slots of the ring, a multiple of 64
/// @param headerReserveBytes what the transport writes before each header
/// @param device where frames land
/// @param loss injected losses
public record SinkConfig(
        StreamInfo stream, int ringSlots, int headerReserveBytes, DeviceBackend device, LossInjector loss) {
    /// Datagrams taken per poll of a lane.
    public static final int BATCH_MAX = 64;
    /// Repairs that may wait for their copy.
    public static final int REPAIR_SLOTS = 128;

    public int headerStride() {
        return headerReserveBytes + DataLayout.LENGTH;
    }

    public int slotBytes() {
        return stream.slotBytes();
    }

    public long ringBytes() {
        return (long) ringSlots * stream.slotBytes();
    }
}
