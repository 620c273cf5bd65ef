package io.framecast.api;

import io.framecast.api.PlacementOptions.Kind;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// The placement of a subscriber's payloads in its device's memory, and why not a better one.
///
/// @param kind the placement in use; never AUTO. For frames in host memory there is no report
/// @param fastcopyMaxBytes under FASTCOPY the longest run that the CPU stores; else 0
/// @param refused the placements tried before it, in the order tried
/// @param frames in a host group, where each frame may come another way: how many came by which placement, and how
///     many this subscriber copied to its device for all (`exported`); else empty
public record PlacementReport(Kind kind, long fastcopyMaxBytes, List<Refusal> refused, Map<String, Long> frames) {
    /// A placement that cannot be used here.
    ///
    /// @param kind the placement; never AUTO
    /// @param reason in a few words, without the placement's name
    public record Refusal(Kind kind, String reason) {
        @Override
        public String toString() {
            return "no " + kind.word() + ": " + reason;
        }
    }

    public PlacementReport {
        if (kind == Kind.AUTO) {
            throw new IllegalArgumentException("placement: expected the placement in use, got auto");
        }
        refused = List.copyOf(refused);
        frames = Map.copyOf(frames);
    }

    /// Of a subscriber that has one placement.
    public PlacementReport(final Kind kind, final long fastcopyMaxBytes, final List<Refusal> refused) {
        this(kind, fastcopyMaxBytes, refused, Map.of());
    }

    /// The placement in a few words.
    public String summary() {
        return kind == Kind.FASTCOPY ? "fastcopy up to " + fastcopyMaxBytes + " bytes" : kind.word();
    }

    /// One line: the placement, and the refused ones.
    @Override
    public String toString() {
        final String text = summary();
        return refused.isEmpty()
                ? text
                : refused.stream().map(Refusal::toString).collect(Collectors.joining("; ", text + " (", ")"));
    }
}
