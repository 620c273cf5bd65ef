package io.framecast.engine.ready;

import java.util.function.IntConsumer;

/// What an agent waits for; asked by its own thread when it has found nothing to do.
public interface Waits {
    /// The thread means to sleep, and looks once more for work before it does: what comes from now on is to
    /// show in a descriptor.
    default void arm() {}

    /// Nanoseconds until a timer is due; 0 or less when one is.
    long untilTimerNs();

    /// Whether it waits for something that neither a descriptor nor a [Wakeup] shows, such as a device's
    /// copies: then it must look for itself.
    boolean mustLook();

    /// Tells the descriptors that end the sleep which is about to begin, besides those that end every sleep;
    /// -1 is ignored.
    default void tellDescriptors(final IntConsumer descriptors) {}
}
