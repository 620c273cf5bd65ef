package io.framecast.reliability;

import io.framecast.reliability.wire.StreamInfo;

/// What a sender of one session is made with.
///
/// @param stream what it announces
/// @param membersMax receivers it serves at once, 1 … 4096
/// @param clockOffsetNs what is added to the engine's time for the clock that frames are stamped by
/// @param coRoots who helps it
public record SenderConfig(StreamInfo stream, int membersMax, long clockOffsetNs, CoRootConfig coRoots) {
    public static final int MEMBERS_MAX_DEFAULT = 256;

    public SenderConfig {
        if (membersMax < 1 || membersMax > 4096) {
            throw new IllegalArgumentException("members: expected 1 … 4096, got " + membersMax);
        }
    }

    /// Nobody helps it.
    public SenderConfig(final StreamInfo stream, final int membersMax, final long clockOffsetNs) {
        this(stream, membersMax, clockOffsetNs, CoRootConfig.NONE);
    }
}
