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
        return draw(transport, 1, coRoots, seed, count);
    }

    private static List<DrawnFault> draw(
            final String transport, final int perHost, final int coRoots, final long seed, final int count) {
        final FaultDraw draw = new FaultDraw(new ChaosPlan(
                transport, seed, 60, 6, perHost, coRoots, 0.01, ALIVE_MS, 1_500, 60, 200_000, InjectedBug.NONE));
        final List<DrawnFault> faults = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            faults.add(draw.next());
        }
        return faults;
    }

    private static Set<FaultKind> ofKind(final boolean ofGroup) {
        final Set<FaultKind> kinds = EnumSet.allOf(FaultKind.class);
        kinds.removeIf(kind -> kind.isOfGroup() != ofGroup);
        return kinds;
    }

    @Test
    void shouldDrawFaultsOfGroupsWhereHostsHaveSeveralProcesses() {
        for (long seed = 0; seed < 50; seed++) {
            final Set<FaultKind> drawn = EnumSet.noneOf(FaultKind.class);
            draw(ChaosPlan.UDP, 3, 0, seed, ofKind(true).size()).forEach(fault -> drawn.add(fault.kind()));
            assertEquals(ofKind(true), drawn);
        }
    }

    @Test
    void shouldDrawEveryKindBeforeAnyTwice() {
        final Set<FaultKind> all = ofKind(false);
        final int kinds = all.size();
        for (long seed = 0; seed < 50; seed++) {
            final Set<FaultKind> drawn = EnumSet.noneOf(FaultKind.class);
            draw(seed, kinds).forEach(fault -> drawn.add(fault.kind()));
            assertEquals(all, drawn);
        }
    }

    @Test
    void shouldDrawNoGarbageWhereThereIsNoAttacker() {
        for (long seed = 0; seed < 50; seed++) {
            final Set<FaultKind> drawn = EnumSet.noneOf(FaultKind.class);
            final Set<FaultKind> all = ofKind(false);
            all.remove(FaultKind.GARBAGE);
            draw(ChaosPlan.VERBS, 2, seed, all.size()).forEach(fault -> drawn.add(fault.kind()));
            assertEquals(all, drawn);
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
