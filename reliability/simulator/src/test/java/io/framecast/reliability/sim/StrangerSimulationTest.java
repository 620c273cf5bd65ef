package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimReport;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// A stranger hears the group, and sends JOIN, READY, NACK, RESUME and others with its own and with foreign
/// addresses: to a host that has not returned ADMIT's value goes ADMIT alone, and the stream goes on as without
/// it.
final class StrangerSimulationTest {
    private static final long UNTIL_NS = 1_200_000_000;

    private static List<SimStranger> run(final long seed, final SimOptions options) {
        final List<SimStranger> strangers = new ArrayList<>();
        final SimReport report = Simulation.run(seed, options, (_, source, _) -> {
            final SimStranger stranger = new SimStranger(source.world(), seed);
            strangers.add(stranger);
            stranger.begin(UNTIL_NS);
        });
        assertEquals(List.of(), report.violations(), () -> "seed " + seed);
        return strangers;
    }

    @Test
    void shouldSendAdmitAloneToAStrangerWhereNothingIsLost() {
        for (long seed = 1; seed <= 5; seed++) {
            for (final SimStranger stranger : run(seed, SimOptions.quiet(4, 100))) {
                assertTrue(stranger.sent() > 100 && stranger.admits() > 0, () -> stranger.admits() + " ADMIT");
            }
        }
    }

    @Test
    void shouldSendAdmitAloneToAStrangerWhateverIsLost() {
        for (long seed = 1; seed <= 40; seed++) {
            run(seed, SimOptions.draw(new SplittableRandom(seed), Swarm.of(4, -1)));
        }
    }

    @Test
    void shouldSendAdmitAloneToAStrangerWhereLeadersDie() {
        for (long seed = 1; seed <= 20; seed++) {
            final Swarm swarm = Swarm.of(4, -1).withCrashes().withHostGroup(3);
            run(seed, SimOptions.draw(new SplittableRandom(seed), swarm));
        }
    }
}
