package io.framecast.engine.hostgroup;

import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.reliability.wire.Delivery;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/// A leader's connection to one follower. Under the leader's lock.
final class FollowerConnection {
    private final UnixSocket socket;
    private final int waker = EventCount.open();
    private final long process;
    // Its own, the same to all leaders that it follows.
    private long number;
    private boolean known;
    private long generation;
    private Delivery delivery = Delivery.RELIABLE;
    // Its place in each segment that it was given and that is not retired.
    private final Map<LeaderSegment, Integer> places = new HashMap<>();

    FollowerConnection(final UnixSocket socket) {
        this.socket = socket;
        process = socket.peerProcess();
    }

    UnixSocket socket() {
        return socket;
    }

    int waker() {
        return waker;
    }

    long process() {
        return process;
    }

    /// The number that it names to each leader.
    long number() {
        return number;
    }

    /// Whether it has said who it is.
    boolean isKnown() {
        return known;
    }

    /// @param hello what it says of itself
    void introduce(final MemorySegment hello) {
        known = true;
        number = GroupMessage.sender(hello);
        generation = GroupMessage.generation(hello);
        delivery = GroupMessage.delivery(hello);
    }

    // Any segment: its leader may have died before it shared anything.
    boolean followedEarlier() {
        return known && subscribes() && generation != 0;
    }

    /// False for a connection that copies for other members.
    boolean subscribes() {
        return generation != GroupMessage.NO_SUBSCRIBER;
    }

    /// Its place in each segment that it was given.
    Map<LeaderSegment, Integer> places() {
        return places;
    }

    /// A place in a segment that it is to get.
    ///
    /// @return negative where there is none
    int admit(final LeaderSegment shared) {
        final int member = shared.admit(process, waker, subscribes() ? delivery : null);
        if (member >= 0) {
            places.put(shared, member);
        }
        return member;
    }

    /// Closes what a segment wakes it by, where none does.
    ///
    /// @return false where one does
    boolean closeUnused() {
        return places.isEmpty() && Libc.close(waker) == 0;
    }

    /// It is gone.
    void dismiss() {
        places.forEach(LeaderSegment::dismiss);
        socket.close();
        Libc.close(waker);
    }
}
