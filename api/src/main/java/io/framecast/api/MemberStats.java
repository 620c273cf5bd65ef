package io.framecast.api;

import java.time.Duration;

/// The state of one of a publisher's subscribers, at one time. Immutable.
///
/// @param address the subscriber's control address, in the transport's form
/// @param delivery its policy, as in `delivery=`
/// @param lagDatagrams datagrams sent that it has not acknowledged
/// @param creditDatagrams datagrams that it would still take
/// @param requestedRepairs datagrams that it asked this publisher to send again; others it may have from co-roots
/// @param heldBack how long frames waited for this subscriber; several may hold a publisher back at once
public record MemberStats(
        String address,
        String delivery,
        long lagDatagrams,
        long creditDatagrams,
        long requestedRepairs,
        Duration heldBack) {}
