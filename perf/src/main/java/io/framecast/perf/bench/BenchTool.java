package io.framecast.perf.bench;

import io.framecast.samples.ToolCommand;
import io.framecast.samples.ToolContext;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// Adds `bench` to the command line tool.
public final class BenchTool implements ToolCommand {
    @Override
    public Callable<Integer> create(final ToolContext context) {
        return new BenchCommand(context);
    }

    // Alone, and enough that they wait for each other.
    private static final String FEW_SUBSCRIBERS = "1,3";

    /// A bench of its own that takes `--device`.
    ///
    /// @param quick the options that make it as short as can be; none where it has no `--quick`
    public record DeviceBench(String name, List<String> quick) {
        private static DeviceBench of(final CommandSpec spec) {
            final List<String> quick = new ArrayList<>();
            if (spec.findOption("--quick") != null) {
                quick.add("--quick");
                if (spec.findOption("--subscribers") != null) {
                    quick.addAll(List.of("--subscribers", FEW_SUBSCRIBERS));
                }
            }
            return new DeviceBench(spec.name(), List.copyOf(quick));
        }
    }

    /// The benches for a machine with a GPU, in alphabetical order.
    public static List<DeviceBench> onDevices() {
        return CommandLine.getCommandMethods(BenchCommand.class, null).stream()
                .map(method -> new CommandLine(method).getCommandSpec())
                .filter(spec -> spec.findOption("--device") != null)
                .map(DeviceBench::of)
                .sorted(Comparator.comparing(DeviceBench::name))
                .toList();
    }
}
