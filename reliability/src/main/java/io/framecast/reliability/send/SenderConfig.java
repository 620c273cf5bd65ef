package io.framecast.reliability.send;

import io.framecast.reliability.wire.StreamInfo;

/// The configuration of a sender of one session.
///
/// @param stream its announcement
/// @param membersMax receivers it serves at once, 1 … 4096
/// @param clockOffsetNs offset from the engine's time to the clock that stamps frames
/// @param coRoots number and grouping of its co-roots
public record SenderConfig(StreamInfo stream, int membersMax, long clockOffsetNs, CoRootConfig coRoots) {
    public static final int MEMBERS_MAX_DEFAULT = 256;

    public SenderConfig {
        if (membersMax < 1 || membersMax > 4096) {
            throw new IllegalArgumentException("members: expected 1 … 4096, got " + membersMax);
        }
    }
}
