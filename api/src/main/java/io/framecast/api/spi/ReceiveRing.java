package io.framecast.api.spi;

import java.lang.foreign.MemorySegment;

/// Memory in which a lane lands datagrams: slot `i` is the scatter list `[header i | payload i]`. Built once; a
/// transport prepares its receive requests from it when the lane opens and re-posts them by slot number.
///
/// Shapes: `headers` is `[slots][headerStride]` in host memory; the first `headerReserveBytes` of each (see
/// [TransportCapabilities]) belong to the transport, the next `headerBytes` receive the datagram's first bytes.
/// `payload` is `[slots][payloadBytes]`, in host or device memory; it receives the rest.
///
/// @param headers may be empty when `headerBytes` and the transport's reserve are 0
/// @param headerBytes bytes of a datagram that go to its header slot; 0 for a control ring
/// @param headerStride distance of two header slots; at least reserve + `headerBytes`
/// @param payload where payloads land
/// @param payloadBytes stride and capacity of a payload slot
/// @param slots number of slots
public record ReceiveRing(
        MemorySegment headers, int headerBytes, int headerStride, DeviceRegion payload, int payloadBytes, int slots) {
    public ReceiveRing {
        if (slots <= 0 || headerBytes < 0 || headerStride < headerBytes || payloadBytes <= 0) {
            throw new IllegalArgumentException("receive ring: expected slots and positive strides");
        }
        if (headers.byteSize() < (long) slots * headerStride || payload.bytes() < (long) slots * payloadBytes) {
            throw new IllegalArgumentException("receive ring: memory shorter than " + slots + " slots");
        }
    }
}
