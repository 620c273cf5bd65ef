package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.HostPort;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The keys that separate lanes on one group.
final class LaneKeysTest {
    private static final int SLOTS = 8;
    private static final int PORTS = 1000;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);

    @Test
    void shouldTellLanesPortsAndGroupsApart() {
        final Set<Integer> keys = new HashSet<>();
        for (final String group : new String[] {"239.77.5.6", "239.77.5.7", "ff15::77:6"}) {
            for (int port = 4000; port < 4000 + PORTS; port++) {
                final HostPort at = new HostPort(group, port);
                keys.add(LaneKeys.shared(at, LaneKind.REPAIR));
                keys.add(LaneKeys.shared(at, LaneKind.CONTROL));
            }
        }
        assertEquals(3 * PORTS * 2, keys.size());
        // Those with the highest bit are the kernel's.
        assertTrue(keys.stream().allMatch(key -> key >= 0));
    }

    @Test
    void shouldDrawAKeyForEachSource() {
        final Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < PORTS; i++) {
            keys.add(LaneKeys.ownData());
        }
        // Two of a thousand among two milliards may be the same.
        assertTrue(keys.size() > PORTS - 3 && keys.stream().allMatch(key -> key >= 0));
    }

    /// The device drops it, before it uses up a receive: a lane that had to filter would count it as malformed.
    @Test
    void shouldKeepAnotherSourcesDataFromALaneAndItsReceives() {
        try (Arena arena = Arena.ofShared();
                Transport transport = LaneRings.openTransport();
                Lane first = RINGS.source(transport, arena);
                Lane second = RINGS.source(transport, arena);
                Lane ofFirst = RINGS.receiver(transport, arena, first);
                Lane ofSecond = RINGS.receiver(transport, arena, second)) {
            ofFirst.post(0, 2);
            ofSecond.post(0, SLOTS);
            assertEquals(SLOTS, second.multicast(0, SLOTS));
            assertEquals(2, first.multicast(0, 2));
            final Completions completions = new Completions(SLOTS);
            assertEquals(2, ofFirst.poll(completions));
            completions.clear();
            assertEquals(SLOTS, ofSecond.poll(completions));
            assertEquals(0, ofFirst.counter(LaneCounter.MALFORMED));
            assertEquals(0, ofSecond.counter(LaneCounter.MALFORMED));
        }
    }
}
