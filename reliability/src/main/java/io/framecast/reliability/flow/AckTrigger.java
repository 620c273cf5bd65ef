package io.framecast.reliability.flow;

/// What made an acknowledgement due.
public enum AckTrigger {
    /// M datagrams arrived since the last.
    DATAGRAMS,
    /// Half of the advertised credit was used.
    HALF_CREDIT,
    /// The source asked, the stream began or ended, or there is news that cannot wait.
    REQUEST,
    /// A frame's last datagram arrived.
    FRAME_END,
    /// Slots were freed that the source is to know of.
    CREDIT,
    /// Time: after any other datagram, or after silence.
    TIMER,
    /// A NACK went out, and took along what was not due yet.
    PIGGYBACK
}
