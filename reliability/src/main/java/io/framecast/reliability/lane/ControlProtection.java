package io.framecast.reliability.lane;

import java.lang.foreign.MemorySegment;

/// Seals and opens the control datagrams of one end of protected streams (`auth=`), in place, and leads the handshakes
/// that give it the keys (docs/protocol.md, Protected streams).
///
/// Memory is native. One thread. Nothing is allocated for a datagram, but by handshakes. It owns keys, which
/// [#close] wipes.
public interface ControlProtection extends AutoCloseable {
    /// Memory that a sealed datagram may need behind the plain one, bytes.
    int TRAILER_BYTES_MAX = 24;

    /// Seals a datagram of the source to the group.
    ///
    /// @param datagram begins with the datagram, and has room for the longest sealed one
    /// @param bytes length of the plain datagram
    /// @return length of the sealed datagram; 0 where it must not be sent, because there is no key or its key was
    ///     used too often
    int sealToGroup(MemorySegment datagram, int bytes);

    /// Seals a datagram between source and member: the receiver's id in its header selects the key, and 0 that of the
    /// group.
    ///
    /// @return as of [#sealToGroup]
    int sealToPeer(MemorySegment datagram, int bytes);

    /// Seals a datagram between members.
    ///
    /// @param senderId the receiver's id of this end, which the sealed datagram carries
    /// @return as of [#sealToGroup]
    int sealToMember(MemorySegment datagram, int bytes, long senderId);

    /// Opens a datagram that arrived. An opened datagram is as it was before it was sealed, but for the counter.
    ///
    /// @param offset of the datagram, at which `bytes` may be written
    /// @return length of the plain datagram; 0 where it was dropped, or was part of a handshake
    int open(MemorySegment memory, long offset, int bytes, long nowNs);

    /// Repeats unanswered messages, gives up, retires keys.
    ///
    /// @return number of things done
    int doWork(long nowNs);

    /// The time of the next [#doWork], or `Long.MAX_VALUE`.
    long nextDeadlineNs();

    @Override
    void close();
}
