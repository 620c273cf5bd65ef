package io.framecast.api.spi;

import org.jspecify.annotations.Nullable;

/// One lane to open.
///
/// @param kind which of the three
/// @param role which end of the session this is
/// @param send the ring this lane sends from; null for a lane that only receives. A source's data and repair
///     lanes share one ring: the send window. Registered by the transport while the lane is open
/// @param receive the ring this lane lands in; null for a lane that only sends. Registered likewise
/// @param peer for a receiver's data lane the source's data-lane address, so that the transport takes this source's
///     datagrams and no other's; null otherwise
public record LaneConfig(
        LaneKind kind,
        Role role,
        @Nullable SendRing send,
        @Nullable ReceiveRing receive,
        @Nullable LaneAddress peer) {
    /// Which end of a session a lane belongs to.
    public enum Role {
        SOURCE,
        RECEIVER
    }

    public LaneConfig {
        if (send == null && receive == null) {
            throw new IllegalArgumentException(
                    "lane " + kind + ": expected a send ring or a receive ring, got neither");
        }
        if (kind == LaneKind.DATA && role == Role.RECEIVER && peer == null) {
            throw new IllegalArgumentException("lane DATA: a receiver needs the source's address");
        }
    }
}
