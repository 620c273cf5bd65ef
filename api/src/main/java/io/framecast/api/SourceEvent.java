package io.framecast.api;

import java.util.HexFormat;

/// A change in the state of one of a subscriber's sources.
///
/// @param session the source's session: a number of its own for each life of a source, see
///     [DeviceFrame#session]
/// @param firstFrameId when joined: number of the session's first frame that is given or reported lost. Where a
///     session is joined again that is behind the last one given: what lies between was sent meanwhile, and is
///     reported lost. Else [#NO_FRAME]
/// @param reason when lost: why, in one line; else empty
public record SourceEvent(long session, Kind kind, long firstFrameId, String reason) {
    public static final long NO_FRAME = -1;

    /// A session's number as the tool, counters and logs write it: 16 hexadecimal digits.
    public static String sessionText(final long session) {
        return HexFormat.of().toHexDigits(session);
    }

    @Override
    public String toString() {
        return "SourceEvent[session=" + sessionText(session) + ", kind=" + kind + ", firstFrameId=" + firstFrameId
                + ", reason=" + reason + "]";
    }

    /// Kinds of changes.
    public enum Kind {
        /// Frames of this session follow.
        JOINED,
        /// As JOINED, after a source was lost: the same session, or with `sources=1` another one. Frames were
        /// missed: take up the stream anew.
        REJOINED,
        /// It said that this was all, and every frame up to it was given.
        ENDED,
        /// It fell silent, closed without an end, evicted this subscriber, or does not hold any more what this
        /// subscriber lacks; what was whole was given. With `rejoin=` it is waited for.
        LOST
    }
}
