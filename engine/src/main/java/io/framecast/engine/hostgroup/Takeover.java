package io.framecast.engine.hostgroup;

import io.framecast.reliability.group.FollowersToAwait;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;

/// The state that a successor adopts: the membership, and the part of a frame that had arrived.
///
/// @param generation of the leader's segment
/// @param payload of the frame in progress, as far as it was acknowledged; in the leader's ring
/// @param waitedFor whether the source waits for the leader, as far as the source announced it
/// @param isNewest whether no other successor has claimed the membership since; any thread
/// @param followersToAwait the members that followed it; the new owner closes them
/// @param end runs when the payload is not read any more
public record Takeover(
        long generation,
        StreamInfo stream,
        Checkpoint checkpoint,
        MemorySegment payload,
        boolean waitedFor,
        BooleanSupplier isNewest,
        FollowersToAwait followersToAwait,
        Runnable end)
        implements AutoCloseable {
    @Override
    public void close() {
        end.run();
    }
}
