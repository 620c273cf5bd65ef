package io.framecast.engine.subscribe;

import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.session.CounterBoard;

/// The counters of a subscriber that continue through all its sessions.
final class SubscriberCounters {
    private SubscriberCounters() {}

    /// @param control the lane that all sessions share
    static CounterBoard open(
            final CounterTable table,
            final EngineSubscriber subscriber,
            final Lane control,
            final Transport transport,
            final Subscription subscription) {
        return new CounterBoard(table, Labels.of("channel", subscriber.channel().name()))
                .sends(control, "control")
                .receives(control, "control")
                .losses(subscription::lost)
                .add(EngineCounter.FRAMES_DELIVERED, subscriber::frames)
                .add(EngineCounter.BYTES_DELIVERED, subscriber::bytes)
                .add(EngineCounter.FRAMES_IN_PLACE, subscriber::inPlaceFrames)
                .add(EngineCounter.SOURCES_JOINED, subscription::sources)
                .add(EngineCounter.REJOINS, subscription::rejoins)
                .device(subscriber.device())
                .registrations(transport);
    }
}
