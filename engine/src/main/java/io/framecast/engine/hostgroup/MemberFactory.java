package io.framecast.engine.hostgroup;

import io.framecast.api.Subscriber;

/// Makes what a leader is to the source.
public interface MemberFactory {
    /// A member that shares what it receives.
    Subscriber open(GroupLeader leader);

    /// Opens a member and its part in a session, and closes them again, so that the classes are there when a successor
    /// needs them. Sends nothing and receives nothing.
    void rehearse(GroupLeader leader);
}
