package io.framecast.engine.aeron;

import io.aeron.Subscription;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// What the transport made for one lane before handing it over.
///
/// @param group the group publication where the lane has one from the start
/// @param groupChannel channel for making it later; null where the lane has nobody to multicast to
/// @param groupSubscription null for a lane that only sends, and for a source's, which hears unicast only
/// @param unicastSubscription null for a lane that only sends
/// @param ownSession session id of the group publication
/// @param receiveCapacity see [io.framecast.api.spi.Lane#receiveCapacity]
record LaneSetup(
        LaneConfig config,
        LaneSizes sizes,
        LaneAddress address,
        @Nullable Outbound group,
        @Nullable String groupChannel,
        int groupStream,
        @Nullable Subscription groupSubscription,
        @Nullable Subscription unicastSubscription,
        int ownSession,
        int receiveCapacity) {
    void closeSubscriptions() {
        CloseHelper.quietCloseAll(groupSubscription, unicastSubscription);
    }
}
