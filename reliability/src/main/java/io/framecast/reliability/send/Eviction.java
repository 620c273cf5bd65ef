package io.framecast.reliability.send;

import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout.Reason;

/// A member that its source has evicted.
///
/// @param id the receiver's
/// @param addresses its lanes
/// @param delivery its policy
/// @param reason [Reason#SILENT], [Reason#SLOW] or [Reason#UNREPAIRABLE]
/// @param lag datagrams that it had not acknowledged
/// @param silentNs time since its last datagram
public record Eviction(long id, LaneAddresses addresses, Delivery delivery, Reason reason, long lag, long silentNs) {}
