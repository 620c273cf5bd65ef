package io.framecast.engine.testing;

import io.framecast.api.spi.LaneKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Copies of the datagrams that a [ScriptedTransport] sends: for each kind of lane the first ones and the last
/// ones. One thread.
public final class SentDatagrams implements ScriptedTransport.Listener {
    private static final int FIRST_MAX = 64;
    private static final int KEPT_MAX = 512;
    private static final int LATEST_MAX = 32;

    private final Map<LaneKind, List<byte[]>> sent = new EnumMap<>(LaneKind.class);
    private final Map<LaneKind, Deque<byte[]>> latest = new EnumMap<>(LaneKind.class);
    private long copies;

    public SentDatagrams() {
        for (final LaneKind kind : LaneKind.values()) {
            sent.put(kind, new ArrayList<>());
            latest.put(kind, new ArrayDeque<>());
        }
    }

    @Override
    public void onSent(final ScriptedLane lane, final byte[] datagram) {
        final Deque<byte[]> newest = Objects.requireNonNull(latest.get(lane.kind()));
        if (newest.size() == LATEST_MAX) {
            newest.remove();
        }
        newest.add(datagram);
        final List<byte[]> kept = sent(lane.kind());
        if (kept.size() < KEPT_MAX) {
            kept.add(datagram);
        } else {
            kept.set(FIRST_MAX + (int) (copies++ % (KEPT_MAX - FIRST_MAX)), datagram);
        }
    }

    /// Copies of datagrams that a lane sent, in no order.
    public List<byte[]> sent(final LaneKind kind) {
        return Objects.requireNonNull(sent.get(kind));
    }

    /// Copies of the datagrams that a lane sent last, the newest at the end. The caller may change them.
    public List<byte[]> latest(final LaneKind kind) {
        return Objects.requireNonNull(latest.get(kind)).stream()
                .map(byte[]::clone)
                .toList();
    }
}
