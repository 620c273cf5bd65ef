package io.framecast.reliability.secure;

import java.lang.foreign.MemorySegment;

/// Sends the datagrams of handshakes and of new keys, which are complete.
public interface HandshakeOutput {
    /// Sends a datagram on the control lane, or loses it.
    ///
    /// @param address the peer's control address
    /// @param datagram valid until this returns
    void send(byte[] address, MemorySegment datagram, int bytes);
}
