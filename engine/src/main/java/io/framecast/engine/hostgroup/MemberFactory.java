package io.framecast.engine.hostgroup;

import io.framecast.api.Subscriber;

/// Makes the member that a leader is to the source.
public interface MemberFactory {
    /// Opens a member that shares its frames.
    Subscriber open(GroupLeader leader);

    /// Opens a member and its part in a session, and closes them again, so that the classes are there when a successor
    /// needs them. Sends nothing and receives nothing.
    void warmUp(GroupLeader leader);
}
