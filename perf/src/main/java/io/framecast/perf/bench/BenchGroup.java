package io.framecast.perf.bench;

import io.framecast.perf.rivals.Bystander;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Cases that are compared with one another: they differ in loss, in the number of receivers and in the
/// bystander. One set of processes serves them all.
record BenchGroup(List<BenchPlan.Part> parts) {
    /// In the order in which the first of each comes.
    static List<BenchGroup> of(final List<BenchPlan.Part> parts) {
        final Map<BenchCase, List<BenchPlan.Part>> groups = new LinkedHashMap<>();
        for (final BenchPlan.Part part : parts) {
            final BenchCase setting = part.setting();
            final BenchCase common =
                    setting.with(1, setting.framesPerSecond()).withLoss(0).withBystander(Bystander.NONE);
            groups.computeIfAbsent(common, _ -> new ArrayList<>()).add(part);
        }
        return groups.values().stream().map(BenchGroup::new).toList();
    }

    /// Every system of any of its cases.
    List<BenchSystem> systems() {
        return parts.stream()
                .flatMap(part -> part.systems().stream())
                .distinct()
                .toList();
    }

    int receiversMax() {
        return parts.stream().mapToInt(part -> part.setting().receivers()).max().orElse(1);
    }

    /// Receivers, and the bystander of whichever case has one.
    int subscribersMax() {
        return receiversMax()
                + (parts.stream().anyMatch(part -> part.setting().bystander().isThere()) ? 1 : 0);
    }

    /// Whether the network loses packets in any of its cases.
    boolean isLossy() {
        return parts.stream().anyMatch(part -> part.setting().loss() > 0);
    }

    /// The cases that warm a system up: its cases at full rate with all receivers, one of each loss, for
    /// repairing is code of its own.
    List<BenchCase> warmUps(final BenchSystem system) {
        return parts.stream()
                .filter(part -> part.systems().contains(system))
                .map(part -> part.setting()
                        .with(receiversMax(), 0)
                        .withBystander(part.setting().bystander().healthy()))
                .distinct()
                .toList();
    }
}
