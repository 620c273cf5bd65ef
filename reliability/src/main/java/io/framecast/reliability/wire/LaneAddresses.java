package io.framecast.reliability.wire;

/// Where a receiver takes unicast.
///
/// @param control its control lane's address
/// @param repair its repair lane's address
public record LaneAddresses(byte[] control, byte[] repair) {}
