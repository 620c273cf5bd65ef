package io.framecast.perf.rivals;

/// One more subscriber beside the receivers that are measured, which may be slower than its delivery policy
/// can bear.
///
/// @param delivery its policy, as a channel's `delivery=` has it; empty for none such
/// @param pace how fast it takes frames
public record Bystander(String delivery, Pace pace) {
    /// No bystander.
    public static final Bystander NONE = new Bystander("", Pace.HEALTHY);

    /// How fast frames are taken.
    public enum Pace {
        /// At once.
        HEALTHY,
        /// Holds each frame for as long as ten take to be published.
        TENTH,
        /// Holds a frame, and its whole process is stopped with SIGSTOP, from before the measurement to its
        /// end.
        STOPPED
    }

    /// Whether there is a bystander.
    public boolean isThere() {
        return !delivery.isEmpty();
    }

    /// The same, taking frames at once.
    public Bystander healthy() {
        return new Bystander(delivery, Pace.HEALTHY);
    }

    /// In a few words; empty without a bystander.
    public String text() {
        return isThere() ? delivery + " " + pace.name().toLowerCase(java.util.Locale.ROOT) : "";
    }
}
