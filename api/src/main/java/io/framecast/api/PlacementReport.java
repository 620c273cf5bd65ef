package io.framecast.api;

import io.framecast.api.PlacementOptions.Kind;
import java.util.List;
import java.util.stream.Collectors;

/// Which way a subscriber's payloads take into its device's memory, and why not a better one.
///
/// @param kind the way taken; never AUTO. Where frames land in host memory there is no report
/// @param fastcopyMaxBytes under FASTCOPY the longest run that the CPU stores; else 0
/// @param refused the ways tried before it, in the order tried
public record PlacementReport(Kind kind, long fastcopyMaxBytes, List<Refusal> refused) {
    /// A way that cannot be taken.
    ///
    /// @param reason in a few words
    public record Refusal(Kind kind, String reason) {
        @Override
        public String toString() {
            return "no " + kind.word() + ": " + reason;
        }
    }

    public PlacementReport {
        if (kind == Kind.AUTO) {
            throw new IllegalArgumentException("placement: expected the way that was taken, got auto");
        }
        refused = List.copyOf(refused);
    }

    /// One line: the way, and what was refused.
    @Override
    public String toString() {
        final String way = kind == Kind.FASTCOPY ? "fastcopy up to " + fastcopyMaxBytes + " bytes" : kind.word();
        return refused.isEmpty()
                ? way
                : refused.stream().map(Refusal::toString).collect(Collectors.joining("; ", way + " (", ")"));
    }
}
