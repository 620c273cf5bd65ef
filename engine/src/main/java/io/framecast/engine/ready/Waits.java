package io.framecast.engine.ready;

import java.util.function.IntConsumer;

/// The conditions that an agent waits for. Its own thread asks, when it has found no work.
public interface Waits {
    /// The thread means to sleep, and looks once more for work before it does. Work that comes from now on must
    /// show in a descriptor.
    default void arm() {}

    /// Nanoseconds until a timer is due; 0 or less when one is.
    long untilTimerNs();

    /// Whether the agent waits for work that neither a descriptor nor a [Wakeup] shows, such as a device's
    /// copies. Then it must look for the work itself.
    boolean mustLook();

    /// Passes the descriptors that end the sleep which is about to begin, besides those that end every sleep.
    /// [ReadySet#NONE] is ignored.
    default void tellDescriptors(final IntConsumer descriptors) {}
}
