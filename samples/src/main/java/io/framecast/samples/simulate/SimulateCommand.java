package io.framecast.samples.simulate;

import io.framecast.api.error.ConfigException;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.Report;
import io.framecast.samples.options.Within;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `framecast simulate`.
@Command(
        name = "simulate",
        description = "Runs the protocol in a simulated network, one run per seed, and checks every delivered byte.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast simulate --seeds 1..2000 --receivers 8 --loss 0.05",
            "  framecast simulate --seeds 1..2000 --receivers 16 --loss 0.05 --crashes",
            "  framecast simulate --seeds 1..2000 --receivers 3 --host-group 4 --crashes --one-sided",
            "  framecast simulate --seeds 1..2000 --adversary --crashes",
            "  framecast simulate --seeds 1..20 --plant no-duplicate-check",
            "  framecast simulate --seeds 42 --json -"
        })
public final class SimulateCommand implements Callable<Integer> {
    private static final Pattern SEEDS = Pattern.compile("(\\d{1,18})(?:\\.\\.(\\d{1,18}))?");
    private static final long SEEDS_MAX = 1_000_000;

    @Option(names = "--seeds", paramLabel = "A..B", description = "Seeds to run, both ends included; default 1..100.")
    private String seeds = "1..100";

    @Option(names = "--receivers", paramLabel = "N", description = "Receivers per run; default ${DEFAULT-VALUE}.")
    @Within(least = 1, most = 1_000)
    private int receivers = 4;

    @Option(
            names = "--loss",
            paramLabel = "P",
            description =
                    "Mean share of datagrams lost on every link and lane; default: drawn from the seed. Partitions,"
                            + " which the seed draws too, drop more: also with --loss 0.")
    private double loss = -1;

    @Option(
            names = "--crashes",
            description = "Kill, restart and pause processes, the source's too; old sessions' datagrams come again.")
    private boolean crashes;

    @Option(
            names = "--one-sided",
            description =
                    "Receivers write their grants into the source's memory, and read missing datagrams out of it.")
    private boolean oneSided;

    @Option(
            names = "--direct",
            description = "As --one-sided, and payloads of some receivers or of all land in device memory: these are"
                    + " co-roots only with a replica that the source writes.")
    private boolean direct;

    @Option(
            names = "--host-group",
            paramLabel = "N",
            description = "Each receiver is a host of N processes that share one membership: one leads, and its"
                    + " followers take over from it; default ${DEFAULT-VALUE}.")
    @Within(least = 1, most = 32)
    private int hostGroup = 1;

    @Option(
            names = "--mixed",
            description = "With --host-group: processes of one host have delivery policies of their own; else all are"
                    + " reliable.")
    private boolean mixed;

    @Option(
            names = "--adversary",
            description = "Streams are protected as with auth=, sources change their keys, and an attacker in the"
                    + " network replays, alters, mixes and forges datagrams, also with keys that are over.")
    private boolean adversary;

    @Option(
            names = "--plant",
            paramLabel = "NAME",
            description = "Break the protocol on purpose: no-duplicate-check, ignore-credit, reuse-unacked-slot,"
                    + " skip-reassembly, forget-nack, wrong-frame-boundary, stale-session, forget-given-up, no-eviction,"
                    + " hasty-eviction, keep-dead-source, ignore-clock-skew, accept-old-session, release-twice,"
                    + " release-early, drop-whole-frames, own-receipt, speak-for-all, trust-headers, reuse-fed-slot,"
                    + " reuse-copied-slot, deliver-uncopied, grant-held-slots, forget-taken-back, repair-storm,"
                    + " forget-new-format, commit-unwritten, never-rejoin, forget-missed, keep-declined or"
                    + " post-behind-poll; with"
                    + " --host-group release-cursor-early, take-over-late, acknowledge-before-log,"
                    + " accept-torn-entry, inherit-co-root, claim-early, leave-unfenced, resume-alone or, with --mixed,"
                    + " give-torn-copy; with"
                    + " --adversary nonce-reused,"
                    + " replay-window-off-by-one, repair-tag-unchecked, old-epoch-accepted or encrypt-open-claim.")
    private String plant = "none";

    private final Environment environment;
    private final Report report;

    public SimulateCommand(final Environment environment, final Report report) {
        this.environment = environment;
        this.report = report;
    }

    @Override
    public Integer call() {
        final SimulateRun.Plan plan = plan();
        report.requireWritable();
        final SimulateRun.Result result = new SimulateRun(plan, environment).run();
        report.result(result.json(), result.text());
        if (result.failure().isEmpty()) {
            return ExitStatus.DONE;
        }
        environment.console().complain(result.failure().get());
        return ExitStatus.MISMATCH;
    }

    private SimulateRun.Plan plan() {
        final Matcher range = SEEDS.matcher(seeds);
        if (!range.matches()) {
            throw new ConfigException("--seeds: expected A..B, such as 1..2000, got " + seeds);
        }
        final long first = Long.parseLong(range.group(1));
        final long last = range.group(2) == null ? first : Long.parseLong(range.group(2));
        if (last < first || last - first >= SEEDS_MAX) {
            throw new ConfigException(
                    "--seeds: expected A..B with A <= B and at most " + SEEDS_MAX + " seeds, got " + seeds);
        }
        if (Double.isNaN(loss) || loss > 0.9 || (loss < 0 && loss != -1)) {
            throw new ConfigException("--loss: expected 0 … 0.9, got " + loss);
        }
        return new SimulateRun.Plan(
                first,
                last,
                new Swarm(
                        receivers, loss, crashes, oneSided || direct, direct, hostGroup, mixed, requireShown(plant())),
                adversary);
    }

    private Plant requireShown(final Plant chosen) {
        if (hostGroup > 1 && direct) {
            throw new ConfigException(
                    "--direct: a host group shares frames in host memory; leave --host-group out, or take --one-sided");
        }
        if (mixed && hostGroup == 1) {
            throw new ConfigException(
                    "--mixed: is of host groups, for other receivers have policies of their own; add --host-group 4");
        }
        if (chosen == Plant.GIVE_TORN_COPY && !mixed) {
            throw new ConfigException(
                    "--plant: " + chosen.label() + " is a bug of members that hold nothing; add --mixed");
        }
        if (chosen.isOfHostGroup() && hostGroup == 1) {
            throw new ConfigException("--plant: " + chosen.label() + " is a bug of host groups; add --host-group 4");
        }
        if (chosen.isOfAdversary() && !adversary) {
            throw new ConfigException("--plant: " + chosen.label() + " is a bug of protection; add --adversary");
        }
        return chosen;
    }

    private Plant plant() {
        return Plant.of(plant)
                .orElseThrow(() -> new ConfigException("--plant: unknown plant " + plant + "; known are "
                        + Arrays.stream(Plant.values())
                                .filter(value -> value != Plant.NONE)
                                .map(Plant::label)
                                .collect(Collectors.joining(", "))));
    }
}
