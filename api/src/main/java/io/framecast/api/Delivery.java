package io.framecast.api;

/// The policy for a subscriber that cannot keep up with its source. Each subscriber chooses for itself, beside
/// others on the same stream; a publisher ignores it. Under each policy the subscriber gets whole frames in order,
/// and every other frame is reported with number and reason ([Subscriber#onLoss]).
///
/// Written as `reliable`, `latest`, `deadline=40ms` or `evict=2s`; `parse(toString())` is identity.
public sealed interface Delivery {
    /// Every frame reaches the subscriber; while it is too slow the source waits for it, and with it all
    /// others.
    Delivery RELIABLE = new Reliable();

    /// The newest frame, or where frames are marked the newest keyframe and what follows it. The source does
    /// not wait.
    Delivery LATEST = new Latest();

    /// Longest patience.
    int PATIENCE_MAX_MS = 65_535;

    /// See [#RELIABLE].
    record Reliable() implements Delivery {
        @Override
        public String toString() {
            return "reliable";
        }
    }

    /// See [#LATEST].
    record Latest() implements Delivery {
        @Override
        public String toString() {
            return "latest";
        }
    }

    /// A frame that is older than this when it is polled is given up instead; age counts from
    /// [FrameOptions#sourceTimestampNs], by the source's clock. The source does not wait.
    ///
    /// @param patienceMs 1 … [#PATIENCE_MAX_MS]
    record Deadline(int patienceMs) implements Delivery {
        public Deadline {
            DeliveryParser.requirePatience(patienceMs);
        }

        @Override
        public String toString() {
            return "deadline=" + DeliveryParser.time(patienceMs);
        }
    }

    /// Every frame reaches the subscriber; one that holds the source back for longer than this is evicted,
    /// which its state shows ([Subscriber.State#SOURCE_LOST]).
    ///
    /// @param patienceMs 1 … [#PATIENCE_MAX_MS]
    record Evict(int patienceMs) implements Delivery {
        public Evict {
            DeliveryParser.requirePatience(patienceMs);
        }

        @Override
        public String toString() {
            return "evict=" + DeliveryParser.time(patienceMs);
        }
    }

    /// Reads a policy as it is written in a channel's `delivery=`.
    ///
    /// @throws IllegalArgumentException naming expectation and value
    static Delivery parse(final String text) {
        return DeliveryParser.parse(text);
    }
}
