package io.framecast.reliability.sim.plan;

/// Runs whose options are drawn from their seeds.
///
/// @param receivers in each run
/// @param loss mean loss of all links, or negative to draw it too
/// @param crashes whether processes die, come back and stand still
/// @param oneSided whether members act on their sources' memory
/// @param direct whether these land payloads where they cannot read them, some of them or all
/// @param hostGroup processes of each host, which share one membership; 1: none share
/// @param mixed whether these have delivery policies of their own; else all are reliable
/// @param plant the injected bug
public record Swarm(
        int receivers,
        double loss,
        boolean crashes,
        boolean oneSided,
        boolean direct,
        int hostGroup,
        boolean mixed,
        Plant plant) {
    /// Runs without an injected bug and without crashes.
    public static Swarm of(final int receivers, final double loss) {
        return new Swarm(receivers, loss, false, false, false, 1, false, Plant.NONE);
    }

    public Swarm withCrashes() {
        return new Swarm(receivers, loss, true, oneSided, direct, hostGroup, mixed, plant);
    }

    public Swarm withOneSided() {
        return new Swarm(receivers, loss, crashes, true, direct, hostGroup, mixed, plant);
    }

    /// Receivers whose payloads land in device memory.
    public Swarm withDirect() {
        return new Swarm(receivers, loss, crashes, true, true, hostGroup, mixed, plant);
    }

    /// Each receiver is a host of that many processes.
    public Swarm withHostGroup(final int processes) {
        return new Swarm(receivers, loss, crashes, oneSided, direct, processes, mixed, plant);
    }

    /// Processes of one host have delivery policies of their own.
    public Swarm withMixed() {
        return new Swarm(receivers, loss, crashes, oneSided, direct, hostGroup, true, plant);
    }

    public Swarm withPlant(final Plant value) {
        return new Swarm(receivers, loss, crashes, oneSided, direct, hostGroup, mixed, value);
    }
}
