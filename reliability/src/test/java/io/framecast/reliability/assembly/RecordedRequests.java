package io.framecast.reliability.assembly;

import io.framecast.reliability.repair.RepairRequests;
import java.util.ArrayList;
import java.util.List;

/// Notes what a placement reports of its room.
final class RecordedRequests implements RepairRequests {
    private final List<String> reports = new ArrayList<>();

    /// The reports since the last call.
    List<String> take() {
        final List<String> taken = List.copyOf(reports);
        reports.clear();
        return taken;
    }

    @Override
    public void room(final int frames, final long slots, final long nowNs) {
        reports.add("room for " + frames + " frames of " + slots + " at " + nowNs);
    }

    @Override
    public void defer(final long first, final long slots, final long dueNs) {
        reports.add("defer " + first + " of " + slots + " to " + dueNs);
    }

    @Override
    public void retryNow(final long first, final long slots, final long nowNs) {
        reports.add("retry " + first + " of " + slots + " at " + nowNs);
    }

    @Override
    public void ask(final long sequence, final long nowNs) {
        throw new AssertionError("a placement asks for no datagram");
    }

    @Override
    public void escalate(final long sequence, final long nowNs) {
        throw new AssertionError("a placement asks for no datagram");
    }
}
