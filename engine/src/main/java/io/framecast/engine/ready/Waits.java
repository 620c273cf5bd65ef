package io.framecast.engine.ready;

/// What an agent waits for; asked by its own thread when it has found nothing to do.
public interface Waits {
    /// Nanoseconds until a timer is due; 0 or less when one is.
    long untilTimerNs();

    /// Whether it waits for something that neither a descriptor nor a [Wakeup] shows, such as a device's copies: then
    /// it
    /// must look for itself.
    boolean mustLook();
}
