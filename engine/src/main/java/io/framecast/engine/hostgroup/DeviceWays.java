package io.framecast.engine.hostgroup;

import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.PlacementReport;
import io.framecast.api.PlacementReport.Refusal;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/// How the frames of a member of a host group got to its device, in all its sessions.
///
/// Any thread.
final class DeviceWays {
    private final Kind wanted;
    private final Map<Kind, AtomicLong> frames = new EnumMap<>(Kind.class);
    private final AtomicLong exported = new AtomicLong();
    private volatile Kind last = Kind.STAGED;
    private volatile String refusal = "no frame has come";

    /// @param wanted as the channel says
    DeviceWays(final Kind wanted) {
        this.wanted = wanted;
        List.of(Kind.SHARED, Kind.PEER, Kind.STAGED).forEach(kind -> frames.put(kind, new AtomicLong()));
    }

    Kind wanted() {
        return wanted;
    }

    /// @param way SHARED, PEER or STAGED
    void count(final Kind way, final int count) {
        final AtomicLong counted = frames.get(way);
        if (counted != null) {
            counted.addAndGet(count);
        }
        last = way;
    }

    /// This member copied a frame to its device for all.
    void countExported() {
        exported.incrementAndGet();
    }

    /// Why frames come out of the leader's ring, in a few words.
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

    private long count(final Kind way) {
        final AtomicLong counted = frames.get(way);
        return counted == null ? 0 : counted.get();
    }
}
