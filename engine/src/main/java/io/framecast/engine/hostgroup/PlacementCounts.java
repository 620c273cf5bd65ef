package io.framecast.engine.hostgroup;

import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.PlacementReport;
import io.framecast.api.PlacementReport.Refusal;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/// The placements by which the frames of a host group's member reached its device, counted over all its sessions.
///
/// Any thread.
final class PlacementCounts {
    private final Kind wanted;
    private final Map<Kind, AtomicLong> frames = new EnumMap<>(Kind.class);
    private final AtomicLong exported = new AtomicLong();
    private volatile Kind last = Kind.STAGED;
    private volatile String refusal = "no frame has come";

    /// @param wanted as the channel says
    PlacementCounts(final Kind wanted) {
        this.wanted = wanted;
        List.of(Kind.SHARED, Kind.PEER, Kind.STAGED).forEach(kind -> frames.put(kind, new AtomicLong()));
    }

    Kind wanted() {
        return wanted;
    }

    /// @param kind SHARED, PEER or STAGED
    void count(final Kind kind, final int count) {
        final AtomicLong counted = frames.get(kind);
        if (counted != null) {
            counted.addAndGet(count);
        }
        last = kind;
    }

    /// This member copied a frame to its device for all.
    void countExported() {
        exported.incrementAndGet();
    }

    /// Notes why frames come out of the leader's ring, in a few words.
    void refuse(final String reason) {
        refusal = reason;
    }

    PlacementReport report() {
        final List<Refusal> refused = new ArrayList<>();
        if (wanted != Kind.SHARED && last != Kind.SHARED && wanted != Kind.STAGED) {
            refused.add(new Refusal(Kind.SHARED, "used only where placement=shared asks for it"));
        }
        if (last == Kind.STAGED && wanted != Kind.STAGED) {
            refused.add(new Refusal(wanted == Kind.SHARED ? Kind.SHARED : Kind.PEER, refusal));
        }
        return new PlacementReport(
                last,
                0,
                refused,
                Map.of(
                        "shared", count(Kind.SHARED),
                        "peer", count(Kind.PEER),
                        "staged", count(Kind.STAGED),
                        "exported", exported.get()));
    }

    private long count(final Kind kind) {
        final AtomicLong counted = frames.get(kind);
        return counted == null ? 0 : counted.get();
    }
}
