package io.framecast.api.spi;

/// Counters of a lane.
public enum LaneCounter {
    SENT_DATAGRAMS,
    SENT_BYTES,
    RECEIVED_DATAGRAMS,
    RECEIVED_BYTES,
    /// Datagrams longer than a slot, dropped.
    TRUNCATED,
    /// Datagrams shorter than the ring's header, or with a segment size that does not fit, dropped.
    MALFORMED,
    /// Sends that the system refused for want of room (ENOBUFS, EAGAIN), tried again later.
    SEND_BACK_PRESSURED,
    /// Other errors of the system, survived (ENETDOWN, EPERM, EMSGSIZE …).
    SYSTEM_ERRORS,
    /// Datagrams that the kernel or driver dropped for want of receive room, where it reports them; joined
    /// datagrams count once.
    RECEIVE_OVERRUNS
}
