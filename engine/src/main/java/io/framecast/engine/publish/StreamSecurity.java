package io.framecast.engine.publish;

import io.framecast.engine.session.CounterBoard;

/// The access to a source's stream: for receivers with a key ([KeyedStream]), or for every receiver ([OpenStream]).
///
/// Used by the sender's thread.
interface StreamSecurity extends AutoCloseable {
    /// Handshakes and changes of keys, in each cycle, behind the datagrams that came.
    ///
    /// @return the work that was done
    int doWork(long nowNs);

    /// When [#doWork] has something to do; [Long#MAX_VALUE] for never.
    long nextDeadlineNs();

    /// A member was evicted, and has its notice.
    void onEvicted(long receiverId);

    /// Ten times a second: notices strangers.
    void look(long nowNs);

    /// Adds its counters to the source's.
    void countOn(CounterBoard board);

    /// Tag of the key that readers on this host need, as [io.framecast.engine.auth.AuthKeys#hostTag] has it; empty
    /// where they need none.
    String hostTag();

    /// Why no subscriber on this host may read the window; empty for no reason.
    String shareObstacle();

    @Override
    void close();
}
