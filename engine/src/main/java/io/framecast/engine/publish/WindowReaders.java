package io.framecast.engine.publish;

import io.framecast.api.MemberStats;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.window.FrameReaders;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongToIntFunction;

/// The readers of a source's window beside the network: [HostReaders], or [NoReaders].
///
/// Threading: each method names its thread. "Publisher" is the thread of the user's publisher, "sender" the thread that
/// runs the source's cycle.
interface WindowReaders extends AutoCloseable {
    /// The readers as the writer of frames sees them. Its methods are the publisher's, and [FrameReaders#hasRoom]
    /// any thread's.
    FrameReaders frames();

    /// Any thread: the number of readers.
    int count();

    /// Publisher: sleeps until the condition holds or the time is over.
    void await(BooleanSupplier condition, Duration longest, SessionHost host, Waiter publisher);

    /// Publisher: whether the sender has to do with what was committed; else [FrameReaders#reclaim] does.
    ///
    /// @param members the number of ready members
    boolean isHeard(IntSupplier members);

    /// Sender: runs a part of the cycle that [FrameReaders#reclaim] must not meet.
    ///
    /// @return the work that was done
    int exclusively(LongToIntFunction part, long nowNs);

    /// Sender: [FrameReaders#reclaim] frees nothing any more.
    void stop();

    /// Any thread: ends the publisher's wait.
    void wake();

    /// Publisher: no frame follows.
    void end();

    /// Any thread: the readers as their publisher's user sees them.
    List<MemberStats> stats();

    /// Sender, ten times a second: updates counters, and notices a reader that holds the publisher up.
    ///
    /// @param blocked whether the publisher has no room
    void look(boolean blocked, long nowNs);

    /// Why no frame is sent from device memory; empty where the readers do not mind.
    String gatherRefusal();

    @Override
    void close();
}
