package io.framecast.api.spi;

/// The capabilities of a transport on this machine, fixed when it opens.
///
/// @param name the provider's name
/// @param hardwareMulticast one send reaches any number of receivers
/// @param deviceMemory the transport can receive payloads into a [DeviceRegion] that the host cannot address,
///     where [Transport#canReceiveInto] refuses none
/// @param oneSidedWrite a receiver can write its credit into the source's memory without the source's CPU
/// @param oneSidedRead a receiver can read repairs out of a peer's window without the peer's CPU
/// @param maxScatter elements of a scatter list; at least 2: header, payload
/// @param headerReserveBytes bytes that the transport writes before the header in each header slot (verbs: 40,
///     the global routing header); 0 elsewhere
/// @param datagramBytesMax largest header + payload that is never fragmented
/// @param placement where arriving payloads go relative to the posted slots
public record TransportCapabilities(
        String name,
        boolean hardwareMulticast,
        boolean deviceMemory,
        boolean oneSidedWrite,
        boolean oneSidedRead,
        int maxScatter,
        int headerReserveBytes,
        int datagramBytesMax,
        Placement placement) {
    /// How posted slots are consumed.
    public enum Placement {
        /// Posted slots are consumed strictly in the order of posting, one for each datagram, wanted or not: after
        /// k losses the following payloads lie k slots early (a verbs receive queue).
        BY_ARRIVAL,
        /// Each [Lane#post] replaces the posted slots, so the receiver posts the slots of the
        /// sequences that it expects next: loss misplaces at most that batch.
        BY_SEQUENCE
    }
}
