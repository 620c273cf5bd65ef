package io.framecast.engine.ready;

import java.util.function.IntConsumer;

/// What an agent waits for; asked by its own thread when it has found nothing to do.
public interface Waits {
    /// Nanoseconds until a timer is due; 0 or less when one is.
    long untilTimerNs();

    /// Whether it waits for something that neither a descriptor nor a [Wakeup] shows, such as a device's copies: then
    /// it
    /// must look for itself.
    boolean mustLook();

    /// Tells the descriptors that end the sleep which is about to begin, besides those that end every sleep; -1 is
    /// ignored.
    default void tellDescriptors(final IntConsumer descriptors) {}
}
