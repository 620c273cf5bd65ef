package io.framecast.engine.publish;

import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.window.SendWindow;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/// A source as its publisher's thread sees it: members, room in the window, the end and a failure. The sender's
/// thread writes it in each cycle.
///
/// Threading: each method names its thread. "Publisher" is the thread of the user's publisher, "sender" the thread that
/// runs the source's cycle.
final class SourceStatus {
    private final SendWindow window;
    private final WindowReaders readers;
    private final IntSupplier members = this::networkMembers;
    private final Waiter publisher = new Waiter();
    private volatile int wantedSlots;
    private volatile int networkMembers;
    private volatile int networkSubscribers;
    private volatile boolean ending;
    private volatile boolean drained;
    private volatile boolean settled;
    private volatile @Nullable String failure;

    SourceStatus(final SendWindow window, final WindowReaders readers) {
        this.window = window;
        this.readers = readers;
    }

    /// Any thread: members, and subscribers on this host that read the window.
    int readyMembers() {
        return networkMembers + readers.count();
    }

    /// Any thread: subscribers that are ready: those on this host, and those for whom members stand.
    int readySubscribers() {
        return networkSubscribers + readers.count();
    }

    /// Any thread: members without those on this host.
    int networkMembers() {
        return networkMembers;
    }

    /// Sender: the members now.
    ///
    /// @param subscribers those for whom they stand
    void onMembers(final int count, final int subscribers) {
        networkMembers = count;
        networkSubscribers = subscribers;
    }

    /// Any thread: whether some member would accept that many datagrams, and the window has room for them.
    boolean hasRoom(final int slots) {
        return readyMembers() > 0
                && window.slots() - 1 - (window.committed() - window.freed()) >= slots
                && readers.frames().hasRoom();
    }

    /// Publisher: sleeps until the window has room, the other condition holds, or the time is over.
    void awaitRoom(final SessionHost host, final int slots, final BooleanSupplier over, final Duration longest) {
        wantedSlots = slots;
        readers.await(() -> hasRoom(slots) || over.getAsBoolean(), longest, host, publisher);
    }

    /// Sender: whether the publisher has no room for what it wants.
    ///
    /// @param refusedSlots of the claim that was refused last
    boolean isBlocked(final int refusedSlots) {
        return !hasRoom(Math.max(1, Math.max(refusedSlots, wantedSlots)));
    }

    /// Sender: ends the publisher's wait for room, if it is over.
    void wakeWhereRoom() {
        if (hasRoom(wantedSlots)) {
            wake();
        }
    }

    /// Any thread: the publisher looks again whether its wait is over.
    void wake() {
        publisher.wake();
        readers.wake();
    }

    /// Publisher: whether the sender's thread has to do with what was committed.
    boolean isHeard() {
        return readers.isHeard(members);
    }

    /// Publisher: no frame follows.
    void end() {
        ending = true;
        readers.end();
    }

    /// Sender: whether no frame follows those in the window.
    boolean isEnding() {
        return ending;
    }

    /// Sender: a cycle is over.
    void onCycle(final boolean isDrained, final boolean isSettled) {
        drained = isDrained;
        settled = isSettled;
    }

    /// Any thread: whether, after [#end], members have acknowledged everything.
    boolean isDrained() {
        return drained;
    }

    /// Any thread: whether the wait after [#end] is over: the session drained, or ended within a frame.
    boolean isSettled() {
        return settled;
    }

    /// Any thread: the publisher can take no more frames.
    void fail(final String reason) {
        failure = reason;
        wake();
    }

    /// Any thread: the cause of the session's end, or null.
    @Nullable
    String failure() {
        return failure;
    }
}
