package io.framecast.perf.tail;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Finds a stream's data datagrams, sent first or again, in what came to a tap.
///
/// Control datagrams share the version's byte with data: what is taken for data has the stream's frame
/// length, an index within it, and the length that this index gives.
final class TapPackets {
    private static final int HEADER_BYTES = DataLayout.LENGTH;

    private final int frameBytes;
    private final int datagramsPerFrame;

    TapPackets(final TailSpec.Load load) {
        frameBytes = load.frameBytes();
        datagramsPerFrame = load.datagramsPerFrame();
    }

    /// Adds one event for each datagram of a packet, which may be many that the source's interface took as
    /// one.
    ///
    /// @param payload of UDP
    void read(
            final MemorySegment payload, final TailLog.Kind kind, final long timeNs, final List<TailLog.Event> events) {
        long offset = 0;
        while (payload.byteSize() - offset > HEADER_BYTES
                && DataLayout.type(payload, offset) == DataLayout.TYPE_DATA
                && DataLayout.FRAME_BYTES.unsigned(payload, offset) == frameBytes) {
            final long index = DataLayout.FRAME_INDEX.unsigned(payload, offset);
            if (index >= datagramsPerFrame) {
                return;
            }
            final long length = HEADER_BYTES + Math.min(TailSpec.SLOT_BYTES, frameBytes - index * TailSpec.SLOT_BYTES);
            if (length > payload.byteSize() - offset) {
                return;
            }
            events.add(new TailLog.Event(
                    kind,
                    DataLayout.SEQUENCE.get(payload, offset),
                    Integer.toUnsignedLong(DataLayout.FRAME_ID.get(payload, offset)),
                    timeNs));
            offset += length;
        }
    }
}
