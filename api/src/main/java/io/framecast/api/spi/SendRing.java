package io.framecast.api.spi;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Datagrams ready to be gathered: slot `i` is `[header i | payload i]`. Fixed strides, so that a transport can
/// build its gather lists once and register each segment once. Only a payload in a device's memory has a
/// place of its own, where a transport gathers such ([Transport#gatherFrom]; MCAST-GDR, Chu et al. 2019,
/// §4.2).
///
/// Shapes: `headers` is `[slots][headerBytes]`, `payload` is `[slots][payloadBytes]`, `payloadLengths` is `[slots]`, in
/// bytes, written by the owner before a slot is handed to [Lane#multicast] or [Lane#unicast].
/// A slot may be overwritten once [Lane#completed] has passed the send that used it last.
///
/// @param headers header memory in the host; may be empty when `headerBytes` is 0
/// @param headerBytes bytes of each header, all sent; 0 for a control ring, whose datagrams are payload only
/// @param payload payload memory in the host
/// @param payloadBytes stride of a payload slot
/// @param payloadLengths bytes to send of each slot's payload, 0 … `payloadBytes`
/// @param places of payloads in device memory; null where there are none
public record SendRing(
        MemorySegment headers,
        int headerBytes,
        MemorySegment payload,
        int payloadBytes,
        int[] payloadLengths,
        @Nullable PayloadPlaces places) {
    public SendRing {
        final long slots = payloadLengths.length;
        if (slots == 0 || headerBytes < 0 || payloadBytes <= 0) {
            throw new IllegalArgumentException("send ring: expected slots and positive strides");
        }
        if (headers.byteSize() < slots * headerBytes || payload.byteSize() < slots * payloadBytes) {
            throw new IllegalArgumentException("send ring: segments shorter than " + slots + " slots");
        }
    }

    /// A ring whose payloads all lie in the host.
    public SendRing(
            final MemorySegment headers,
            final int headerBytes,
            final MemorySegment payload,
            final int payloadBytes,
            final int[] payloadLengths) {
        this(headers, headerBytes, payload, payloadBytes, payloadLengths, null);
    }

    public int slots() {
        return payloadLengths.length;
    }
}
