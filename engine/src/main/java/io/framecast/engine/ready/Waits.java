package io.framecast.engine.ready;

import java.util.function.IntConsumer;

/// The conditions that an agent waits for. Its own thread asks, when it has found no work.
public interface Waits {
    /// Called before the thread sleeps; the agent then checks for work once more. Work that arrives from now on
    /// must make a descriptor readable.
    default void arm() {}

    /// Nanoseconds until a timer is due; 0 or less when one is.
    long untilTimerNs();

    /// Whether the agent waits for work that neither a descriptor nor a [Wakeup] shows, such as a device's copies.
    /// It must then poll for the work.
    boolean mustPoll();

    /// Passes the descriptors that end the sleep which is about to begin, besides the descriptors that end every sleep.
    /// [ReadySet#NONE] is ignored.
    default void collectDescriptors(final IntConsumer descriptors) {}
}
