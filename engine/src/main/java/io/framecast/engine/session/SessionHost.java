package io.framecast.engine.session;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.ready.Wakeup;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// The services of a node that its publishers and subscribers use.
public interface SessionHost {
    /// Waits on the caller's thread, and goes on waiting after an interrupt. In invoker mode that thread runs the
    /// agents meanwhile, or sleeps while another thread runs them.
    ///
    /// @return whether the condition came true
    boolean await(BooleanSupplier condition, Duration longest);

    /// Sleeps on the caller's thread until an agent wakes it with the condition true, the time is over, or the
    /// thread is interrupted. In invoker mode that thread runs the agents meanwhile, or sleeps while another thread
    /// runs them.
    void await(Waiter sleeper, BooleanSupplier condition, Duration longest);

    /// Opens the device of a channel's `device=`, for a publisher.
    DeviceBackend openDevice(String device);

    /// Takes one-line notices.
    Consumer<String> notices();

    /// The engine's time.
    long nowNs();

    /// Wakes the agent that runs publishers.
    Wakeup senderWakeup();

    /// Wakes the agent that runs subscribers.
    Wakeup receiverWakeup();
}
