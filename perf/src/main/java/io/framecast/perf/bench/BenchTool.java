package io.framecast.perf.bench;

import io.framecast.samples.ToolCommand;
import io.framecast.samples.ToolContext;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;

/// Adds `bench` to the command line tool.
public final class BenchTool implements ToolCommand {
    @Override
    public Callable<Integer> create(final ToolContext context) {
        return new BenchCommand(context);
    }

    /// A bench of its own that takes `--device`.
    ///
    /// @param quick whether it takes `--quick`
    public record DeviceBench(String name, boolean quick) {}

    /// The benches for a machine with a GPU, in alphabetical order.
    public static List<DeviceBench> onDevices() {
        return CommandLine.getCommandMethods(BenchCommand.class, null).stream()
                .map(method -> new CommandLine(method).getCommandSpec())
                .filter(spec -> spec.findOption("--device") != null)
                .map(spec -> new DeviceBench(spec.name(), spec.findOption("--quick") != null))
                .sorted(Comparator.comparing(DeviceBench::name))
                .toList();
    }
}
