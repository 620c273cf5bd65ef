package io.framecast.reliability.flow;

/// The event that made an acknowledgement due.
public enum AckTrigger {
    /// M datagrams arrived since the last.
    DATAGRAMS,
    /// Half of the advertised credit was used.
    HALF_CREDIT,
    /// The source asked, the stream began or ended, or there is news that cannot wait.
    REQUEST,
    /// A frame's last datagram arrived.
    FRAME_END,
    /// Slots were freed, and the source is to know that.
    CREDIT,
    /// Time: after any other datagram, or after silence.
    TIMER,
    /// A NACK was sent, and carried an acknowledgement that was not due yet.
    PIGGYBACK
}
