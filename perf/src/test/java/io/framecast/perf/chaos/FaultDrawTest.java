package io.framecast.perf.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class FaultDrawTest {
    private static final long ALIVE_MS = 2_000;

    private static List<DrawnFault> draw(final long seed, final int count) {
        return draw(ChaosPlan.UDP, 2, seed, count);
    }

    private static List<DrawnFault> draw(final String transport, final int coRoots, final long seed, final int count) {
        final FaultDraw draw = new FaultDraw(
                new ChaosPlan(transport, seed, 60, 6, coRoots, 0.01, ALIVE_MS, 1_500, 60, 200_000, InjectedBug.NONE));
        final List<DrawnFault> faults = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            faults.add(draw.next());
        }
        return faults;
    }

    @Test
    void shouldDrawEveryKindBeforeAnyTwice() {
        final int kinds = FaultKind.values().length;
        for (long seed = 0; seed < 50; seed++) {
            final Set<FaultKind> drawn = EnumSet.noneOf(FaultKind.class);
            draw(seed, kinds).forEach(fault -> drawn.add(fault.kind()));
            assertEquals(kinds, drawn.size());
        }
    }

    @Test
    void shouldDrawNoGarbageWhereThereIsNoAttacker() {
        for (long seed = 0; seed < 50; seed++) {
            final Set<FaultKind> drawn = EnumSet.noneOf(FaultKind.class);
            draw(ChaosPlan.VERBS, 2, seed, FaultKind.values().length - 1).forEach(fault -> drawn.add(fault.kind()));
            assertEquals(EnumSet.complementOf(EnumSet.of(FaultKind.GARBAGE)), drawn);
        }
    }

    @Test
    void shouldDrawNothingForCoRootsWhereThereAreNone() {
        for (long seed = 0; seed < 50; seed++) {
            draw(ChaosPlan.UDP, 0, seed, 40)
                    .forEach(fault -> assertFalse(fault.kind().isOfCoRoot(), fault.text()));
        }
    }

    @Test
    void shouldDrawTheSameFromTheSameSeed() {
        assertEquals(draw(3, 40), draw(3, 40));
        assertNotEquals(draw(3, 40), draw(4, 40));
    }

    @Test
    void shouldKeepClearOfAliveTimeout() {
        boolean hasBriefLink = false;
        for (long seed = 0; seed < 50; seed++) {
            for (final DrawnFault fault : draw(seed, 40)) {
                assertTrue(fault.pauseMs() >= 2_000 && fault.pauseMs() <= 5_000);
                if (fault.kind().isFatal()) {
                    assertTrue(fault.kind().isKill() || fault.durationMs() >= 1.2 * ALIVE_MS, fault.text());
                } else {
                    assertTrue(fault.durationMs() <= 0.6 * ALIVE_MS, fault.text());
                    final boolean isLink = fault.text().contains("link down");
                    hasBriefLink |= isLink;
                    assertTrue(!isLink || fault.durationMs() + 1_000 <= 0.8 * ALIVE_MS, fault.text());
                }
            }
        }
        assertTrue(hasBriefLink);
    }
}
