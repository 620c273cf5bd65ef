package io.framecast.reliability.group;

/// What a member finds in a segment.
public enum StreamStatus {
    /// There is no session yet, or its leader is no member yet.
    NONE,
    /// An entry waits.
    FRAMES,
    /// Nothing waits, and more may come.
    STREAMING,
    /// The stream has ended, and every entry was read.
    ENDED,
    /// The source is lost, and every entry was read.
    LOST
}
