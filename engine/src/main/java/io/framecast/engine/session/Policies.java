package io.framecast.engine.session;

import io.framecast.api.CoRootOptions;
import io.framecast.api.Delivery;
import io.framecast.api.LossReason;
import io.framecast.reliability.send.CoRootConfig;

/// Translates options of the users' API to options of the protocol.
public final class Policies {
    private Policies() {}

    public static io.framecast.reliability.wire.Delivery onWire(final Delivery delivery) {
        return switch (delivery) {
            case Delivery.Reliable() -> io.framecast.reliability.wire.Delivery.RELIABLE;
            case Delivery.Latest() -> io.framecast.reliability.wire.Delivery.LATEST;
            case Delivery.Deadline(int patienceMs) -> io.framecast.reliability.wire.Delivery.deadline(patienceMs);
            case Delivery.Evict(int patienceMs) -> io.framecast.reliability.wire.Delivery.evict(patienceMs);
        };
    }

    public static Delivery ofWire(final io.framecast.reliability.wire.Delivery delivery) {
        return switch (delivery.kind()) {
            case RELIABLE -> new Delivery.Reliable();
            case LATEST -> new Delivery.Latest();
            case DEADLINE -> new Delivery.Deadline(delivery.patienceMs());
            case EVICT -> new Delivery.Evict(delivery.patienceMs());
        };
    }

    public static CoRootConfig onWire(final CoRootOptions coRoots) {
        return new CoRootConfig(
                coRoots.count(),
                switch (coRoots.feed()) {
                    case MULTICAST -> CoRootConfig.Feed.MULTICAST;
                    case UNICAST -> CoRootConfig.Feed.UNICAST;
                });
    }

    public static LossReason reason(final io.framecast.reliability.receive.LossReason reason) {
        return switch (reason) {
            case UNREPAIRABLE -> LossReason.UNREPAIRABLE;
            case EXPIRED -> LossReason.EXPIRED;
            case SUPERSEDED -> LossReason.SUPERSEDED;
            case AWAITS_KEYFRAME -> LossReason.AWAITS_KEYFRAME;
            case DAMAGED -> LossReason.DAMAGED;
            case NOT_A_MEMBER -> LossReason.NOT_A_MEMBER;
        };
    }
}
