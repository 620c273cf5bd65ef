package io.framecast.engine.subscribe.lanes;

import io.framecast.api.spi.Transport;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/// The lanes of a subscription that all its sessions share, and the services that the sessions' own lanes need.
///
/// @param loss injected into each lane
/// @param notices takes lines for an operator
/// @param conductor runs long tasks in order
public record SubscriptionLanes(
        Transport transport, ControlLane control, LossInjector loss, Consumer<String> notices, Executor conductor) {
    /// The same lanes, with another conductor.
    public SubscriptionLanes conductedBy(final Executor other) {
        return new SubscriptionLanes(transport, control, loss, notices, other);
    }
}
