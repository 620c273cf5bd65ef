package io.framecast.reliability.sim.secure;

import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.lane.DataOpener;
import io.framecast.reliability.lane.DataSealer;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/// Makes the ends of protected streams for simulated processes, with the real cipher. All randomness is the
/// caller's, so that a seed replays.
///
/// Threading: the thread of the run. Each end belongs to the caller, which closes it.
public interface SimSecurity {
    /// The seal of the data, never [Seal#NONE].
    Seal seal();

    /// Whether payloads are authenticated as well as headers: then a changed payload must be noticed.
    default boolean sealsPayloads() {
        return seal() != Seal.HEADER;
    }

    /// Makes a source's end.
    ///
    /// @param handshakesMax handshakes that are kept
    Source source(long session, int handshakesMax, RandomGenerator random, Output output);

    /// Makes a receiver's end, for all sessions of its process.
    ///
    /// @param address its control address
    /// @param previousNs time for which keys of an epoch are taken after later ones are in use
    /// @param onHeartbeat takes the heartbeat with which a handshake began, once it is verified
    Receiver receiver(
            byte[] address, long previousNs, RandomGenerator random, Output output, Announcements onHeartbeat);

    /// Sends the datagrams of handshakes and of new keys, which are complete.
    interface Output {
        void send(byte[] address, MemorySegment datagram, int bytes);
    }

    /// Takes a verified heartbeat.
    interface Announcements {
        void onHeartbeat(MemorySegment datagram, long offset, int bytes, long nowNs);
    }

    /// A source's end.
    interface Source extends AutoCloseable {
        ControlProtection control();

        DataSealer data();

        /// Removes a receiver's handshake, so that it gets no new keys.
        void evict(int handshakeId);

        /// The next keys are used only where this holds.
        ///
        /// @param next the first sequence that was not sealed yet
        void useWhere(BooleanSupplier condition, LongSupplier next);

        /// The epoch that it seals under.
        int epoch();

        /// Makes the next epoch's keys.
        ///
        /// @param limitNs time to wait for members
        /// @param members whether a handshake is a member's that is waited for
        void rekey(long nowNs, long limitNs, IntPredicate members);

        /// All that a member knows of the epoch in use.
        ///
        /// @param counter of the last control datagram that the insider's first one follows
        Insider insider(long counter);

        @Override
        void close();
    }

    /// A receiver's end.
    interface Receiver extends AutoCloseable {
        ControlProtection control();

        /// A new receiver's id in a session; 0 where there are no keys of it.
        long receiverId(long session, RandomGenerator ids);

        /// Begins a handshake with the source of a session, unless one is under way or over.
        ///
        /// @return whether there are keys
        boolean agree(long session, byte[] sourceAddress, long nowNs);

        /// Gives up the keys of a session, until [#forget].
        void refuse(long session);

        /// Opens the data of a session; nothing where there are no keys.
        DataOpener data(long session);

        /// Wipes the keys of a session.
        void forget(long session);

        @Override
        void close();
    }

    /// An attacker with a copy of an epoch's keys, which seals any datagram.
    interface Insider extends DataSealer, AutoCloseable {
        /// The epoch of the keys.
        int epoch();

        /// Seals as the source does to the group.
        ///
        /// @return length of the sealed datagram
        int sealToGroup(MemorySegment datagram, int bytes);

        /// Seals as a member does to other members.
        ///
        /// @param senderId of the member
        /// @return length of the sealed datagram
        int sealToMember(MemorySegment datagram, int bytes, long senderId);

        @Override
        void close();
    }
}
